// Rotates the logs of `npm start` by size, one file for each process, while the process keeps
// writing.

import {
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

/** A larger log is rotated. */
export const LOG_BYTES_MAX = 16 * 1024 * 1024;
/** The number of rotated parts of a log that are kept: `api.log.1` is the newest. */
export const LOGS_KEPT = 4;

const LOOK_EVERY_MS = 10_000;
const CHUNK_BYTES = 1024 * 1024;

/**
 * Rotates each log of a folder that is too large. The writing process keeps its open file: the
 * content is copied and the file is truncated. All writers append, so the next line goes to the
 * start of the file. Only a line written between the copy and the truncation is lost (D-525).
 * @param {string} folder
 * @param {{ bytesMax?: number, kept?: number }} [limits]
 */
export function rotateLogs(folder, { bytesMax = LOG_BYTES_MAX, kept = LOGS_KEPT } = {}) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (name.endsWith(".log") && statSync(file).size > bytesMax) rotate(file, kept);
  }
}

/**
 * Rotates the logs of a folder regularly until this process ends.
 * @param {string} folder
 * @param {(line: string) => void} say called when it fails, once until it works again
 */
export function keepLogsSmall(folder, say) {
  let failed = false;
  const look = () => {
    try {
      rotateLogs(folder);
      failed = false;
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      if (!failed) say(`The logs in ${folder} grow, since they cannot be set aside: ${why}`);
      failed = true;
    }
  };
  look();
  setInterval(look, LOOK_EVERY_MS).unref();
}

/**
 * @param {string} file
 * @param {number} kept
 */
function rotate(file, kept) {
  const draft = `${file}.new`;
  const from = openSync(file, constants.O_RDWR);
  const to = openSync(draft, "w", 0o600);
  try {
    // Copy everything before an old part is deleted, because the disk may be full.
    const copied = copyFrom(from, 0, to);
    for (let number = kept - 1; number >= 1; number -= 1) {
      if (existsSync(`${file}.${number}`)) renameSync(`${file}.${number}`, `${file}.${number + 1}`);
    }
    renameSync(draft, `${file}.1`);
    copyFrom(from, copied, to);
    ftruncateSync(from, 0);
  } finally {
    closeSync(from);
    closeSync(to);
  }
}

/**
 * Copies to the end of the file, and returns the position of the end.
 * @param {number} from
 * @param {number} position
 * @param {number} to
 */
function copyFrom(from, position, to) {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = position; ; ) {
    const bytes = readSync(from, chunk, 0, chunk.length, at);
    if (bytes === 0) return at;
    for (let written = 0; written < bytes; )
      written += writeSync(to, chunk, written, bytes - written);
    at += bytes;
  }
}
