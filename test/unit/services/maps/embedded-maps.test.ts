// Tests the difficult cases of embedded maps: a data file that cannot be opened at first, and many
// maps.

import { expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import { temporaryFolder } from "../../../../scripts/local/processes.mjs";
import { openEmbeddedMaps } from "../../../../src/services/maps/providers/embedded/embedded-maps.ts";
import { Lookups } from "../../../../src/services/maps/providers/embedded/lookups.ts";
import { createMapsProvider } from "../../../../src/services/maps/providers/maps-provider.ts";
import { DEFAULT_MAPS } from "../../../../src/services/maps/servers.ts";
import { FakeClock, realClock } from "../../../support/fakes/fake-clock.ts";
import { parametersOf } from "../../../support/fakes/maps-cases.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { upstreamFetch } from "../../../support/fakes/upstream-fetch.ts";
import { testDataDirectory } from "../../../support/stores/services.ts";

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

/** Counts turns of the event loop until it is stopped. */
function countTurns() {
  const count = { turns: 0, isOver: false };
  const next = () => {
    count.turns += 1;
    if (!count.isOver) setImmediate(next);
  };
  setImmediate(next);
  return count;
}

test("other work goes on between expensive look-ups", async () => {
  const directory = testDataDirectory();
  using embedded = openEmbeddedMaps({ directory, clock: realClock, log: silent });
  await embedded.ready;
  const { signal } = new AbortController();
  const expensive = parametersOf("geocode", "query=united+de+us+ukraine+fr+germany+mexico+wa");
  const count = countTurns();
  const ask = () => embedded.services.geocode.ask(expensive, { account: "acct_many", signal });
  await Promise.all(Array.from({ length: 40 }, ask));
  count.isOver = true;
  expect(count.turns).toBeGreaterThan(10);
});

test("look-ups share a turn of the loop if they are cheap; accounts take turns", async () => {
  const clock = new FakeClock();
  const lookups = new Lookups(clock);
  const count = countTurns();
  const looked: string[] = [];
  const look = (account: string, ms: number) =>
    lookups.run(account, () => {
      clock.advance(ms);
      looked.push(`${account} ${count.turns}`);
    });
  await Promise.all(["a", "a", "a", "b"].map((account) => look(account, 0)));
  expect(looked.splice(0)).toEqual(["a 0", "a 0", "a 0", "b 0"]);
  await Promise.all(["a", "a", "a", "b"].map((account) => look(account, 5)));
  count.isOver = true;
  expect(looked.map((one) => one.split(" ")[0])).toEqual(["a", "a", "b", "a"]);
  expect(new Set(looked.map((one) => one.split(" ")[1])).size).toBe(4);
  const failed = lookups.run("a", () => {
    throw new RangeError("of this look-up alone");
  });
  await expect(failed).rejects.toThrow("of this look-up alone");
});

for (const [action, query, calls] of [
  ["site_images", "limit=10", 12],
  ["site_image", "zoom=9&width=64&height=64", 150],
] as const) {
  test(`maps are drawn for an account while another requests many by ${action}`, async () => {
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
