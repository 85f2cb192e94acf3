// Reads and writes the file that maps old keys to imported ones. The file holds secrets, so only
// its owner can read it. Each line is on the disk before its key exists in Postgres.

import { constants } from "node:fs";
import { open, readFile, rename, rm } from "node:fs/promises";
import { AdministrationError } from "../../core/errors.ts";
import { csvLine } from "../../core/text/csv.ts";
import { textOfBytes } from "../../core/text/text-bytes.ts";

export interface KeyLine {
  readonly keyId: string;
  readonly newKey: string;
  readonly account: string;
  readonly holder: string;
  readonly email: string | null;
  readonly oldName: string;
  /** The last characters of the old key. */
  readonly oldEnd: string;
}

export interface KeyFile extends AsyncDisposable {
  /** Appends a line; it is on the disk when this resolves. */
  append(line: KeyLine): Promise<void>;
}

const OWNER_ONLY = 0o600;
const HEADER = csvLine([
  "new_key_id",
  "new_key",
  "account",
  "holder",
  "email",
  "old_key_name",
  "old_key_ends_with",
]);

/**
 * Opens the file of an import: a new file, or the file of an import that was interrupted. Removes a
 * last line whose key was never committed; `keyIds` are the keys of all imports.
 * @throws AdministrationError
 */
export async function openKeyFile(path: string, keyIds: ReadonlySet<string>): Promise<KeyFile> {
  const before = await fileText(path);
  if (before !== null && !before.startsWith(HEADER)) {
    throw new AdministrationError("wrong_state", `${path} is not the key file of an import`);
  }
  const lines = (before ?? "").slice(HEADER.length).match(/[^\n]*\n/g) ?? [];
  const isIssued = (line = "") => keyIds.has(/^"(key_[A-Za-z0-9]+)"/.exec(line)?.[1] ?? "");
  const kept = isIssued(lines.at(-1)) ? lines : lines.slice(0, -1);
  if (!kept.every(isIssued)) {
    throw new AdministrationError(
      "wrong_state",
      `${path} has keys that no import brought here: move it, or name another folder with --out`,
    );
  }
  await replace(path, HEADER + kept.join(""));
  const handle = await open(path, "a", OWNER_ONLY);
  return {
    append: async (line) => {
      const { keyId, newKey, account, holder, email, oldName, oldEnd } = line;
      await handle.writeFile(
        csvLine([keyId, newKey, account, holder, email ?? "", oldName, oldEnd]),
      );
      await handle.sync();
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** Null if there is no such file. */
async function fileText(path: string): Promise<string | null> {
  try {
    return textOfBytes(await readFile(path));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Writes a whole file that only its owner can read, then renames it to `path`. */
export async function replace(path: string, text: string, mode = OWNER_ONLY): Promise<void> {
  await replaceAll([{ path, text, mode }]);
}

export interface NewFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** Writes files that change together: if one of them cannot be written, none changes. */
export async function replaceAll(files: readonly NewFile[]): Promise<void> {
  const parts: string[] = [];
  try {
    for (const file of files) parts.push(await writePart(file));
  } catch (error) {
    await Promise.all(parts.map((part) => rm(part)));
    throw error;
  }
  for (const { path } of files) await rename(partOf(path), path);
}

function partOf(path: string): string {
  return `${path}.part`;
}

async function writePart({ path, text, mode }: NewFile): Promise<string> {
  const part = partOf(path);
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const handle = await open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode);
  try {
    await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return part;
}
