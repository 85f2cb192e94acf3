// Makes files for data of customers or operators, which only the owner of a file can read.

import { closeSync, fchmodSync, fstatSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;

/**
 * Makes a file that only its owner can read, whatever the umask of the process is, and the missing
 * folders of its path. If the file exists, takes the rights of all other users away. SQLite gives
 * the files beside its database the mode of the database.
 */
export function ensurePrivate(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
  const handle = openSync(file, "a", FILE_MODE);
  try {
    if ((fstatSync(handle).mode & OTHERS) !== 0) fchmodSync(handle, FILE_MODE);
  } finally {
    closeSync(handle);
  }
}
