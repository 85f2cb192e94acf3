// The only code that touches an account's keys. One per account and process; the scripts it runs
// decide between processes, so it holds no balance: only the access document and its open calls.

import {
  type AccessDocument,
  type AccessKey,
  decideAccess,
  lacksAllowance,
  parseDocument,
} from "../src/core/access.ts";
import { ApiError, type ErrorCode } from "../src/core/errors.ts";
import { deriveTier, LEASE_MS, type Tier } from "../src/core/limits.ts";
import { type NanoUsd, nano } from "../src/core/money.ts";
import type { WalletRepository } from "../src/store/wallet-repository.ts";
import type { Account, AccountView, Admission, AdmissionRequest } from "./account.ts";
import { capOf, limitsOf } from "./account-limits.ts";
import { type AdmitReply, admit } from "./admit-script.ts";
import { Allowance } from "./allowance.ts";
import { extend, type ViewReply, view } from "./call-scripts.ts";
import { type AccountKeys, accountKeys } from "./keys.ts";
import { OpenHold, releaseWhenBack } from "./open-hold.ts";
import type { RedisClock } from "./redis-clock.ts";
import { inactive, invalidKey, leaseLost, MONEY_REFUSALS, refusalError } from "./refusal.ts";
import { fromPostgres, type ScriptRunner, type ScriptTime, unavailable } from "./script.ts";
import { configure, credit, evict, expireFree, hydrate, prune } from "./wallet-scripts.ts";

export interface ActorDeps {
  readonly scripts: ScriptRunner;
  readonly repository: WalletRepository;
  /** The time of Redis, so that a wrong clock of this machine decides nothing. */
  readonly clock: RedisClock;
  /** What scripts are given as their time: '' (Redis's own) except in tests. */
  readonly scriptTime: () => ScriptTime;
  /** Told of a settlement that could not be delivered; it is tried again by itself. */
  readonly onSettleRetry: (requestId: string, error: unknown) => void;
  /** What the Free plan grants each month; zero grants nothing. */
  readonly allowance: NanoUsd;
}

/** Far above any number of times that a document can change under one request. */
const ATTEMPTS_MAX = 20;

interface Access {
  readonly version: number;
  readonly document: AccessDocument;
}

export class AccountActor implements Account {
  readonly keys: AccountKeys;
  readonly openHolds = new Map<string, OpenHold>();
  #access: Access | null = null;
  readonly #allowance = new Allowance(this);

  constructor(
    readonly deps: ActorDeps,
    readonly accountId: string,
    bucket: number,
  ) {
    this.keys = accountKeys(accountId, bucket);
  }

  async admit(input: AdmissionRequest): Promise<Admission> {
    let allowanceLooks = 2;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const access = this.#access ?? (await this.#refresh());
      const key = access.document.keys.get(input.keyId);
      if (key === undefined) {
        await this.#confirmUnknownKey(input.keyId);
        continue;
      }
      const nowMs = this.deps.clock.now();
      if (allowanceLooks > 0 && lacksAllowance(access.document, nowMs)) {
        // Looked at anew first, so that no key that was revoked meanwhile brings it.
        allowanceLooks -= 1;
        if (allowanceLooks === 0) await this.#allowance.grant();
        await this.#refresh();
        continue;
      }
      const { tier, refusal } = decideAccess(access.document, key, { ...input, nowMs });
      const code = refusal?.code ?? input.refusal?.code ?? null;
      const reply = await this.#run(input, access, key, tier, code).catch((error) => {
        // Redis may have run the script, or may run it yet: what it held must not wait for its
        // lease.
        void releaseWhenBack(this, input.requestId, limitsOf(input, tier));
        throw error;
      });
      if (reply.verdict === "hydrate") await this.hydrate();
      else if (reply.verdict === "stale") this.#adopt(reply.version, reply.document);
      else return this.#answer(reply, input, access.document, key, tier, refusal?.message);
    }
    throw unavailable(new Error(`${input.requestId}: the account changes all the time`));
  }

  async view(keyId: string): Promise<AccountView> {
    const state = await this.state(keyId);
    const document = parseDocument(state.document);
    const key = document.keys.get(keyId);
    if (key === undefined) throw invalidKey();
    return {
      accountId: this.accountId,
      nowMs: state.nowMs,
      state: document.state,
      tier: deriveTier(document.tierInputs, state.nowMs),
      tierInputs: document.tierInputs,
      paid: state.paid,
      free: freeIsOver(state) ? nano(0n) : state.free,
      freeExpiresAtMs: state.freeExpiresAtMs,
      heldPaid: state.heldPaid,
      heldFree: state.heldFree,
      openStreams: state.streams,
      month: state.month,
      monthSpent: state.spent,
      monthHeld: state.held,
      ownCap: document.ownCap,
      key: { ...key, monthSpent: state.keySpent, monthHeld: state.keyHeld },
    };
  }

  /** The wallet as it stands, built first where Redis does not hold it. */
  async state(keyId = ""): Promise<ViewReply> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const reply = await this.deps.scripts.run(view, { ...this.#subject(), keyId });
      if (reply !== null) {
        this.deps.clock.observe(reply.nowMs);
        return reply;
      }
      await this.hydrate();
    }
    throw new ApiError("service_unavailable", "The account could not be read; try again");
  }

  /** Builds the wallet from Postgres, with the credits that its ledger does not have yet. */
  async hydrate(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const meta = await this.deps.scripts.redis.hmget(this.keys.meta, "epoch", "evictions");
      if (meta[0] === null || meta[0] === undefined) await this.deps.scripts.prepare();
      const record = await fromPostgres(this.deps.repository.readWallet(this.accountId));
      if (record === null) throw invalidKey();
      const reply = await this.deps.scripts.run(hydrate, {
        ...this.#subject(),
        ...record,
        pending: await fromPostgres(
          this.deps.repository.creditsAfter(this.accountId, record.credits),
        ),
        epoch: meta[0] ?? "",
        evictions: meta[1] ?? "0",
      });
      if (reply !== "again") return;
    }
    throw new ApiError("service_unavailable", "The account could not be rebuilt; try again");
  }

  /** Applies every credit that Postgres has and the wallet has not, in order, each exactly once. */
  async applyCredits(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const wallet = await this.deps.scripts.run(view, { ...this.#subject(), keyId: "" });
      if (wallet === null) {
        await this.hydrate();
        continue;
      }
      const missing = await fromPostgres(
        this.deps.repository.creditsAfter(this.accountId, wallet.credits),
      );
      const replies = [];
      for (const record of missing) {
        replies.push(await this.deps.scripts.run(credit, { ...this.#subject(), ...record }));
      }
      if (replies.every((reply) => reply === "ok" || reply === "already")) return;
    }
    throw new ApiError("service_unavailable", "The credits could not be applied; try again");
  }

  /** Hands the newest access document to Redis, where every process finds it at its next call. */
  async configure(): Promise<void> {
    const stored = await fromPostgres(this.deps.repository.readDocument(this.accountId));
    if (stored === null) throw invalidKey();
    await this.deps.scripts.run(configure, { ...this.#subject(), ...stored });
    await this.deps.repository.markApplied(this.accountId, stored.version);
  }

  /** Removes the wallet from Redis if it is idle and Postgres has all of it. True when it went. */
  async evict(idleMs: number): Promise<boolean> {
    const record = await this.deps.repository.readWallet(this.accountId);
    if (record === null) return false;
    const subject = { ...this.#subject(), seq: record.seq, idleMs };
    return (await this.deps.scripts.run(evict, subject)) === "ok";
  }

  /** Has the wallet forget the spending of months that are long over. */
  async prune(): Promise<void> {
    await this.deps.scripts.run(prune, this.#subject());
  }

  /** Takes expired free credit out of the balance, with its ledger entry. */
  async expireFree(): Promise<void> {
    if ((await this.deps.scripts.run(expireFree, this.#subject())) === "ok") return;
    await this.hydrate();
    await this.deps.scripts.run(expireFree, this.#subject());
  }

  /** Renews the leases of all open calls of this process, and ends those that may not go on. */
  async renewLeases(): Promise<void> {
    if (this.openHolds.size === 0) return;
    const calls = [...this.openHolds.values()];
    const reply = await this.deps.scripts.run(extend, {
      ...this.#subject(),
      version: this.#access?.version ?? 0,
      leaseMs: LEASE_MS,
      calls: calls.map((hold) => ({ requestId: hold.id, checkpoint: hold.streamedCost })),
    });
    if (reply.newer !== null) this.#adopt(reply.newer.version, reply.newer.document);
    const lost = new Set(reply.lost);
    const document = this.#access?.document;
    for (const hold of calls) {
      if (lost.has(hold.id)) hold.abort(leaseLost());
      else if (!document?.keys.has(hold.keyId)) hold.abort(invalidKey());
      else if (document.state !== "active") hold.abort(inactive(document.state));
    }
  }

  #run(
    input: AdmissionRequest,
    access: Access,
    key: AccessKey,
    tier: Tier,
    refusal: ErrorCode | null,
  ): Promise<AdmitReply> {
    return this.deps.scripts.run(admit, {
      ...this.#subject(),
      version: access.version,
      keyId: input.keyId,
      requestId: input.requestId,
      refusal,
      limit: tier.requestsPerMinute,
      bound: input.bound,
      freeEligible: input.freeEligible,
      stream: input.stream,
      streamLimit: tier.streams,
      cap: capOf(access.document, tier),
      budget: key.monthlyLimit,
      attempt: input.tentative ? "tentative" : input.counted ? "second" : "only",
      facts: JSON.stringify(input.facts),
      elapsedMs: Math.round(input.elapsedMs),
      limits: limitsOf(input, tier),
    });
  }

  #answer(
    reply: Exclude<AdmitReply, { verdict: "hydrate" } | { verdict: "stale" }>,
    input: AdmissionRequest,
    document: AccessDocument,
    key: AccessKey,
    tier: Tier,
    accessMessage: string | undefined,
  ): Admission {
    if (reply.verdict === "short") return { verdict: "short", funds: reply };
    this.deps.clock.observe(reply.nowMs);
    const { rate } = reply;
    if (reply.verdict === "refused") {
      const error = refusalError(reply, input, tier, accessMessage);
      const funds = MONEY_REFUSALS.has(reply.code) ? reply : null;
      return { verdict: "refused", error, rate, funds };
    }
    const hold = new OpenHold(this, {
      input,
      limits: limitsOf(input, tier),
      paid: reply.paid,
      free: reply.free,
      admittedAtMs: reply.admittedAtMs,
      cap: capOf(document, tier),
      budget: key.monthlyLimit,
    });
    this.openHolds.set(hold.id, hold);
    return { verdict: "admitted", hold, rate };
  }

  /** Reads the document that Redis has, so that a key made or revoked elsewhere is known here. */
  async #refresh(): Promise<Access> {
    const { version, document } = await this.state();
    return this.#adopt(version, document);
  }

  async #confirmUnknownKey(keyId: string): Promise<void> {
    const fresh = await this.#refresh();
    if (!fresh.document.keys.has(keyId)) throw invalidKey();
  }

  #adopt(version: number, document: string): Access {
    this.#access = { version, document: parseDocument(document) };
    return this.#access;
  }

  #subject(): { account: string; keys: AccountKeys; nowMs: ScriptTime } {
    return { account: this.accountId, keys: this.keys, nowMs: this.deps.scriptTime() };
  }
}

function freeIsOver(state: ViewReply): boolean {
  return state.freeExpiresAtMs !== null && state.nowMs >= state.freeExpiresAtMs;
}
