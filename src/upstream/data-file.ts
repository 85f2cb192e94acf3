// Builds a SQLite file from data that ships with the program, once, completely or not at all.

import { Database } from "bun:sqlite";
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import type { Log } from "../core/log.ts";

/** Reports the progress of a build; only a few of many calls are logged. */
export type Progress = (done: number, total: number) => void;

export interface DataFile {
  readonly directory: string;
  /** Lower-case words joined by hyphens: `search-index`. */
  readonly name: string;
  /** Lower-case letters, digits and dots; each version has its own file. */
  readonly version: string;
  /** Fills an empty database, in any number of transactions. */
  readonly build: (db: Database, progress: Progress) => void | Promise<void>;
  readonly log: Log;
}

const NAME = /^[a-z]+(?:-[a-z]+)*$/;
const VERSION = /^[a-z0-9.]+$/;
const PROGRESS_LINES = 4;
const ATTEMPTS_MAX = 3;
/** The offsets of SQLite's format (https://www.sqlite.org/fileformat2.html, 1.3). */
const HEAD_BYTES = 100;
const PAGE_BYTES_AT = 16;
const PAGES_AT = 28;
const PAGE_BYTES_MAX = 65_536;
/** A draft that was not touched for this long was left behind by a build that was killed. */
const DRAFT_MS_MAX = 3_600_000;
const DRAFT_NAMES = /[.-]draft-\w+$/;

/**
 * Opens the file read-only, and builds it first if it is missing. If several processes build at
 * once, each gets a complete file. Older versions are removed. `build` runs in the calling thread:
 * a process that serves requests lets a worker thread open the file first.
 */
export async function openDataFile(file: DataFile): Promise<Database> {
  const { directory, name, version } = file;
  if (!NAME.test(name) || !VERSION.test(version)) {
    throw new RangeError(`'${name}-${version}' is no name of a data file`);
  }
  const path = join(directory, `${name}-${version}.sqlite`);
  for (let attempt = 1; ; attempt += 1) {
    if (!isBuilt(file)) await make(file, path);
    try {
      return new Database(path, { readonly: true, strict: true });
    } catch (error) {
      // A process with another version may have removed the file meanwhile.
      if (existsSync(path) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** True if the file exists and is whole, so opening it builds nothing. */
export function isBuilt({ directory, name, version }: DataFile): boolean {
  const path = join(directory, `${name}-${version}.sqlite`);
  try {
    return isWhole(path);
  } catch (error) {
    if (existsSync(path)) throw error;
    return false;
  }
}

/**
 * True if the file has all its pages. SQLite's first page names their number; a file that a disk
 * lost part of has fewer.
 */
function isWhole(path: string): boolean {
  const head = Buffer.alloc(HEAD_BYTES);
  const handle = openSync(path, "r");
  let bytes = 0;
  try {
    bytes = fstatSync(handle).size;
    if (readSync(handle, head, 0, HEAD_BYTES, 0) < HEAD_BYTES) return false;
  } finally {
    closeSync(handle);
  }
  const pageBytes = head.readUInt16BE(PAGE_BYTES_AT);
  const pages = head.readUInt32BE(PAGES_AT);
  // A page of 64 KiB is written as 1.
  return pages * (pageBytes === 1 ? PAGE_BYTES_MAX : pageBytes) === bytes;
}

async function make(file: DataFile, path: string): Promise<void> {
  const { directory, name, version, build, log } = file;
  let bytes = 0;
  log.info({ file: name, version }, "A data file is being built");
  if (existsSync(path)) log.warn({ file: path }, "A data file is not whole: it is built again");
  mkdirSync(directory, { recursive: true });
  const folder = mkdtempSync(join(directory, `${name}-${version}.draft-`));
  try {
    removeStaleDrafts(directory, folder);
    const draft = join(folder, "draft.sqlite");
    const db = new Database(draft, { create: true, readwrite: true, strict: true });
    try {
      // After a crash the draft is thrown away, so it needs no journal.
      db.run("PRAGMA journal_mode = OFF");
      db.run("PRAGMA synchronous = OFF");
      await build(db, inFewLines(file));
    } finally {
      db.close(true);
    }
    writeThrough(draft);
    bytes = statSync(draft).size;
    renameSync(draft, path);
    writeThrough(directory);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  log.info({ file: name, bytes }, "A data file is ready");
  removeOthers(directory, { name, path });
}

/** Returns a progress function that logs each quarter of the work once. */
function inFewLines({ name, log }: DataFile): Progress {
  let logged = 0;
  return (done, total) => {
    const part = Math.floor((done / Math.max(1, total)) * PROGRESS_LINES);
    if (part <= logged || part >= PROGRESS_LINES) return;
    logged = part;
    const percent = (part * 100) / PROGRESS_LINES;
    log.info({ file: name, percent }, "A data file is being built");
  };
}

/** Waits until a file, or the names in a directory, would survive a loss of power. */
function writeThrough(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Removes the drafts in a folder that were left by processes killed long before `own` began. */
export function removeStaleDrafts(directory: string, own: string, names = DRAFT_NAMES): void {
  const nowMs = statSync(own).mtimeMs;
  for (const entry of readdirSync(directory)) {
    if (!names.test(entry)) continue;
    const draft = join(directory, entry);
    // Another process may just have finished the draft.
    const changedMs = statSync(draft, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
    if (nowMs - changedMs > DRAFT_MS_MAX) rmSync(draft, { recursive: true, force: true });
  }
}

/** A process that has another version open can still read it: only the name is removed. */
function removeOthers(directory: string, { name, path }: { name: string; path: string }): void {
  const versions = new RegExp(`^${name}-[a-z0-9.]+\\.sqlite$`);
  for (const entry of readdirSync(directory)) {
    const other = join(directory, entry);
    if (other !== path && versions.test(entry)) rmSync(other, { force: true });
  }
}
