// What is built in where it is hard: a data file that cannot be opened at first, and many maps.

import { expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import { temporaryFolder } from "../../../scripts/processes.mjs";
import { openEmbeddedMaps } from "../../../src/services/maps/providers/embedded/embedded-maps.ts";
import { createMapsProvider } from "../../../src/services/maps/providers/maps-provider.ts";
import { DEFAULT_MAPS } from "../../../src/services/maps/servers.ts";
import { FakeClock, realClock } from "../../support/fake-clock.ts";
import { parametersOf } from "../../support/maps-cases.ts";
import { testDataDirectory } from "../../support/services.ts";
import { silent } from "../../support/silent-log.ts";
import { upstreamFetch } from "../../support/upstream-fetch.ts";

test("places that could not be opened are opened again by a later call", async () => {
  const folder = temporaryFolder("farebox-test-places-");
  const directory = `${folder.path}/data`;
  await Bun.write(directory, "no folder");
  const clock = new FakeClock();
  using embedded = openEmbeddedMaps({ directory, clock, log: silent });
  const ask = () =>
    embedded.services.reverse.ask(
      { lat: 48.8584, lon: 2.2945, lang: null },
      { account: "acct_1", signal: new AbortController().signal },
    );
  expect(await ask().catch(String)).toContain("The atlas thread ended");
  expect(await ask().catch(String)).toContain("The atlas thread ended");
  rmSync(directory);
  symlinkSync(testDataDirectory(), directory);
  clock.advance(10_000);
  expect((await ask()).data.place?.name).toBe("Paris");
  folder.remove();
});

for (const [action, query, calls] of [
  ["site_images", "limit=10", 12],
  ["site_image", "zoom=9&width=64&height=64", 150],
] as const) {
  test(`maps are drawn for an account while another one asks for many by ${action}`, async () => {
    const directory = testDataDirectory();
    using embedded = openEmbeddedMaps({ directory, clock: realClock, log: silent });
    const maps = createMapsProvider({
      config: () => DEFAULT_MAPS,
      embedded: embedded.services,
      connect: () => ({}),
      fetch: upstreamFetch,
      clock: realClock,
      log: silent,
    });
    const { signal } = new AbortController();
    const ask = (account: string, at: string) =>
      maps.ask(action, parametersOf(action, `${at}&${query}`), { account, signal });
    const many = Array.from({ length: calls }, (_, index) =>
      ask("acct_many", `lat=${index / 10}&lon=10`).catch(() => null),
    );
    expect((await ask("acct_one", "lat=50&lon=7")).provider).toBe("embedded");
    expect((await Promise.all(many)).filter((reply) => reply !== null)).not.toEqual([]);
  });
}
