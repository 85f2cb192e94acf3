// Where an API process keeps its copy of the operator's documents.

import { expect, test } from "bun:test";
import { chmodSync, existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { folderOfCopy } from "../../../src/start/documents.ts";
import { sharedFolder } from "../../support/shared.ts";

/** Nobody can make a folder here, not even root, as in an image that cannot be written to. */
const UNWRITABLE = "/proc/farebox/data";
const temporary = sharedFolder("documents");
const own = join(temporary, `farebox-data-${process.getuid?.()}`);

test("a folder of data that can be written has the copy", () => {
  const directory = join(temporary, "data");
  expect(folderOfCopy(directory, temporary)).toBe(directory);
  expect(existsSync(own)).toBe(false);
});

test("where it cannot be written, the copy is in a temporary folder of this user alone", () => {
  expect(folderOfCopy(UNWRITABLE, temporary)).toBe(own);
  expect(lstatSync(own).mode & 0o777).toBe(0o700);
  expect(folderOfCopy(UNWRITABLE, temporary)).toBe(own);
});

test("a temporary folder that others can write to is not used", () => {
  chmodSync(own, 0o777);
  expect(folderOfCopy(UNWRITABLE, temporary)).toBe(UNWRITABLE);
});
