// Compares what Redis holds of an account with its model, and reads the journal as it grows: the
// invariants I1 to I4, I8, I15, I16 and I17 after every command.

import { readJournal } from "../../actors/journal.ts";
import { accountKeys } from "../../actors/keys.ts";
import type { RedisClient } from "../../actors/script.ts";
import type { ModelAccount } from "./model-accounts.ts";
import type { WalletModel } from "./wallet-model.ts";

interface Running {
  epoch: number | null;
  streamId: string;
  number: number;
  seq: number;
  paid: bigint;
  free: bigint;
}

export class Inspector {
  readonly #keys: ReturnType<typeof accountKeys>;
  #journal: Running | null = null;

  constructor(
    readonly redis: RedisClient,
    readonly account: ModelAccount,
    readonly model: WalletModel,
  ) {
    this.#keys = accountKeys(account.id, account.bucket);
  }

  /** Throws the first difference. */
  async compare(after: string): Promise<void> {
    const { redis } = this;
    const [wallet, holds, leases, epoch] = await Promise.all([
      redis.hgetall(this.#keys.wallet),
      redis.hgetall(this.#keys.holds),
      redis.zrange(this.#keys.leases, "0", "-1", "WITHSCORES"),
      this.#readJournal(),
    ]);
    const isHere = wallet.epoch !== undefined && Number(wallet.epoch) === epoch;
    const faults = [
      ...(isHere === this.model.here ? [] : [`wallet is ${isHere ? "" : "not "}in Redis`]),
      ...(isHere ? this.#walletFaults(wallet) : []),
      ...(isHere ? this.#holdFaults(holds) : []),
      ...this.#leaseFaults(leases),
      ...this.#journalFaults(),
      ...this.#limitFaults(),
    ];
    if (faults.length > 0) throw new Error(`after ${after}: ${faults.join("; ")}`);
  }

  #walletFaults(wallet: Record<string, string>): string[] {
    const { model } = this;
    const expected = new Map<string, bigint>([
      ["paid", model.ledger.paid - model.heldPaid],
      ["free", model.freeAvailable],
      ["held_paid", model.heldPaid],
      ["held_free", model.heldFree],
      ["streams", BigInt(model.streams)],
      ["seq", BigInt(model.ledger.seq)],
      ["credits", BigInt(model.ledger.credits)],
    ]);
    for (const [field, amount] of model.ledger.spent) expected.set(this.#field("s", field), amount);
    for (const hold of model.holds.values()) {
      expected.set(`h${hold.month}`, model.held(hold.month, null));
      const field = this.#field("h", `${hold.month}:${hold.key}`);
      expected.set(field, model.held(hold.month, hold.key));
    }
    const months = Object.keys(wallet).filter((field) => /^[sh]\d/.test(field));
    return [...new Set([...expected.keys(), ...months])].flatMap((field) => {
      const got = wallet[field] ?? "0";
      const want = (expected.get(field) ?? 0n).toString();
      if (got !== want) return [`${field} is ${got} instead of ${want}`];
      return got.startsWith("-") ? [`${field} is negative`] : [];
    });
  }

  #field(kind: "s" | "h", field: string): string {
    const [month, key] = field.split(":");
    return key === undefined ? kind + month : `${kind}${month}:${this.account.keys[Number(key)]}`;
  }

  #holdFaults(holds: Record<string, string>): string[] {
    const { model, account } = this;
    const ids = new Set([...Object.keys(holds), ...model.holds.keys()]);
    return [...ids].flatMap((id) => {
      const hold = model.holds.get(id);
      if (hold === undefined) return [`hold ${id} should be gone`];
      const { paid, free, month, stream, checkpoint, admittedMs, key } = hold;
      const facts = [paid, free, month, stream ? 1 : 0, checkpoint, admittedMs, account.keys[key]];
      const got = holds[id]?.split(" ").slice(0, 7).join(" ");
      return got === facts.join(" ") ? [] : [`hold is '${got}' instead of '${facts.join(" ")}'`];
    });
  }

  #leaseFaults(flat: readonly string[]): string[] {
    const leases = new Map<string, number>();
    for (let at = 0; at < flat.length; at += 2) {
      const member = flat[at] ?? "";
      if (member.startsWith(this.account.id)) leases.set(member, Number(flat[at + 1]));
    }
    const expected = [...this.model.holds.values()];
    const wrong = expected.filter(
      (hold) => leases.get(`${this.account.id}/${hold.id}`) !== hold.leaseMs,
    );
    if (wrong.length > 0) return [`${wrong.length} leases are wrong`];
    return leases.size === expected.length ? [] : [`${leases.size} leases of ${expected.length}`];
  }

  /** Reads on; returns the bucket's epoch. */
  async #readJournal(): Promise<number | null> {
    const { bucket } = this.account;
    const page = await readJournal(this.redis, bucket, this.#journal?.streamId ?? "0-0", 1_000);
    let running = this.#journal;
    if (running === null || page.epoch !== running.epoch) {
      // The first reading, or a new epoch: the journal goes on from what the ledger has.
      const { seq, paid, free } = running === null ? ZERO_LEDGER : this.model.repository;
      const first = running === null ? page.entries : await this.#wholeJournal();
      const number = (first[0]?.number ?? page.newest + 1) - 1;
      running = { epoch: page.epoch, streamId: "0-0", number, seq, paid, free };
      this.#follow(running, first);
    } else this.#follow(running, page.entries);
    this.#journal = running;
    return page.epoch;
  }

  async #wholeJournal() {
    return (await readJournal(this.redis, this.account.bucket, "0-0", 1_000)).entries;
  }

  #follow(running: Running, entries: Awaited<ReturnType<typeof readJournal>>["entries"]): void {
    for (const entry of entries) {
      running.streamId = entry.streamId;
      if (entry.number !== running.number + 1) throw new Error(`entry ${entry.number} is a gap`);
      running.number = entry.number;
      if (entry.seq === null || entry.account !== this.account.id) continue;
      running.paid += entry.paidDelta;
      running.free += entry.freeDelta;
      running.seq += 1;
      if (entry.seq !== running.seq) throw new Error(`seq ${entry.seq}, not ${running.seq}`);
      if (entry.paidAfter !== running.paid || entry.freeAfter !== running.free) {
        throw new Error(`seq ${entry.seq} does not add up`);
      }
      if (running.paid < 0n || running.free < 0n) throw new Error(`seq ${entry.seq} is negative`);
    }
  }

  #journalFaults(): string[] {
    const { ledger } = this.model;
    const { seq, paid, free } = this.#journal ?? ZERO_LEDGER;
    if (seq === ledger.seq && paid === ledger.paid && free === ledger.free) return [];
    return [
      `the journal says ${seq}: ${paid} ${free}, not ${ledger.seq}: ${ledger.paid} ${ledger.free}`,
    ];
  }

  #limitFaults(): string[] {
    const { model } = this;
    const faults: string[] = [];
    for (const window of model.windows) {
      if (window.busiest > LARGEST_LIMIT) faults.push(`${window.busiest} requests in 60 s`);
    }
    for (const hold of model.holds.values()) {
      const budget = this.account.terms.budgets[hold.key] ?? null;
      const used = model.spent(hold.month, hold.key) + model.held(hold.month, hold.key);
      if (budget !== null && used > budget) faults.push(`key ${hold.key} is over its budget`);
    }
    return faults;
  }
}

const ZERO_LEDGER = { seq: 0, paid: 0n, free: 0n };
/** No tier of the model's accounts lets more through. */
const LARGEST_LIMIT = 300;
