// Compares an account in Redis with its model after every command: balances, debts, months,
// windows, holds, leases, and every new journal entry.

import { type AccountInspection, inspectAccount } from "../../../actors/inspection.ts";
import type { StreamEntry } from "../../../actors/journal.ts";
import {
  countsAt,
  type KeyState,
  type Wallet,
  type WindowRecord,
} from "../../../actors/records/records.ts";
import type { RedisClient } from "../../../actors/scripts/script.ts";
import type { JournalEntry } from "../../../src/core/journal/journal.ts";
import { markerIn } from "../../../src/core/journal/marker.ts";
import { monthBefore } from "../../../src/core/money/months.ts";
import type { ModelAccount } from "./model-accounts.ts";
import type { ModelEnds } from "./model-free.ts";
import type { ModelEvent } from "./model-types.ts";
import { ModelWindow } from "./model-window.ts";
import type { WalletModel } from "./wallet-model.ts";

/** More entries than one command can write. */
const ENTRIES_MAX = 1_000;
/** No tier of the model's accounts allows more requests a minute. */
const LARGEST_LIMIT = 300;
/** Entries that change no money and have no ledger row. */
const UNMODELLED: ReadonlySet<string> = new Set(["refused", "summary"]);

export class Inspector {
  /** The journal was read up to this place; epoch 0 comes before every real one. */
  #place = { epoch: 0, entry: 0 };

  constructor(
    readonly redis: RedisClient,
    readonly account: ModelAccount,
    readonly model: WalletModel,
    readonly now: () => number,
  ) {}

  /** All holds of the account, and the verdict that a sweep must give on each now. */
  async holdsToSweep() {
    const { bucket, holds } = await this.#inspect();
    return holds.map(({ request, owner, leaseMs, record }) => {
      const isVoid = record?.epoch !== bucket?.epoch;
      const verdict = (leaseMs ?? 0) > this.now() ? "alive" : isVoid ? "gone" : "ok";
      const hasBudgets = (record?.budgets.length ?? 0) > 0;
      const ref = { requestId: request, owner, keyId: record?.key ?? "", hasBudgets };
      return { ...ref, marker: markerIn(record?.metadata ?? ""), verdict };
    });
  }

  /** Throws if Redis and the model differ. */
  async compare(after: string): Promise<void> {
    const read = await this.#inspect();
    const epoch = read.bucket?.epoch ?? 0;
    const wallet = read.wallet?.epoch === epoch ? read.wallet : null;
    const isHere = wallet !== null;
    const faults = [
      ...(isHere === this.model.here ? [] : [`wallet is ${isHere ? "" : "not "}in Redis`]),
      ...(wallet === null ? [] : this.#walletFaults(wallet)),
      ...this.account.keys.flatMap((id, key) => this.#keyFaults(key, read.keys.get(id), epoch)),
      ...this.#holdFaults(read, epoch),
      ...this.#journalFaults(read.tail, epoch),
      ...this.#limitFaults(),
    ];
    if (faults.length > 0) throw new Error(`after ${after}: ${faults.join("; ")}`);
  }

  #inspect(): Promise<AccountInspection> {
    const { id, bucket, keys: keyIds } = this.account;
    const question = { after: this.#place, count: ENTRIES_MAX, now: this.now() };
    return inspectAccount(this.redis, { id, bucket, keyIds, ...question });
  }

  #walletFaults(wallet: Wallet): string[] {
    const { model } = this;
    const { ledger } = model;
    const owed = ledger.owed > 0n && wallet.paid > 0n ? ["owes beside available credit"] : [];
    const { lastMs, earlier } = model.free;
    const [found, due] = [wallet.freeEnds, { lastMs, earlier }].map(endsText);
    const ends = differences({ ends: found }, { ends: due });
    return owed.concat(
      ends,
      differences(wallet, {
        seq: ledger.seq,
        paid: model.paidAvailable,
        free: model.freeAvailable,
        heldPaid: model.heldPaid,
        heldFree: model.heldFree,
        owed: ledger.owed,
        operations: ledger.operations,
        freeSinceMs: model.freeSinceMs,
        streams: model.streams,
        calls: model.openCalls,
        usedMs: model.usedMs,
        month: model.month,
        ...this.#months(model.month, null),
      }),
    );
  }

  /** Of a key's state from an older epoch only the window counts. No state: nothing was counted. */
  #keyFaults(key: number, state: KeyState | undefined, epoch: number): string[] {
    const window = this.model.windows[key] ?? new ModelWindow();
    const counted = windowFaults(window, state?.window ?? null, this.now());
    if (!this.model.here) return counted;
    const isVoid = state === undefined || state.epoch !== epoch;
    const month = isVoid ? this.model.month : state.month;
    this.model.keyMonths[key] = month;
    const faults = differences(isVoid ? NOTHING_SPENT : state, this.#months(month, key));
    return [...counted, ...faults.map((fault) => `key ${key}: ${fault}`)];
  }

  #months(month: number, key: number | null) {
    const { model } = this;
    return {
      spent: model.spent(month, key),
      held: model.held(month, key),
      previousSpent: model.spent(monthBefore(month), key),
      previousHeld: model.held(monthBefore(month), key),
    };
  }

  #holdFaults(read: AccountInspection, epoch: number): string[] {
    const { model, account } = this;
    const found = new Map(
      read.holds.flatMap((hold) =>
        hold.record?.epoch === epoch ? [[hold.request, hold] as const] : [],
      ),
    );
    const ids = new Set([...found.keys(), ...model.holds.keys()]);
    return [...ids].flatMap((id) => {
      const [hold, there] = [model.holds.get(id), found.get(id)];
      if (hold === undefined) return [`hold ${id} should be gone`];
      if (there?.record === undefined || there.record === null) return [`hold ${id} is not there`];
      const { paid, free, month, stream, checkpoint, admittedMs, key, owner } = hold;
      const expected = { paid, free, month, isStream: stream, checkpoint, admittedMs };
      const ends = { owner, leaseMs: model.endOf(hold) };
      const of = { account: account.id, key: account.keys[key] ?? "" };
      return [...differences(there.record, { ...expected, ...of }), ...differences(there, ends)];
    });
  }

  #journalFaults(tail: readonly StreamEntry[], epoch: number): string[] {
    if (epoch !== this.#place.epoch) {
      // Entries from before this account may be trimmed from the stream; later ones must be there.
      const isFirst = this.#place.epoch === 0;
      const first = tail.find(({ entry }) => entry?.epoch === epoch);
      this.#place = { epoch, entry: isFirst ? (first?.number ?? 0) : 0 };
    }
    const faults: string[] = [];
    for (const { number, entry, fault } of tail) {
      if (entry === null) return [`entry ${number} cannot be read: ${fault}`];
      // Entries of another epoch are void; entries of other accounts do not count.
      if (entry.epoch !== epoch || number < this.#place.entry) continue;
      if (number !== this.#place.entry) return [`entry ${number} is a gap`];
      this.#place = { epoch, entry: number + 1 };
      if (entry.account !== this.account.id || UNMODELLED.has(entry.type)) continue;
      const expected = this.model.events.shift();
      if (expected === undefined) faults.push(`${entry.type} ${entry.seq} should not be there`);
      else faults.push(...eventFaults(entry, expected));
    }
    return faults.concat(this.model.events.map(({ type }) => `the journal lacks a ${type}`));
  }

  #limitFaults(): string[] {
    const { model } = this;
    const faults: string[] = [];
    for (const window of model.windows) {
      if (window.busiest > LARGEST_LIMIT) faults.push(`${window.busiest} requests in 60 s`);
    }
    for (const hold of model.holds.values()) {
      const budget = this.account.terms.budgets[hold.key] ?? null;
      const used = model.used(hold.month, hold.key);
      if (budget !== null && used > budget) faults.push(`key ${hold.key} is over its budget`);
    }
    return faults;
  }
}

const NOTHING_SPENT = { spent: 0n, held: 0n, previousSpent: 0n, previousHeld: 0n };

function endsText({ lastMs, earlier }: ModelEnds): string {
  return [...earlier.map(({ atMs, later }) => `${later} after ${atMs}`), lastMs].join(", ");
}

/** The fields that differ from the expected ones. */
function differences<Expected extends object>(
  found: { readonly [Field in keyof Expected]?: unknown },
  expected: Expected,
): string[] {
  return (Object.keys(expected) as (keyof Expected & string)[]).flatMap((field) => {
    const [value, due] = [found[field], expected[field]];
    return value === due ? [] : [`${field} is ${value} instead of ${due}`];
  });
}

/** Each second that still counts must have the same number in the record and in the model. */
function windowFaults(model: ModelWindow, record: WindowRecord | null, nowMs: number): string[] {
  if (record === null) return model.countedAt(nowMs) === 0 ? [] : ["a window is gone"];
  const { total, counts } = record;
  const sum = counts.reduce((all, count) => all + count, 0);
  if (sum !== total) return [`a window has a total of ${total} and counts ${sum}`];
  const [found, expected] = [countsAt(record, nowMs), model.countsAt(nowMs)];
  const seconds = new Set([...found.keys(), ...expected.keys()]);
  return [...seconds].flatMap((second) => {
    const [count, due] = [found.get(second) ?? 0, expected.get(second) ?? 0];
    return count === due ? [] : [`the second ${second} of a window counts ${count}, not ${due}`];
  });
}

function eventFaults(entry: JournalEntry, { type, request, row, ...money }: ModelEvent): string[] {
  const expected = {
    type,
    request: request ?? "",
    seq: row?.seq ?? null,
    paidDelta: row?.paidDelta ?? 0n,
    freeDelta: row?.freeDelta ?? 0n,
    operation: row?.operation ?? null,
    kind: type === "operation" ? (row?.kind ?? null) : null,
    ...money,
  };
  const after = row === null ? {} : balancesAfter(row);
  return differences(entry, { ...expected, ...after }).map(
    (fault) => `${type} ${row?.seq ?? "without a row"}: ${fault}`,
  );
}

function balancesAfter({ paidAfter, freeAfter, owedAfter, month }: NonNullable<ModelEvent["row"]>) {
  return { paidAfter, freeAfter, owedAfter, month };
}
