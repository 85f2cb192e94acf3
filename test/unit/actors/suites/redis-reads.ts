// Reads a test's account in Redis as parsed records.

import { readJournal } from "../../../../actors/journal.ts";
import { keyStateKey } from "../../../../actors/records/keys.ts";
import {
  type BucketRecord,
  type KeyState,
  parseBucket,
  parseKeyState,
} from "../../../../actors/records/records.ts";
import type { JournalEntry } from "../../../../src/core/journal/journal.ts";
import type { TestAccount } from "../../../support/stores/accounts.ts";
import type { World } from "../../../support/stores/world.ts";

type Reads = Pick<World, "redis">;

/** The record of the account's bucket; an error if the bucket is not set up. */
export async function bucketRecordOf(
  { redis }: Reads,
  { actor }: TestAccount,
): Promise<BucketRecord> {
  const bytes = await redis.getBuffer(actor.keys.bucket);
  if (bytes === null) throw new Error(`${actor.keys.bucket} is not set up`);
  return parseBucket(bytes);
}

/** The spending and window of a key; null if it made no call. */
export async function keyStateOf({ redis }: Reads, account: TestAccount): Promise<KeyState | null> {
  const bytes = await redis.getBuffer(keyStateKey(account.row.bucket, account.keyId));
  return bytes === null ? null : parseKeyState(bytes);
}

/** The entries of the bucket's journal in its present epoch; an error if one is unreadable. */
export async function journalOf(world: Reads, account: TestAccount): Promise<JournalEntry[]> {
  const { epoch } = await bucketRecordOf(world, account);
  const range = { epoch, entry: 0, count: 10_000 };
  const page = await readJournal(world.redis, account.row.bucket, range);
  return page.entries.map(({ entry, fault }) => {
    if (entry === null) throw new Error(fault ?? "An entry cannot be read");
    return entry;
  });
}

/** True if Redis holds a wallet of the account, of any epoch. */
export async function hasWallet({ redis }: Reads, { actor }: TestAccount): Promise<boolean> {
  return (await redis.exists(actor.keys.wallet)) === 1;
}
