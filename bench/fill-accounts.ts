// Fills Redis with idle accounts by copying the keys of one real account under other names. Works
// for any layout, because it only relies on the account's or API key's id in each name.

import type { Redis } from "ioredis";
import { RespClient } from "../actors/redis/resp-client.ts";

/** The account to copy, and the API key whose state is copied too. */
export interface SampleAccount {
  readonly accountId: string;
  readonly keyId: string;
}

/** Makes the copies with the numbers from `from` to before `to`. */
export interface FillOptions {
  readonly sample: SampleAccount;
  readonly from: number;
  readonly to: number;
}

const BUCKETS = 64;
const SENT_AT_ONCE = 5_000;

interface CopiedKey {
  /** The name of a copy. */
  readonly name: (copy: number) => string;
  readonly dump: Buffer;
}

/** Adds copies of the sample. */
export async function fillAccounts(redisUrl: string, redis: Redis, options: FillOptions) {
  const { sample, from, to } = options;
  const keys = await copiedKeys(redis, sample);
  if (keys.length === 0) throw new Error("The account to copy has nothing in Redis");
  const client = new RespClient({
    url: redisUrl,
    commandTimeoutMs: 60_000,
    connectTimeoutMs: 3_000,
  });
  try {
    for (let start = from; start < to; start += SENT_AT_ONCE) {
      const running: Promise<unknown>[] = [];
      for (let copy = start; copy < Math.min(to, start + SENT_AT_ONCE); copy += 1) {
        for (const { name, dump } of keys) {
          running.push(client.command("RESTORE", name(copy), "0", dump));
        }
      }
      await Promise.all(running);
    }
  } finally {
    client.close();
  }
}

/** The bytes of an idle account: MEMORY USAGE over all its keys. */
export async function idleAccountBytes(redis: Redis, sample: SampleAccount): Promise<number> {
  const names = await namesOf(redis, sample);
  const sizes = await Promise.all(
    names.map((name) => redis.call("MEMORY", "USAGE", name, "SAMPLES", "0")),
  );
  return sizes.reduce((sum: number, size) => sum + Number(size), 0);
}

async function copiedKeys(redis: Redis, sample: SampleAccount): Promise<CopiedKey[]> {
  const names = await namesOf(redis, sample);
  return await Promise.all(
    names.map(async (original): Promise<CopiedKey> => {
      const dump = await redis.dumpBuffer(original);
      if (dump === null) throw new Error(`${original} is gone`);
      const template = original.replace(/^\{b\d+\}/, "");
      return { dump, name: (copy) => `{b${copy % BUCKETS}}${copyName(template, sample, copy)}` };
    }),
  );
}

/**
 * The keys of an account and its API key that do not expire; the other keys expire while the
 * account is idle.
 */
async function namesOf(redis: Redis, { accountId, keyId }: SampleAccount): Promise<string[]> {
  const names = new Set<string>();
  for (const id of [accountId, keyId]) {
    for await (const page of redis.scanStream({ match: `*${id}*`, count: 1_000 })) {
      for (const name of page as string[]) names.add(name);
    }
  }
  const list = [...names];
  const ends = await Promise.all(list.map((name) => redis.pttl(name)));
  return list.filter((_, index) => (ends[index] ?? 0) < 0);
}

function copyName(template: string, { accountId, keyId }: SampleAccount, copy: number): string {
  return template.replace(accountId, copyId(accountId, copy)).replace(keyId, copyId(keyId, copy));
}

/** An id as long as the original's, so that a copy takes as much memory. */
function copyId(id: string, copy: number): string {
  const prefix = id.slice(0, id.indexOf("_") + 1);
  return prefix + copy.toString().padStart(id.length - prefix.length, "0");
}
