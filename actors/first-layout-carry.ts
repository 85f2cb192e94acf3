// Takes over what stays valid from the first layout: holds of waiting mail, request windows,
// limits, and stored replies.

import type { WalletRepository } from "../src/store/wallet-repository.ts";
import type { FoundKey } from "./first-layout-keys.ts";
import { scanFirstLayout } from "./first-layout-keys.ts";
import { answerOf, type FirstLayoutHold, type FirstLayoutWallet } from "./first-layout-records.ts";
import { carryHold, carryLimit, carryWindow } from "./first-layout-scripts.ts";
import { type AccountKeys, accountKeys, type BucketKeys, bucketKeys } from "./keys.ts";
import { parseBucket } from "./records.ts";
import { pack, type RedisClient, runUnloaded } from "./script.ts";
import { hydrate } from "./wallet-scripts.ts";
import { OPERATIONS_AT_ONCE, spendingOf } from "./wallet-upkeep.ts";

/** Workers extend the holds of mail, but may start much later than this step ends. */
const MAIL_HOLD_LIFE_MS = 86_400_000;

export interface CarryDeps {
  readonly redis: RedisClient;
  readonly repository: WalletRepository;
  readonly warn: (line: string) => void;
}

export interface MailHolds {
  readonly wallet: Pick<FirstLayoutWallet, "account">;
  readonly mail: readonly FirstLayoutHold[];
}

/**
 * Builds the wallets of accounts with waiting mail and takes their holds again; returns how many.
 */
export async function carryMail(
  deps: CarryDeps,
  { number }: BucketKeys,
  accounts: readonly MailHolds[],
): Promise<number> {
  let carried = 0;
  for (const { wallet, mail: holds } of accounts) {
    // A hold of nothing without a process is in no sum of the wallet, which would be evicted beside
    // it. Its message is settled without it, at no cost.
    const mail = holds.filter(({ paid, free }) => paid + free > 0n);
    if (mail.length === 0) continue;
    const { account } = wallet;
    const keys = accountKeys(account, number);
    await hydrateUnloaded(deps, account, keys);
    for (const { request: requestId, key: keyId, ...hold } of mail) {
      const call = { ...hold, requestId, keyId, account, keys, lifeMs: MAIL_HOLD_LIFE_MS };
      const verdict = await runUnloaded(deps.redis, carryHold, call);
      if (verdict === "ok") carried += 1;
      else deps.warn(`The hold of ${requestId} of ${account} could not be kept (${verdict})`);
    }
  }
  return carried;
}

async function hydrateUnloaded(
  { redis, repository }: CarryDeps,
  account: string,
  keys: AccountKeys,
): Promise<void> {
  const bytes = await redis.getBuffer(keys.bucket);
  const record = await repository.readWallet(account);
  if (bytes === null || record === null) throw new Error(`${account} could not be built anew`);
  const { epoch, evictions } = parseBucket(bytes);
  const pending = await repository.operationsAfter(account, record.operations);
  await runUnloaded(redis, hydrate, {
    ...record,
    ...{ account, keys, nowMs: 0, epoch, evictions },
    // The workers apply the operations that one script cannot.
    pending: pending.slice(0, OPERATIONS_AT_ONCE),
    spending: spendingOf(record.months),
  });
}

const CARRIED = ["{b*}:window:*", "{b*}:limit:*", "{b*}:op:*"];
const FORGOTTEN = ["{b*}:wallet:*", "{b*}:holds:acct_*"];

/**
 * Takes over counts and stored replies, and removes the old wallets and holds. `epochs` maps each
 * bucket to its old epoch.
 */
export async function carryKeys(
  redis: RedisClient,
  epochs: ReadonlyMap<number, number>,
): Promise<void> {
  for await (const page of scanFirstLayout(redis, [...CARRIED, ...FORGOTTEN])) {
    await Promise.all(
      page.map(async (key) => {
        const epoch = epochs.get(key.bucket);
        if (epoch !== undefined) await carryKey(redis, key, epoch);
      }),
    );
  }
}

async function carryKey(redis: RedisClient, key: FoundKey, epoch: number): Promise<void> {
  const { name, bucket, kind, id } = key;
  if (kind === "window") {
    await runUnloaded(redis, carryWindow, { keys: bucketKeys(bucket), window: name, keyId: id });
  } else if (kind === "limit") {
    await runUnloaded(redis, carryLimit, { limit: name });
  } else if (kind === "op") {
    await carryAnswer(redis, name, epoch);
  } else {
    await redis.unlink(name);
  }
}

async function carryAnswer(redis: RedisClient, name: string, epoch: number): Promise<void> {
  const text = (await redis.getBuffer(name))?.toString("latin1") ?? "";
  // An earlier run of this step wrote it.
  if (text === "" || text.startsWith("D") || text.startsWith("X")) return;
  const answer = answerOf(text, { epoch, newEpoch: epoch + 1 });
  if (answer === null) {
    await redis.unlink(name);
    return;
  }
  const [letter, ...numbers] = answer;
  const stored = Buffer.concat([Buffer.from(letter), pack(...numbers)]);
  await redis.set(name, stored, "KEEPTTL", "XX");
}
