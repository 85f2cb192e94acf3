// Tests where an API process keeps its copy of the operator's documents.

import { expect, test } from "bun:test";
import { chmodSync, existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { folderOfCopy } from "../../../src/start/documents.ts";
import { sharedFolder } from "../../support/shared.ts";

/** Not even root can make a folder here, as in a read-only image. */
const UNWRITABLE = "/proc/farebox/data";
const temporary = sharedFolder("documents");
const own = join(temporary, `farebox-data-${process.getuid?.()}`);

test("a writable data folder has the copy", () => {
  const directory = join(temporary, "data");
  expect(folderOfCopy(directory, temporary)).toBe(directory);
  expect(existsSync(own)).toBe(false);
});

test("without one, the copy is in a temporary folder of this user alone", () => {
  expect(folderOfCopy(UNWRITABLE, temporary)).toBe(own);
  expect(lstatSync(own).mode & 0o777).toBe(0o700);
  expect(folderOfCopy(UNWRITABLE, temporary)).toBe(own);
});

test("a temporary folder that other users can write to is not used", () => {
  chmodSync(own, 0o777);
  expect(folderOfCopy(UNWRITABLE, temporary)).toBe(UNWRITABLE);
});
