// The places that are built in, where their data file cannot be opened at first.

import { expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import { temporaryFolder } from "../../../scripts/processes.mjs";
import { openEmbeddedMaps } from "../../../src/services/maps/providers/embedded/embedded-maps.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { testDataDirectory } from "../../support/services.ts";
import { silent } from "../../support/silent-log.ts";

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
