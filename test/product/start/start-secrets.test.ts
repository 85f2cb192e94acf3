// Tests how `npm start` treats the secrets of a home: it never replaces those that data depends on.

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { secrets } from "../../../scripts/local/home.mjs";
import { launcherHome, launchFarebox } from "../../support/product/launcher.ts";

test.each(["postgres", "redis"])(
  "npm start refuses a home with %s but without secrets",
  async (store) => {
    using home = launcherHome();
    mkdirSync(join(home.path, store));
    await using farebox = launchFarebox(home.path);
    expect(await farebox.exited).toBe(1);
    const file = join(home.path, "secrets.json");
    expect(farebox.output()).toContain(`${file} is missing, and ${home.path} has data`);
    expect(farebox.output()).toContain("Restore the file from a backup");
    expect(farebox.output()).toContain("KEY_PEPPER");
    expect(existsSync(file)).toBe(false);
  },
);

test("npm start refuses secrets that it cannot read, and leaves the file unchanged", async () => {
  using home = launcherHome();
  mkdirSync(join(home.path, "postgres"));
  const file = join(home.path, "secrets.json");
  writeFileSync(file, '{"key_pepper": "cut off');
  await using farebox = launchFarebox(home.path);
  expect(await farebox.exited).toBe(1);
  expect(farebox.output()).toContain(`${file} cannot be read`);
  expect(farebox.output()).toContain("Restore the file from a backup");
  expect(readFileSync(file, "utf8")).toBe('{"key_pepper": "cut off');
});

test("secrets are made for a home without data, and are the same ones afterwards", () => {
  using home = launcherHome();
  const made = secrets(home.path, { make: true });
  expect(made.KEY_PEPPER).not.toBe(made.IP_HASH_SECRET);
  mkdirSync(join(home.path, "postgres"));
  expect(secrets(home.path, { make: true })).toEqual(made);
});

test("the command-line tool makes no secrets", () => {
  using home = launcherHome();
  expect(() => secrets(home.path, { make: false })).toThrow("secrets.json is missing");
  expect(existsSync(join(home.path, "secrets.json"))).toBe(false);
});

test("npm start and the command-line tool take secrets from files", () => {
  using home = launcherHome();
  const file = join(home.path, "pepper");
  writeFileSync(file, "a pepper of a file\n");
  const made = secrets(home.path, { make: true });
  try {
    process.env.KEY_PEPPER_FILE = file;
    const { KEY_PEPPER, IP_HASH_SECRET } = secrets(home.path, { make: false });
    expect(KEY_PEPPER).toBe("a pepper of a file");
    expect(IP_HASH_SECRET).toBe(made.IP_HASH_SECRET);
  } finally {
    delete process.env.KEY_PEPPER_FILE;
  }
});
