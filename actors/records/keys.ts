// The names of an account's keys in Redis. All keys of a bucket share one hash tag, so one script
// can use them together on Redis Cluster.

import { BUCKETS } from "../../src/core/access/limits.ts";
import { markerName } from "../../src/core/journal/marker.ts";
import { FixedParts } from "../redis/fixed-parts.ts";

/** The keys of one bucket. */
export interface BucketKeys {
  readonly number: number;
  /** Layout, epoch, evictions and document changes (records.ts). */
  readonly bucket: string;
  /** Processes with holds here, with the time at which their lease ends. */
  readonly leases: string;
  /** Refused requests of the latest minutes, counted by account, key and minute. */
  readonly refused: string;
  /** The journal: a stream of entries, kept until Postgres has them. */
  readonly events: string;
}

/** The keys of one account. */
export interface AccountKeys extends BucketKeys {
  readonly wallet: string;
  readonly document: string;
  /** A hash: budgets by their numbers. */
  readonly budgets: string;
  /** Counts how often budgets were forgotten, so that no older reading of them is stored. */
  readonly forgotten: string;
  /** Says that Redis has all markers of the account. */
  readonly marked: string;
  /** The results of `callKeys`, by API key. */
  readonly calls: Map<string, CallKeys>;
}

interface CallKeys {
  readonly owner: string;
  readonly names: FixedParts;
}

/** An account's API keys can be many; those with calls at the same time are few. */
export const CALL_KEYS_MAX = 1_000;

/** The owner of holds that belong to no process: those of messages that wait for a mail server. */
export const MAIL_OWNER = "mail";

export function bucketKeys(bucket: number): BucketKeys {
  const tag = `{b${bucket}}`;
  return {
    number: bucket,
    bucket: `${tag}:bucket`,
    leases: `${tag}:leases`,
    refused: `${tag}:refused`,
    events: `${tag}:events`,
  };
}

export function accountKeys(accountId: string, bucket: number): AccountKeys {
  const tag = `{b${bucket}}`;
  return {
    ...bucketKeys(bucket),
    wallet: `${tag}:account:${accountId}`,
    document: `${tag}:document:${accountId}`,
    budgets: `${tag}:budgets:${accountId}`,
    forgotten: `${tag}:forgotten:${accountId}`,
    marked: `${tag}:marked:${accountId}`,
    calls: new Map(),
  };
}

/** The prefixes of one kind of names, by bucket; made once, because every call needs some. */
function prefixesOf(kind: string): readonly string[] {
  return Array.from({ length: BUCKETS }, (_, bucket) => `{b${bucket}}:${kind}:`);
}

function nameIn(prefixes: readonly string[], bucket: number, rest: string): string {
  const prefix = prefixes[bucket];
  if (prefix === undefined) throw new RangeError(`There is no bucket ${bucket}`);
  return prefix + rest;
}

const KEY_PREFIXES = prefixesOf("key");
const HOLDS_PREFIXES = prefixesOf("holds");
const OP_PREFIXES = prefixesOf("op");
const MARKER_PREFIXES = prefixesOf("marker");

/** Spending of an API key, and its request window. */
export function keyStateKey(bucket: number, keyId: string): string {
  return nameIn(KEY_PREFIXES, bucket, keyId);
}

/** The open holds of one owner: a process, or MAIL_OWNER. */
export function holdsKey(bucket: number, owner: string): string {
  return nameIn(HOLDS_PREFIXES, bucket, owner);
}

interface HeldBy {
  readonly keys: AccountKeys;
  readonly keyId: string;
  readonly owner: string;
}

/**
 * The first keys of both scripts of a call: bucket, wallet, the state of the API key, the holds of
 * the owner, and the journal. Kept, because all calls of an API key have the same ones.
 */
export function callKeys({ keys, keyId, owner }: HeldBy): FixedParts {
  const { number, bucket, wallet, events, calls } = keys;
  const known = calls.get(keyId);
  if (known !== undefined && known.owner === owner) return known.names;
  if (known === undefined && calls.size >= CALL_KEYS_MAX) calls.clear();
  const state = keyStateKey(number, keyId);
  const names = new FixedParts([bucket, wallet, state, holdsKey(number, owner), events]);
  calls.set(keyId, { owner, names });
  return names;
}

/** The count for one of an account's limits in time. */
export function limitKey({ bucket, account }: { bucket: number; account: string }, name: string) {
  return `{b${bucket}}:limit:${account}:${name}`;
}

/** The marker of an idempotency key. */
export function markerKey(bucket: number, marker: string): string {
  return nameIn(MARKER_PREFIXES, bucket, markerName(marker));
}

/** The stored reply of a request's last script. */
export function opKey(bucket: number, requestId: string): string {
  return nameIn(OP_PREFIXES, bucket, requestId);
}

/** The request window of a caller without an account. */
export function anonymousWindowKey(caller: string): string {
  return `caller:${caller}`;
}

/** Announces a serving process (layout-upgrade.ts). */
export function processKey(processId: string): string {
  return `process:${processId}`;
}

export const PROCESS_PATTERN = "process:*";

/** The account of a wallet key, for a scan over wallets. */
export function accountOfWallet(key: string): string {
  return key.slice(key.lastIndexOf(":") + 1);
}

export const WALLET_PATTERN = "{b*}:account:*";
export const KEY_PATTERN = "{b*}:key:*";

/** A key of each bucket that never exists: writing nothing to it shows if Redis takes writes. */
export function probeKeys(): [string, ...string[]] {
  const [first, ...others] = Array.from({ length: BUCKETS }, (_, bucket) => `{b${bucket}}:probe`);
  return [first ?? "", ...others];
}
