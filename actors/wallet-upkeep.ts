// Keeps an account's wallet in Redis consistent with Postgres: builds it, applies missing
// operations and newer access documents, and evicts it.

import {
  type Budget,
  type BudgetOwner,
  type BudgetRef,
  leftOf,
  spanEnd,
} from "../src/core/access/budgets.ts";
import { invalidKey } from "../src/core/access/keys.ts";
import { isBegun } from "../src/core/access/runs.ts";
import { ApiError } from "../src/core/errors.ts";
import { ZERO } from "../src/core/money/money.ts";
import { OpenWork } from "../src/core/open-work.ts";
import type { ExpiredFree } from "../src/store/accounts/pending-work.ts";
import type { WalletRecord, WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import type { BudgetUse } from "./account.ts";
import { passMissing, spansOf, withMissing } from "./missing-entries.ts";
import { type AccountKeys, accountKeys } from "./records/keys.ts";
import { parseBucket, parseBudget } from "./records/records.ts";
import type { RedisClock } from "./redis/redis-clock.ts";
import { type ViewReply, view } from "./scripts/call-scripts.ts";
import type { ScriptTime } from "./scripts/script.ts";
import { fromPostgres, type ScriptRunner } from "./scripts/script-runner.ts";
import {
  applyOperation,
  configure,
  evict,
  expireFree,
  hydrate,
  type KeySpending,
  loadBudgets,
  loadMarkers,
} from "./scripts/wallet-scripts.ts";

export interface UpkeepDeps {
  readonly scripts: ScriptRunner;
  readonly repository: WalletRepository;
  /** Redis's time, so a wrong clock on this machine has no effect. */
  readonly clock: RedisClock;
  /** The time that scripts receive: 0 (Redis's own) except in tests. */
  readonly scriptTime: () => ScriptTime;
}

/** Sanity limit: a wallet never changes this often during one request. */
const ATTEMPTS_MAX = 20;
/** The longest pause between two attempts; pauses grow, so that a burst of changes can end. */
const PAUSE_MS_MAX = 100;
/** One script applies at most this many operations; more would block Redis for too long. */
const OPERATIONS_AT_ONCE = 200;
/** One script loads at most this many markers; more would block Redis for too long. */
const MARKERS_AT_ONCE = 500;

export class WalletUpkeep {
  readonly keys: AccountKeys;
  #building: Promise<void> | null = null;
  #marking: Promise<void> | null = null;
  /** The open readings of budgets, by the numbers of the budgets. */
  readonly #loading = new OpenWork<void>();

  constructor(
    readonly deps: UpkeepDeps,
    readonly accountId: string,
    bucket: number,
  ) {
    this.keys = accountKeys(accountId, bucket);
  }

  /** Redis's time, as of its last reply to this process. */
  now(): number {
    return this.deps.clock.now();
  }

  /** The current wallet; built first if Redis does not have it. */
  async state(keyId = ""): Promise<ViewReply> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const reply = await this.deps.scripts.run(view, { ...this.subject(), keyId });
      if (reply !== null) {
        this.deps.clock.observe(reply.nowMs);
        return reply;
      }
      await this.hydrate();
    }
    throw new ApiError("service_unavailable", "The account could not be read; try again");
  }

  /**
   * Builds the wallet from Postgres, including operations that the ledger does not have yet. Calls
   * at the same time share one reading: after a loss of Redis all calls of an account need it.
   */
  hydrate(): Promise<void> {
    this.#building ??= this.#build().finally(() => {
      this.#building = null;
    });
    return this.#building;
  }

  async #build(): Promise<void> {
    const { scripts, repository } = this.deps;
    const isBuilt = await this.#inBucket(async ({ epoch, evictions }) => {
      const record = await fromPostgres(repository.readWallet(this.accountId));
      if (record === null) throw invalidKey();
      const after = await fromPostgres(
        repository.operationsAfter(this.accountId, record.operations),
      );
      const { pending, ...applied } = passMissing(this.accountId, record, after);
      const reply = await scripts.run(hydrate, {
        ...record,
        ...applied,
        ...this.subject(),
        pending: pending.slice(0, OPERATIONS_AT_ONCE),
        spending: spendingOf(withMissing(record)),
        epoch,
        evictions,
      });
      if (reply === "again") return false;
      if (pending.length > OPERATIONS_AT_ONCE) await this.applyOperations();
      return true;
    });
    if (isBuilt) return;
    throw new ApiError("service_unavailable", "The account could not be rebuilt; try again");
  }

  /**
   * Repeats an attempt that needs the bucket's record until it returns true, and sets the bucket up
   * if Redis does not have it. False after many attempts.
   */
  async #inBucket(
    attempt: (bucket: ReturnType<typeof parseBucket>) => Promise<boolean>,
  ): Promise<boolean> {
    const { scripts } = this.deps;
    for (let made = 0; made < ATTEMPTS_MAX; made++) {
      if (made > 0) await Bun.sleep(Math.min(2 ** made, PAUSE_MS_MAX));
      const bytes = await scripts.redis.getBuffer(this.keys.bucket);
      if (bytes === null) await scripts.prepare();
      else if (await attempt(parseBucket(bytes))) return true;
    }
    return false;
  }

  /**
   * Loads these budgets, as Postgres has them, if Redis does not have them. Calls at the same time
   * share one reading: all calls of a run need its budget at once.
   */
  loadBudgets(budgets: readonly Pick<BudgetRef, "number">[]): Promise<void> {
    const numbers = budgets.map(({ number }) => number);
    return this.#loading.share(numbers.join(" "), () => this.#load(numbers));
  }

  async #load(numbers: readonly number[]): Promise<void> {
    const { scripts, repository } = this.deps;
    const areLoaded = await this.#inBucket(async ({ epoch, evictions }) => {
      const forgotten = Number(await scripts.redis.get(this.keys.forgotten));
      const record = await fromPostgres(repository.readBudgets(this.accountId, numbers));
      const spans = spansOf(numbers, record);
      const loading = { ...this.subject(), epoch, evictions, forgotten, budgets: spans };
      const reply = await scripts.run(loadBudgets, loading);
      if (reply === "hydrate") await this.hydrate();
      return reply === "ok";
    });
    if (areLoaded) return;
    throw new ApiError("service_unavailable", "The budgets could not be read; try again");
  }

  /**
   * Loads the markers of idempotency keys, as Postgres has them. Calls at the same time share one
   * reading.
   */
  loadMarkers(): Promise<void> {
    this.#marking ??= this.#mark().finally(() => {
      this.#marking = null;
    });
    return this.#marking;
  }

  async #mark(): Promise<void> {
    const { scripts, repository } = this.deps;
    const areLoaded = await this.#inBucket(async ({ epoch }) => {
      const stored = await fromPostgres(repository.readMarkers(this.accountId));
      let at = 0;
      do {
        const markers = stored.slice(at, at + MARKERS_AT_ONCE);
        at += MARKERS_AT_ONCE;
        const part = { ...this.subject(), epoch, markers, isLast: at >= stored.length };
        if ((await scripts.run(loadMarkers, part)) !== "ok") return false;
      } while (at < stored.length);
      return true;
    });
    if (areLoaded) return;
    throw new ApiError("service_unavailable", "The idempotency keys could not be read; try again");
  }

  /** The present use of these budgets; a budget that has not begun is unused. */
  async budgetUse<Of extends BudgetOwner>(
    budgets: readonly Budget<Of>[],
  ): Promise<readonly BudgetUse<Of>[]> {
    if (budgets.length === 0) return [];
    const { scripts, scriptTime, clock } = this.deps;
    const fields = budgets.map(({ number }) => `${number}`);
    const { epoch } = (await this.state()).wallet;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const records = await scripts.redis.hmgetBuffer(this.keys.budgets, ...fields);
      const nowMs = scriptTime() || clock.now();
      const uses = budgets.map((budget, at) => {
        return budgetUse(budget, records[at] ?? null, { epoch, nowMs });
      });
      if (uses.every((use) => use !== null)) return uses;
      await this.loadBudgets(budgets.filter(isBegun));
    }
    throw new ApiError("service_unavailable", "The budgets could not be read; try again");
  }

  /** Applies every operation in Postgres that the wallet lacks, in order, each exactly once. */
  async applyOperations(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { scripts, repository } = this.deps;
      const wallet = await scripts.run(view, { ...this.subject(), keyId: "" });
      if (wallet === null) {
        await this.hydrate();
        continue;
      }
      const missing = await fromPostgres(
        repository.operationsAfter(this.accountId, wallet.wallet.operations),
      );
      const replies = [];
      for (const operation of missing) {
        replies.push(await scripts.run(applyOperation, { ...this.subject(), operation }));
      }
      if (replies.every((reply) => reply === "ok" || reply === "already")) return;
    }
    throw new ApiError("service_unavailable", "The operations could not be applied; try again");
  }

  /** Gives Redis the newest access document; every process finds it there at its next call. */
  async configure(): Promise<void> {
    const { scripts, repository } = this.deps;
    const stored = await fromPostgres(repository.readDocument(this.accountId));
    if (stored === null) throw invalidKey();
    await scripts.run(configure, { ...this.subject(), ...stored });
    await repository.markApplied(this.accountId, stored.version);
  }

  /**
   * Removes the wallet from Redis if it is idle and Postgres has all of it. Returns whether it was
   * removed.
   */
  async evict(idleMs: number): Promise<boolean> {
    const record = await this.deps.repository.readForEviction(this.accountId);
    if (record === null) return false;
    const reply = await this.deps.scripts.run(evict, { ...this.subject(), ...record, idleMs });
    return reply === "ok";
  }

  /**
   * Removes free credit that has ended from the balance, with a ledger entry; `byMs` is the time of
   * Postgres, which must agree with that of Redis.
   */
  async expireFree(byMs: number): Promise<ExpiredFree> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const reply = await this.deps.scripts.run(expireFree, { ...this.subject(), byMs });
      if (reply !== "hydrate") return reply;
      await this.hydrate();
    }
    throw new ApiError("service_unavailable", "The free credit could not be ended; try again");
  }

  /** The arguments that every script of this account takes. */
  subject(): { account: string; keys: AccountKeys; nowMs: ScriptTime } {
    return { account: this.accountId, keys: this.keys, nowMs: this.deps.scriptTime() };
  }
}

/** The newest two months of each key. */
function spendingOf(months: WalletRecord["months"]): KeySpending[] {
  return [...Map.groupBy(months, ({ key }) => key)].map(([key, rows]) => {
    const [last, before] = rows.toSorted((a, b) => b.month - a.month);
    return {
      key,
      month: last?.month ?? 0,
      spent: last?.spent ?? ZERO,
      monthBefore: before?.month ?? 0,
      spentBefore: before?.spent ?? ZERO,
    };
  });
}

/** When, and in which epoch of the bucket, a budget is read. */
interface Reading {
  readonly epoch: number;
  readonly nowMs: number;
}

/**
 * The spent, held and remaining amounts of a budget now. Null if Redis does not have the budget, or
 * has a record of an older epoch.
 */
function budgetUse<Of extends BudgetOwner>(
  budget: Budget<Of>,
  bytes: Buffer | null,
  { epoch, nowMs }: Reading,
): BudgetUse<Of> | null {
  if (!isBegun(budget)) {
    const { amount: left } = budget;
    return { ...budget, spent: ZERO, held: ZERO, left, startedAtMs: null, renewsAtMs: null };
  }
  const record = bytes === null ? null : parseBudget(bytes);
  if (record === null || record.epoch !== epoch) return null;
  const end = record.startMs < 0 ? nowMs : spanEnd(budget.span, record.startMs);
  // The next call begins another span.
  const isOver = end !== null && nowMs >= end;
  const { spent, held } = isOver ? { spent: ZERO, held: ZERO } : record;
  return {
    ...budget,
    spent,
    held,
    left: leftOf(budget, { spent, held }),
    startedAtMs: isOver ? null : record.startMs,
    renewsAtMs: isOver ? null : end,
  };
}
