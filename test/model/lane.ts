// One bucket of the real stores and the model of one account in it, driven by the same commands.
// After each command the two must agree in everything.

import { AccountActor, type ActorDeps } from "../../actors/account-actor.ts";
import { bucketKeys, limitKey, opKey, windowKey } from "../../actors/keys.ts";
import type { OpenHold } from "../../actors/open-hold.ts";
import { verifyBuckets } from "../../actors/recovery.ts";
import { RedisClock } from "../../actors/redis-clock.ts";
import { type RedisClient, type Script, ScriptRunner } from "../../actors/script.ts";
import { sweep } from "../../actors/wallet-scripts.ts";
import { ApiError } from "../../src/core/errors.ts";
import { newId } from "../../src/core/ids.ts";
import { LEASE_MS } from "../../src/core/limits.ts";
import { nano } from "../../src/core/money.ts";
import type { Database } from "../../src/store/database.ts";
import {
  type CreditRecord,
  type Cursor,
  WalletRepository,
} from "../../src/store/wallet-repository.ts";
import { ask, DONE, random } from "../support/world.ts";
import type { Command } from "./commands.ts";
import { Inspector } from "./inspector.ts";
import type { ModelAccount } from "./model-accounts.ts";
import { type ModelAnswer, type ModelHold, WalletModel } from "./wallet-model.ts";

/** What lanes share. */
export interface LaneDeps {
  readonly redis: RedisClient;
  readonly database: Database;
  /** Moves the bucket's journal to Postgres; many lanes share one transaction. */
  readonly flush: (bucket: number) => Promise<void>;
  /** Faulty sources by the digest of the script that they stand for. */
  readonly faulty: ReadonlyMap<string, { readonly source: string; readonly sha: string }>;
}

/** The first difference between a wallet and its model. */
export class AuditFinding extends Error {
  override readonly name = "AuditFinding";
}

/**
 * A Postgres in which a credit is committed when the model says so, and which recovers one
 * bucket.
 */
class LaneBook extends WalletRepository {
  visible = 1;

  constructor(
    database: Database,
    readonly account: ModelAccount,
  ) {
    super(database);
  }

  override async creditsAfter(accountId: string, after: number): Promise<CreditRecord[]> {
    // Nobody stages an account's credits that are granted as they are due.
    if (this.account.terms.credits.length === 0) return super.creditsAfter(accountId, after);
    const credits = this.account.terms.credits.slice(after, this.visible);
    return credits.map((credit) => ({ ...credit, amount: nano(credit.amount) }));
  }

  override recovery(recovery: Parameters<WalletRepository["recovery"]>[0]): Promise<void> {
    const mine = (cursor: Cursor) => cursor.bucket === this.account.bucket;
    return super.recovery({
      ...recovery,
      rebuild: (cursors, newEpoch) => recovery.rebuild(cursors.filter(mine), newEpoch),
    });
  }

  /** No lane changes a document. */
  override async *lostDocuments(): AsyncGenerator<[]> {}
}

/** Runs scripts, or the faulty ones in their place, and can run the last one again. */
class TappedRunner extends ScriptRunner {
  again: (() => Promise<unknown>) | null = null;
  answer: unknown = null;

  constructor(
    readonly lane: LaneDeps,
    verify: () => Promise<void>,
  ) {
    super(lane.redis, verify);
  }

  override async run<Input, Reply>(script: Script<Input, Reply>, input: Input): Promise<Reply> {
    const used = { ...script, ...this.lane.faulty.get(script.sha) };
    this.again = () => super.run(used, input);
    const reply = await super.run(used, input);
    this.answer = reply;
    return reply;
  }
}

const MONEY: ReadonlySet<string> = new Set([
  "key_budget_exceeded",
  "monthly_limit_reached",
  "insufficient_credits",
]);

export class Lane {
  readonly model: WalletModel;
  readonly repository: LaneBook;
  readonly #runner: TappedRunner;
  readonly #actors: AccountActor[] = [];
  /** The owners' ends of the calls that the model has, and which process owns each. */
  readonly #open = new Map<string, { readonly hold: OpenHold; readonly process: number }>();
  readonly #failure = Promise.withResolvers<never>();
  readonly #requests: string[] = [];
  readonly #inspector: Inspector;
  nowMs: number;
  revoked = false;

  constructor(
    readonly deps: LaneDeps,
    readonly account: ModelAccount,
    startMs: number,
  ) {
    this.nowMs = startMs;
    this.model = new WalletModel(account.terms, () => this.nowMs);
    this.repository = new LaneBook(deps.database, account);
    this.#runner = new TappedRunner(deps, () => this.#verify());
    this.#inspector = new Inspector(deps.redis, account, this.model);
    this.#failure.promise.catch(() => {});
    for (const process of [0, 1]) this.#actors[process] = this.#newActor();
  }

  /** Does one command to both and compares them. Throws what differs, or what the real one did. */
  async step(command: Command): Promise<void> {
    await this.#guarded(this.#do(command));
    await this.#inspector.compare(command.do);
  }

  /** Ends every call: owners settle, the sweep takes the rest; then all is flushed. */
  async finish(): Promise<void> {
    for (const id of [...this.#open.keys()]) await this.#guarded(this.#settle(id, 500));
    const leases = [...this.model.holds.values()].map((hold) => hold.leaseMs);
    this.nowMs = Math.max(this.nowMs, ...leases);
    for (const command of ["sweep", "flush"] as const) await this.step({ do: command });
    this.model.touch();
    await this.#actor(0).state();
    await this.#inspector.compare("finish");
    await this.step({ do: "flush" });
    if (this.model.holds.size > 0) throw new AuditFinding("A hold outlived the run");
  }

  #guarded<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failure.promise]);
  }

  async #do(command: Command): Promise<void> {
    // A client sends again at once; when the world has changed, nobody sends it any more.
    if (command.do !== "resend") this.#runner.again = null;
    switch (command.do) {
      case "admit":
        return await this.#admit(command);
      case "settle":
        return await this.#settle(this.#pick(command.pick), command.permille);
      case "stream":
        return this.#stream(this.#pick(command.pick), command.permille);
      case "vanish":
        return await this.#vanish(this.#pick(command.pick), command.permille);
      case "renew":
        return await this.#renew(command.process);
      case "crash":
        return this.#crash(command.process);
      case "sweep":
        return await this.#sweep();
      case "credit":
        return await this.#credit(command.dies);
      case "evict":
        return await this.#evict(command.process);
      case "revoke":
        return await this.#revoke(command.process);
      case "view":
        return await this.#view(command.process);
      default:
        return await this.#doToAll(command);
    }
  }

  async #doToAll(command: Exclude<Command, { pick: number } | { process: number }>): Promise<void> {
    switch (command.do) {
      case "clock":
        this.nowMs += command.ms;
        return;
      case "edge":
        this.nowMs = this.#edge(command.of) + command.ms;
        return;
      case "expire":
        this.model.touch();
        this.model.expireFree(this.nowMs);
        return await this.#actor(0).expireFree();
      case "flush":
        this.model.flush();
        return await this.deps.flush(this.account.bucket);
      case "rebuild":
        return await this.#rebuild();
      case "lose":
        return await this.#lose();
      case "resend":
        return await this.#resend();
    }
  }

  async #admit(command: Extract<Command, { do: "admit" }>): Promise<void> {
    const key = this.account.keys[command.key] ?? "";
    const id = newId("request", random);
    const scope =
      command.refusal === "insufficient_scope" ? ("mail" as const) : ("models" as const);
    const known = command.refusal === "invalid_json";
    const bound = nano(BigInt(command.nano));
    const { freeEligible, stream, tentative } = command;
    const more = { requestId: id, scope, freeEligible, stream, tentative };
    const refusal = known ? { refusal: new ApiError("invalid_json", "known before") } : {};
    const isRevoked = this.revoked && command.key === 1;
    if (isRevoked) this.model.touch();
    const expected: ModelAnswer = isRevoked
      ? { verdict: "invalid_api_key" }
      : this.model.admit(
          {
            ...{ id, key: command.key, bound, freeEligible, stream, tentative },
            refusal:
              command.refusal === "none"
                ? null
                : { code: command.refusal, first: command.refusal === "insufficient_scope" },
          },
          this.nowMs,
        );
    this.#requests.push(id);
    const answer = await this.#actor(command.process)
      .admit(ask(key, bound, { ...more, ...refusal }))
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === "invalid_api_key") return error;
        throw error;
      });
    const got = answer instanceof ApiError ? { verdict: answer.code } : plainAnswer(answer);
    this.#same(got, expected, "admit");
    if (answer instanceof ApiError || answer.verdict !== "admitted") return;
    this.#open.set(id, { hold: answer.hold as OpenHold, process: command.process });
  }

  async #settle(id: string | null, permille: number): Promise<void> {
    const mine = id === null ? undefined : this.#open.get(id);
    const call = id === null ? undefined : this.model.calls.get(id);
    if (mine === undefined || call === undefined) return;
    this.#open.delete(call.id);
    const cost = partOf(call, permille);
    const expected = this.model.settle(call, cost, this.nowMs);
    const settled = await this.#guarded(mine.hold.settle(nano(cost), DONE));
    this.#same(settled, expected, "settle");
    if (settled.charged > mine.hold.amount) throw new AuditFinding("A charge is above its hold");
  }

  #stream(id: string | null, permille: number): void {
    const mine = id === null ? undefined : this.#open.get(id);
    const call = id === null ? undefined : this.model.calls.get(id);
    if (mine !== undefined && call !== undefined)
      mine.hold.checkpoint(nano(partOf(call, permille)));
  }

  async #vanish(id: string | null, permille: number): Promise<void> {
    this.#stream(id, permille);
    await this.#renew(this.#open.get(id ?? "")?.process ?? 0);
    this.nowMs += LEASE_MS;
    await this.#sweep();
  }

  async #renew(process: number): Promise<void> {
    const mine = [...this.#open].filter(([, call]) => call.process === process);
    const streamed = new Map(mine.map(([id, { hold }]) => [id, hold.streamedCost as bigint]));
    const lost = new Set(
      this.model.here ? this.model.renew(streamed, this.nowMs) : streamed.keys(),
    );
    await this.#actor(process).renewLeases();
    for (const [id, { hold }] of mine) {
      const ends = lost.has(id) || (this.revoked && this.model.calls.get(id)?.key === 1);
      if (ends && !hold.signal.aborted) throw new AuditFinding(`Call ${id} was not told to end`);
    }
  }

  #crash(process: number): void {
    for (const [id, call] of this.#open) {
      if (call.process !== process) continue;
      this.#open.delete(id);
      this.model.calls.delete(id);
    }
    this.#actors[process] = this.#newActor();
  }

  async #sweep(): Promise<void> {
    const { keys } = this.#actor(0);
    const expected = this.model.sweep(this.nowMs).sort();
    const over = await this.deps.redis.zrangebyscore(keys.leases, "-inf", this.nowMs);
    const mine = over.filter((member) => member.startsWith(`${this.account.id}/`));
    const ids = mine.map((member) => member.slice(member.indexOf("/") + 1)).sort();
    this.#same(ids, expected, "sweep");
    for (const requestId of ids) {
      const subject = { account: this.account.id, keys, nowMs: this.nowMs };
      await this.#runner.run(sweep, { ...subject, requestId, outcome: JSON.stringify(DONE) });
    }
  }

  async #credit(dies: boolean): Promise<void> {
    if (this.model.visible < this.model.credits.length) this.model.visible += 1;
    this.repository.visible = this.model.visible;
    // The process that committed the credit may die before it tells Redis.
    if (dies) return;
    this.model.applyCredits();
    await this.#actor(0).applyCredits();
  }

  async #evict(process: number): Promise<void> {
    const wasHere = this.model.here;
    const expected = wasHere && this.model.evict(this.nowMs);
    const gone = await this.#actor(process).evict(0);
    if (wasHere) this.#same(gone, expected, "evict");
  }

  async #rebuild(): Promise<void> {
    this.model.rebuild();
    const { redis } = this.deps;
    const deps = { redis, repository: this.repository, onRecovered: () => {} };
    await verifyBuckets({ ...deps, force: { bucket: this.account.bucket } });
  }

  async #lose(): Promise<void> {
    this.model.lose();
    const { bucket, keys } = this.account;
    const { meta, leases, refused, journal } = bucketKeys(bucket);
    const { wallet, holds } = this.#actor(0).keys;
    const windows = keys.map((key) => windowKey(bucket, key));
    const answers = this.#requests.map((id) => opKey(bucket, id));
    await this.deps.redis.del(
      ...[meta, leases, refused, journal, wallet, holds, ...windows, ...answers],
      limitKey({ bucket, account: this.account.id }, "requests"),
    );
    await this.#verify();
  }

  async #revoke(process: number): Promise<void> {
    if (this.revoked) return;
    this.revoked = true;
    await this.deps.database.sql`
      WITH revoked AS (UPDATE keys SET revoked_at = now() WHERE id = ${this.account.keys[1] ?? ""})
      UPDATE accounts SET version = version + 1 WHERE id = ${this.account.id}`;
    await this.#actor(process).configure();
  }

  async #view(process: number): Promise<void> {
    this.model.touch();
    const view = await this.#actor(process).view(this.account.keys[0] ?? "");
    const isOver = this.model.freeExpiresMs > 0 && this.nowMs >= this.model.freeExpiresMs;
    const expected = {
      paid: this.model.ledger.paid - this.model.heldPaid,
      free: isOver ? 0n : this.model.freeAvailable,
      heldPaid: this.model.heldPaid,
      heldFree: this.model.heldFree,
      openStreams: this.model.streams,
    };
    const { paid, free, heldPaid, heldFree, openStreams } = view;
    this.#same({ paid, free, heldPaid, heldFree, openStreams }, expected, "view");
  }

  async #resend(): Promise<void> {
    const { again, answer } = this.#runner;
    if (again === null) return;
    const second = await again();
    if (typeof answer === "object") this.#same(second, answer, "resend");
  }

  #edge(of: "month" | "free"): number {
    const free = this.account.terms.credits[0]?.expiresAtMs;
    if (of === "free" && free !== undefined) return free ?? this.nowMs;
    const now = new Date(this.nowMs);
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  }

  #pick(pick: number): string | null {
    const ids = [...this.#open.keys()];
    return ids[pick % Math.max(1, ids.length)] ?? null;
  }

  #same(got: unknown, expected: unknown, what: string): void {
    if (Bun.deepEquals(got, expected)) return;
    throw new AuditFinding(`${what}: ${Bun.inspect(got)} instead of ${Bun.inspect(expected)}`);
  }

  #verify(): Promise<void> {
    return verifyBuckets({
      redis: this.deps.redis,
      repository: this.repository,
      onRecovered: () => {},
    });
  }

  #actor(process: number): AccountActor {
    const actor = this.#actors[process];
    if (actor === undefined) throw new Error(`There is no process ${process}`);
    return actor;
  }

  #newActor(): AccountActor {
    const deps: ActorDeps = {
      scripts: this.#runner,
      repository: this.repository,
      clock: new RedisClock(() => this.nowMs),
      scriptTime: () => this.nowMs,
      onSettleRetry: (_, error) => this.#failure.reject(error),
      allowance: nano(this.account.terms.allowance),
    };
    return new AccountActor(deps, this.account.id, this.account.bucket);
  }
}

type RealAdmission = Awaited<ReturnType<AccountActor["admit"]>>;

/** An admission in the words of the model. */
function plainAnswer(answer: RealAdmission): ModelAnswer {
  if (answer.verdict === "short") {
    return { verdict: "short", spendable: answer.funds.spendable };
  }
  const { remaining } = answer.rate;
  if (answer.verdict === "admitted") {
    const { paid, free } = (answer.hold as OpenHold).terms;
    return { verdict: "admitted", paid, free, remaining };
  }
  const { code } = answer.error;
  const spendable = answer.funds?.spendable;
  return {
    verdict: code,
    remaining,
    ...(MONEY.has(code) && spendable !== undefined ? { spendable } : {}),
  };
}

function partOf(call: ModelHold, permille: number): bigint {
  return ((call.paid + call.free) * BigInt(permille)) / 1000n;
}
