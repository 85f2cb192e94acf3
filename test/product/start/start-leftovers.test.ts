// Tests the messages of `npm start` about a damaged file in its home.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { launcherHome, launchFarebox } from "../../support/product/launcher.ts";

test.each(['{"key": "cut', "[]"])("a lost demonstration account is reported: %s", async (text) => {
  using home = launcherHome();
  const file = join(home.path, "demo.json");
  writeFileSync(file, text);
  await using farebox = launchFarebox(home.path);
  await eventually("it runs", () => farebox.output().includes("Farebox is running"), 60_000);
  expect(farebox.output()).toContain(`${file} cannot be read: a new demonstration account is made`);
  expect(JSON.parse(readFileSync(file, "utf8")).key).toStartWith("svc_");
});

test("an unreadable file of the sandbox is named, with the step that mends it", async () => {
  using home = launcherHome();
  const file = join(home.path, "sandbox.json");
  writeFileSync(file, "");
  await using farebox = launchFarebox(home.path);
  expect(await farebox.exited).toBe(1);
  expect(farebox.output()).toContain(`${file} cannot be read`);
  expect(farebox.output()).toContain("Remove it");
  expect(farebox.output()).not.toContain("sandbox-store.ts");
});
