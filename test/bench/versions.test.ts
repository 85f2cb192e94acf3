import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../bench/launch.ts";
import { checkOut } from "../../bench/versions.ts";
import { sharedFolder } from "../support/shared.ts";

const folder = sharedFolder("versions");

// A copy of the project without its history has nothing to compare with.
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
