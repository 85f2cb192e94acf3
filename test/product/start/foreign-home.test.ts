// Tests the command-line tool beside a Farebox that another user has started.

import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { launcherHome } from "../../support/product/launcher.ts";

const HOME = JSON.stringify(join(import.meta.dir, "../../../scripts/local/home.mjs"));

test("an unreadable home does not count as one where nothing runs", async () => {
  using home = launcherHome();
  chmodSync(home.path, 0o000);
  // Root can read everything, and may run the tests.
  const asSomebody = `
    import { readRuntime, whyNoneRuns } from ${HOME};
    if (process.getuid() === 0) process.setuid(65534);
    const home = ${JSON.stringify(home.path)};
    console.log(readRuntime(home), whyNoneRuns(home));`;
  const child = Bun.spawn(["node", "--input-type=module", "-e", asSomebody]);
  const told = await new Response(child.stdout).text();
  chmodSync(home.path, 0o700);
  const why = `${home.path} belongs to another user: run this as the one who started Farebox.`;
  expect(told).toBe(`null ${why}\n`);
});
