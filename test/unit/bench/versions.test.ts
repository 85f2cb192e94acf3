import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bunSettingsOf } from "../../../bench/farebox.ts";
import { PROJECT } from "../../../bench/launch.ts";
import { checkOut } from "../../../bench/versions.ts";
import { BUN_SETTINGS } from "../../../scripts/bun-settings.mjs";
import { sharedFolder } from "../../support/shared.ts";

const folder = sharedFolder("versions");

// A copy of the project without its history has no ref to compare with.
const hasHistory = existsSync(join(PROJECT, ".git"));

test.skipIf(!hasHistory)("a ref is checked out as it was committed, with packages", () => {
  const { name, folder: version } = checkOut("HEAD", folder);
  expect(name).toBe("HEAD");
  expect(readdirSync(version)).toEqual(expect.arrayContaining(["package.json", "workers", "src"]));
  expect(existsSync(join(version, "node_modules/elysia/package.json"))).toBe(true);
  expect(existsSync(join(version, ".git"))).toBe(false);
});

test.skipIf(!hasHistory)("a ref that does not exist is refused by its name", () => {
  expect(() => checkOut("no-such-ref", folder)).toThrow("no-such-ref");
});

test("each version is started with its own settings of Bun", async () => {
  const version = join(folder, "with-settings");
  mkdirSync(join(version, "scripts"), { recursive: true });
  expect(await bunSettingsOf(version)).toEqual({ BUN_CONFIG_MAX_HTTP_REQUESTS: "20000" });
  const file = join(version, "scripts/bun-settings.mjs");
  writeFileSync(file, 'export const BUN_SETTINGS = { BUN_OF_THEN: "1" };');
  expect(await bunSettingsOf(version)).toEqual({ BUN_OF_THEN: "1" });
  expect(await bunSettingsOf(PROJECT)).toEqual(BUN_SETTINGS);
});
