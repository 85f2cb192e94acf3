// Makes a history of every kind of change to a few wallets, one script after the other, with the
// state of Redis and the length of its append-only file after each.

import type { Hold } from "../../../actors/account.ts";
import type { AccountActor } from "../../../actors/account-actor.ts";
import { accountKeys, holdsKey, keyStateKey } from "../../../actors/records/keys.ts";
import { sweep } from "../../../actors/scripts/call-scripts.ts";
import type { RedisClient } from "../../../actors/scripts/script.ts";
import type { Stores } from "../../../src/cli/stores.ts";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { outcomeText } from "../../../src/core/journal/journal.ts";
import { nano } from "../../../src/core/money/money.ts";
import type { AccountRow } from "../../../src/store/accounts/accounts.ts";
import type { Random } from "../../support/random.ts";
import { ask, DONE } from "../../support/stores/world.ts";

const ACCOUNTS = 4;
const TERMS = { name: "", scopes: ["models"], ipAllowlist: [], monthlyLimit: null } as const;

/** An account of the history, and the facts that are needed at the end. */
export interface HistoryAccount {
  readonly row: AccountRow;
  readonly keys: string[];
  readonly revoked: string[];
  readonly holds: Hold[];
}

export interface Moment {
  readonly aofBytes: number;
  readonly state: string;
  readonly what: string;
}

export interface History {
  readonly accounts: readonly HistoryAccount[];
  /** The acknowledged changes, in order. */
  readonly moments: readonly Moment[];
  /** The length of the file when Postgres was last brought up to date. */
  readonly flushedBytes: number;
}

export interface HistoryOptions {
  readonly operator: Stores;
  readonly aofBytes: () => number;
  readonly changes: number;
  readonly random: Random;
}

/** Makes a history. */
export async function makeHistory(options: HistoryOptions): Promise<History> {
  const writer = new HistoryWriter(options);
  await writer.open();
  for (let change = 0; change < options.changes; change += 1) await writer.change();
  return writer;
}

class HistoryWriter implements History {
  readonly accounts: HistoryAccount[] = [];
  readonly moments: Moment[] = [];
  flushedBytes = 0;

  constructor(readonly options: HistoryOptions) {}

  async open(): Promise<void> {
    const { accounts: store } = this.options.operator.administration;
    for (let made = 0; made < ACCOUNTS; made += 1) {
      const place = await store.create({ surface: "gateway", email: null }, new Date());
      await store.decide(place.id, () => ({ contract: "enterprise" }), { now: new Date() });
      const row = await store.find(place.id);
      if (row === null) throw new Error("The account is gone");
      const account = { row, keys: [], revoked: [], holds: [] };
      this.accounts.push(account);
      await this.#newKey(account);
    }
  }

  /** Makes one more change of any kind. */
  async change(): Promise<void> {
    const { random, operator } = this.options;
    const account = random.pick(this.accounts);
    // An evicted wallet is rebuilt by the next use, with a separate script.
    await this.#note("build", () => this.#actor(account).state());
    const kind = random.between(1, 100);
    if (kind <= 35) await this.#hold(account);
    else if (kind <= 60) await this.#end(account);
    else if (kind <= 68) await this.#renew(account);
    else if (kind <= 73) await this.#expire(account);
    else if (kind <= 85) await this.#pay(account);
    else if (kind <= 90) await this.#newKey(account);
    else if (kind <= 94) await this.#revokeKey(account);
    else if (kind <= 98) {
      await operator.flush();
      this.flushedBytes = this.options.aofBytes();
    } else await this.#note("evict", () => this.#actor(account).evict(0));
  }

  async #hold(account: HistoryAccount): Promise<void> {
    const { random } = this.options;
    const bound = nano(BigInt(random.between(1, 900)) * 1_000_000n);
    const input = ask(random.pick(account.keys), bound, { stream: random.next() < 0.5 });
    await this.#note("admit", async () => {
      const admission = await this.#actor(account).admit(input);
      if (admission.verdict === "admitted") account.holds.push(admission.hold);
    });
  }

  async #end(account: HistoryAccount): Promise<void> {
    const { random } = this.options;
    const hold = account.holds.splice(random.between(0, account.holds.length), 1)[0];
    if (hold === undefined) return;
    const cost = nano((hold.amount * BigInt(random.between(0, 100))) / 100n);
    await this.#note("settle", () => hold.settle(cost, DONE));
  }

  async #renew(account: HistoryAccount): Promise<void> {
    for (const hold of account.holds) hold.checkpoint(nano(hold.amount / 3n));
    await this.#note("renew", () => this.options.operator.actors.renewLeases());
  }

  async #expire(account: HistoryAccount): Promise<void> {
    const hold = account.holds.pop();
    if (hold === undefined) return;
    const { actors } = this.options.operator;
    const actor = this.#actor(account);
    actors.leases.closed(account.row.bucket, hold.id);
    const input = {
      nowMs: Date.now() + 2 * LEASE_MS,
      account: account.row.id,
      keys: actor.keys,
      keyId: hold.detached.keyId,
      requestId: hold.id,
      owner: actors.leases.owner,
      hasBudgets: hold.detached.budgets.length > 0,
      marker: null,
      outcome: outcomeText(DONE),
    };
    await this.#note("sweep", () => actors.scripts.run(sweep, input));
  }

  async #pay(account: HistoryAccount): Promise<void> {
    const amount = nano(BigInt(this.options.random.between(1, 9)) * 1_000_000_000n);
    const { payments } = this.options.operator.administration;
    await payments.record(account.row, { amount, paidAt: new Date() });
    await this.#configure(account);
    await this.#note("operation", () => this.#actor(account).applyOperations());
  }

  async #newKey(account: HistoryAccount): Promise<void> {
    const { accounts: store } = this.options.operator.administration;
    const { id } = await store.createKey(account.row, TERMS);
    account.keys.push(id);
    await this.#configure(account);
  }

  async #revokeKey(account: HistoryAccount): Promise<void> {
    if (account.keys.length < 2) return;
    const [id = ""] = account.keys.splice(0, 1);
    account.revoked.push(id);
    await this.options.operator.administration.accounts.revokeKey(id, new Date());
    await this.#configure(account);
  }

  async #configure(account: HistoryAccount): Promise<void> {
    await this.#note("configure", () => this.#actor(account).configure());
  }

  #actor({ row }: HistoryAccount): AccountActor {
    return this.options.operator.actors.of(row.id, row.bucket);
  }

  async #note(what: string, change: () => Promise<unknown>): Promise<void> {
    await change();
    const { aofBytes, operator } = this.options;
    const state = await stateOf(operator.actors.scripts.redis, this.accounts);
    this.moments.push({ aofBytes: aofBytes(), state, what });
  }
}

/** The place of the leases in the state of an account. */
export const LEASES_AT = 5;

/** All data of these accounts and their buckets in Redis, as text. */
export async function stateOf(
  redis: RedisClient,
  accounts: readonly Pick<HistoryAccount, "row">[],
): Promise<string> {
  const parts = await Promise.all(
    accounts.map(async ({ row: { id, bucket } }) => {
      const keys = accountKeys(id, bucket);
      const records = [keys.bucket, keys.wallet, keys.document].map((key) => hexOf(redis, key));
      const newest = redis.xrevrange(keys.events, "+", "-", "COUNT", 1);
      return await Promise.all([
        ...records,
        keysOf(redis, keyStateKey(bucket, "*"), (key) => hexOf(redis, key)),
        keysOf(redis, holdsKey(bucket, "*"), (key) => hashOf(redis, key)),
        // Without the ends of leases: one round renews the leases of all buckets, each by its own
        // script.
        redis.hkeys(keys.leases),
        newest.then(([entry]) => entry?.[0] ?? ""),
      ]);
    }),
  );
  return JSON.stringify(parts);
}

/**
 * The values that `read` finds under each key of a pattern, in the order of the keys. A key that
 * expires, such as the window of an evicted wallet's key, may be gone at the time of a comparison.
 */
async function keysOf(
  redis: RedisClient,
  pattern: string,
  read: (key: string) => Promise<unknown>,
): Promise<unknown> {
  const found = (await redis.keys(pattern)).sort();
  const ends = await Promise.all(found.map((key) => redis.pttl(key)));
  const lasting = found.filter((_, index) => ends[index] === -1);
  return await Promise.all(lasting.map(async (key) => [key, await read(key)]));
}

async function hexOf(redis: RedisClient, key: string): Promise<string> {
  return (await redis.getBuffer(key))?.toString("hex") ?? "";
}

async function hashOf(redis: RedisClient, key: string): Promise<[string, string][]> {
  const fields = await redis.hgetallBuffer(key);
  return Object.entries(fields)
    .map(([field, value]): [string, string] => [field, value.toString("hex")])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
