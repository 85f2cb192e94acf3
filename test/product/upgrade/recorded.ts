// The files with the stores that releases left, one for each release.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { StoreState } from "./store-state.ts";

const FOLDER = join(import.meta.dir, "states");
const SUFFIX = ".json.gz";

/** The stores that a release left, and their state after the upgrade. */
export interface Recorded {
  /** The tag or commit whose code wrote it. */
  readonly ref: string;
  /** The secrets with which it was written. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly account: { readonly id: string; readonly key: string };
  /** The balance of the account before its first call, in nano-USD. */
  readonly credit: string;
  /** The calls that were answered whole, by the id of the request, with their cost in nano-USD. */
  readonly calls: Readonly<Record<string, string>>;
  /** The calls of these that the ledger did not have yet: only the journal in Redis had them. */
  readonly unflushed: number;
  /** A stream whose process was killed, so that its hold is open. */
  readonly open: string;
  readonly stores: StoreState;
}

/** The names of the releases whose states are kept, the oldest first. */
export function recordedReleases(): readonly string[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(SUFFIX));
  return files.map((file) => file.slice(0, -SUFFIX.length)).toSorted(Bun.semver.order);
}

export function readRecorded(release: string): Recorded {
  return JSON.parse(gunzipSync(readFileSync(fileOf(release))).toString());
}

/**
 * Refuses a release whose state is kept: the recorded state proves that upgrades from the release
 * work, and the release's code does not make the same state twice. @throws Error
 */
export function refuseRecorded(release: string, folder = FOLDER): void {
  const file = fileOf(release, folder);
  if (existsSync(file)) throw new Error(`${file} exists. Remove it first to record it again`);
}

/** Keeps a state, and returns the path of its file. @throws Error if the release has one */
export function writeRecorded(release: string, recorded: Recorded, folder = FOLDER): string {
  refuseRecorded(release, folder);
  const file = fileOf(release, folder);
  writeFileSync(file, gzipSync(JSON.stringify(recorded), { level: 9 }), { flag: "wx" });
  return file;
}

function fileOf(release: string, folder = FOLDER): string {
  return join(folder, `${release}${SUFFIX}`);
}
