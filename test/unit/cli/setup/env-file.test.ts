// Tests the file of variables that the setup writes: the setup, a shell and `npm start` read the
// same values from it.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment } from "../../../../scripts/local/home.mjs";
import { variablesIn, withVariables } from "../../../../src/cli/setup/env-file.ts";
import { sharedFolder } from "../../../support/shared.ts";

const VALUES = new Map([
  ["SETUP_TEST_KEY", 'a#b "c" $HOME `d` \\e = %27'],
  ["SETUP_TEST_URL", "smtp://user:pass%20word@mail.example:587?tls=none"],
]);

test("setup, shell and npm start read the same values", () => {
  const folder = sharedFolder("setup-env");
  const file = join(folder, "settings.env");
  writeFileSync(file, withVariables("", VALUES));
  expect(variablesIn(withVariables("", VALUES))).toEqual(Object.fromEntries(VALUES));

  const home = process.env.FAREBOX_HOME;
  try {
    process.env.FAREBOX_HOME = folder;
    process.env.SETUP_TEST_URL = "of the environment";
    const [key, url] = [...VALUES.keys()];
    expect(environment()[key ?? ""]).toBe(VALUES.get(key ?? ""));
    // A variable of the environment goes before the file.
    expect(environment()[url ?? ""]).toBe("of the environment");
  } finally {
    delete process.env.SETUP_TEST_URL;
    if (home === undefined) delete process.env.FAREBOX_HOME;
    else process.env.FAREBOX_HOME = home;
  }

  const script = `set -a; . ${file}; printf %s "$SETUP_TEST_KEY|$SETUP_TEST_URL"`;
  const { stdout } = Bun.spawnSync(["sh", "-c", script]);
  expect(stdout.toString()).toBe([...VALUES.values()].join("|"));
});

test("a change leaves every other line as it is", () => {
  const text = "# Ours.\nA=1\nexport B='2'\n\nC=\"3\"\n";
  const changes = new Map([
    ["B", "two"],
    ["D", "4"],
  ]);
  expect(withVariables(text, changes)).toBe("# Ours.\nA=1\nB='two'\n\nC=\"3\"\nD='4'\n");
});

test.each(["a'b", "a\nb", "a\0b"])("a value that no such file can hold is refused: %j", (value) => {
  expect(() => withVariables("", new Map([["A", value]]))).toThrow("must be one line without '");
});
