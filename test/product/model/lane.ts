// One bucket of the real stores, and the model of one account in it. Both run the same commands;
// after each command they must agree in everything.

import type { AccountActor } from "../../../actors/account-actor.ts";
import { DETACHED_LEASE_MS, renewDetached, settleDetached } from "../../../actors/detached-hold.ts";
import type { OpenHold } from "../../../actors/open-hold.ts";
import {
  bucketKeys,
  holdsKey,
  keyStateKey,
  limitKey,
  MAIL_OWNER,
  opKey,
} from "../../../actors/records/keys.ts";
import { forgetEnded, sweep } from "../../../actors/scripts/call-scripts.ts";
import { forgetOwner } from "../../../actors/scripts/lease-scripts.ts";
import { LEASE_MS } from "../../../src/core/access/limits.ts";
import { ApiError } from "../../../src/core/errors.ts";
import { newId } from "../../../src/core/ids.ts";
import { outcomeText } from "../../../src/core/journal/journal.ts";
import { nano } from "../../../src/core/money/money.ts";
import { random } from "../../support/random.ts";
import { ask, DONE } from "../../support/stores/world.ts";
import type { Command, OperationCommand } from "./commands.ts";
import { Inspector } from "./inspector.ts";
import {
  type LaneDeps,
  type LaneProcess,
  LaneRepository,
  startProcess,
  TappedRunner,
  verifyBucket,
} from "./lane-process.ts";
import { insertOperations, type ModelAccount, rowOf } from "./model-accounts.ts";
import { ModelPayments } from "./model-payments.ts";
import type { ModelAnswer, ModelCall, ModelHold } from "./model-types.ts";
import { WalletModel } from "./wallet-model.ts";

/** The first difference between a wallet and its model. */
export class Difference extends Error {
  override readonly name = "Difference";
}

const MONEY: ReadonlySet<string> = new Set([
  "key_budget_exceeded",
  "monthly_limit_reached",
  "insufficient_credits",
]);

export class Lane {
  readonly model: WalletModel;
  readonly repository: LaneRepository;
  readonly #payments = new ModelPayments();
  readonly #runner: TappedRunner;
  readonly #processes: LaneProcess[] = [];
  /** The open holds of the model's calls as their owners see them, and the process of each. */
  readonly #open = new Map<string, { readonly hold: OpenHold; readonly process: number }>();
  readonly #failure = Promise.withResolvers<never>();
  readonly #requests: string[] = [];
  readonly #owners = new Set<string>();
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
    this.repository = new LaneRepository(deps.database, account);
    this.#runner = new TappedRunner(deps, () => verifyBucket(deps.redis, this.repository, false));
    this.#inspector = new Inspector(deps.redis, account, this.model, () => this.nowMs);
    this.#failure.promise.catch(() => {});
    for (const process of [0, 1]) this.#processes[process] = this.#startProcess();
  }

  /** Runs one command on both and compares them. Throws the first difference, or a failure. */
  async step(command: Command): Promise<void> {
    await this.#guarded(this.#do(command));
    await this.#inspector.compare(command.do);
  }

  /** Ends every call: owners settle theirs, the sweep the rest. Then the journal is flushed. */
  async finish(): Promise<void> {
    for (const id of [...this.#open.keys()]) await this.#guarded(this.#settle(id, 500));
    const ends = [...this.model.holds.values()].map((hold) => this.model.endOf(hold) ?? 0);
    const { leases } = bucketKeys(this.account.bucket);
    // After a rebuild, Redis still has leases for holds that the model no longer has.
    const kept = Object.entries(await this.deps.redis.hgetall(leases))
      .filter(([owner]) => this.#owners.has(owner))
      .map(([, endMs]) => Number(endMs));
    this.nowMs = Math.max(this.nowMs, ...ends, ...this.model.leases.values(), ...kept);
    for (const command of ["sweep", "flush"] as const) await this.step({ do: command });
    this.model.applyOperations();
    await this.#actor(0).applyOperations();
    await this.#inspector.compare("finish");
    await this.step({ do: "flush" });
    if (this.model.holds.size > 0) throw new Difference("A hold outlived the run");
    const left = await this.deps.redis.hkeys(leases);
    if (left.some((owner) => this.#owners.has(owner))) {
      throw new Difference("A lease outlived the run");
    }
  }

  #guarded<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failure.promise]);
  }

  async #do(command: Command): Promise<void> {
    // A client repeats a script at once; after another command it is not repeated.
    if (command.do !== "resend") this.#runner.again = null;
    if ("dies" in command) return await this.#operate(command);
    switch (command.do) {
      case "admit":
        return await this.#admit(command);
      case "settle":
        return await this.#settle(this.#pick(command.pick), command.permille);
      case "stream":
        this.#stream(this.#pick(command.pick), command.permille);
        return;
      case "vanish":
        return await this.#vanish(this.#pick(command.pick), command.permille);
      case "renew":
        return await this.#renew(command.process);
      case "crash":
        this.#crash(command.process);
        return;
      case "evict":
        return await this.#evict(command.process);
      case "revoke":
        return await this.#revoke(command.process);
      case "suspend":
        return await this.#suspend(command.process);
      case "view":
        return await this.#view(command.process);
      default:
        return await this.#doToAll(command);
    }
  }

  async #doToAll(
    command: Exclude<Command, { pick: number } | { process: number } | OperationCommand>,
  ): Promise<void> {
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
        await this.#actor(0).expireFree(this.nowMs);
        return;
      case "extend":
        return await this.#extend();
      case "sweep":
        return await this.#sweep();
      case "forget":
        this.model.forgetOwners(this.nowMs);
        return await this.#forgetOwners();
      case "flush":
        this.model.flush();
        return await this.deps.flush(this.account.bucket);
      case "rebuild":
        this.model.rebuild();
        return await verifyBucket(this.deps.redis, this.repository, true);
      case "lose":
        return await this.#lose();
      case "resend":
        return await this.#resend();
    }
  }

  /** One request, in as many tries as the product makes. */
  async #admit(command: Extract<Command, { do: "admit" }>): Promise<void> {
    const { key, stream, tentative, ahead, goesOn } = command;
    const id = newId("request", random);
    this.#requests.push(id);
    const isUnscoped = command.refusal === "insufficient_scope";
    const bound = BigInt(command.nano);
    const owner = command.detached ? MAIL_OWNER : this.#process(command.process).owner;
    const refusal =
      command.refusal === "none" ? null : { code: command.refusal, first: isUnscoped };
    const deadlineMs = command.detached ? LEASE_MS : null;
    const whole = { id, key, bound, stream, tentative, owner, deadlineMs, refusal };
    const call = { ...whole, freeEligible: command.freeEligible, isCounted: ahead, isAhead: false };
    if (ahead) {
      const known = isUnscoped ? refusal : null;
      const nothing = { bound: 0n, stream: false, tentative: false, deadlineMs: null };
      const first = { ...call, ...nothing, freeEligible: true, isCounted: false, isAhead: true };
      const counted = await this.#try(command, { ...first, refusal: known });
      if (counted.verdict !== "short") return;
      if (!goesOn) {
        // The answer was lost: the code that refuses the body does not know that the request was
        // counted.
        if (refusal !== null) await this.#try(command, call, false);
        return;
      }
    }
    const { verdict, spendable = 0n } = await this.#try(command, call);
    if (verdict !== "short" || !goesOn) return;
    const tight = spendable > 0n && spendable < bound ? spendable : bound;
    await this.#try(command, { ...call, bound: tight, tentative: false, isCounted: true });
  }

  async #try(
    command: Extract<Command, { do: "admit" }>,
    call: ModelCall,
    counted = call.isCounted,
  ): Promise<ModelAnswer> {
    const { id, key, freeEligible, stream, tentative, isAhead } = call;
    const isRevoked = this.revoked && key === 1;
    if (isRevoked) this.model.touch();
    const expected: ModelAnswer = isRevoked
      ? { verdict: "invalid_api_key" }
      : this.model.admit(call, this.nowMs);
    const asked = ask(this.account.keys[key] ?? "", nano(call.bound), {
      requestId: id,
      freeEligible,
      stream,
      tentative,
      isAhead,
      counted,
      isDetached: call.deadlineMs !== null,
      isBrief: isAhead,
      scope: command.refusal === "insufficient_scope" ? "mail" : "models",
      ...(call.refusal?.first === false && {
        refusal: new ApiError("invalid_json", "known before"),
      }),
    });
    const answer = await this.#actor(command.process)
      .admit(asked)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === "invalid_api_key") return error;
        throw error;
      });
    const got = answer instanceof ApiError ? { verdict: answer.code } : plainAnswer(answer);
    this.#same(got, expected, "admit");
    if (answer instanceof ApiError || answer.verdict !== "admitted") return got;
    const hold = answer.hold as OpenHold;
    if (call.deadlineMs !== null) hold.detach();
    this.#open.set(id, { hold, process: command.process });
    return got;
  }

  async #settle(id: string | null, permille: number): Promise<void> {
    const mine = id === null ? undefined : this.#open.get(id);
    const call = id === null ? undefined : this.model.calls.get(id);
    if (mine === undefined || call === undefined) return;
    this.#open.delete(call.id);
    const cost = nano(partOf(call, permille));
    const expected = this.model.settle(call, cost, this.nowMs);
    const { hold } = mine;
    const settled = await this.#guarded(
      call.owner === MAIL_OWNER
        ? settleDetached(this.#actor(0), hold.detached, { cost, outcome: DONE })
        : hold.settle(cost, DONE),
    );
    this.#same(settled, expected, "settle");
    if (settled.charged > hold.amount) throw new Difference("A charge is above its hold");
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
    const { leases, owner } = this.#process(process);
    const mine = [...this.#open].filter(([id, call]) => {
      return call.process === process && this.model.calls.get(id)?.owner === owner;
    });
    if (mine.length === 0) return;
    const streams = mine.filter(([, { hold }]) => hold.isStream || hold.streamedCost > 0n);
    const streamed = new Map(streams.map(([id, { hold }]) => [id, hold.streamedCost as bigint]));
    const lost = new Set(this.model.renew(owner, streamed, this.nowMs));
    await leases.renew();
    // After a change of its document the process reads the account, which may hydrate its wallet.
    if (!this.model.here && (await this.#isHere())) this.model.touch();
    for (const [id, { hold }] of mine) {
      const isBarred = this.model.isSuspended || (this.revoked && this.#keyOf(id) === 1);
      if ((lost.has(id) || isBarred) && !hold.signal.aborted) {
        throw new Difference(`Call ${id} was not told to end`);
      }
    }
  }

  #crash(process: number): void {
    const { owner } = this.#process(process);
    for (const [id, call] of this.#open) {
      // Holds that belong to no process survive its crash.
      if (call.process !== process || this.model.calls.get(id)?.owner !== owner) continue;
      this.#open.delete(id);
      this.model.calls.delete(id);
    }
    this.#processes[process] = this.#startProcess();
  }

  async #extend(): Promise<void> {
    const mine = [...this.model.holds.values()].filter(({ owner }) => owner === MAIL_OWNER);
    this.model.extend(this.nowMs, DETACHED_LEASE_MS);
    await renewDetached(
      this.#actor(0),
      mine.map(({ id }) => id),
    );
  }

  async #sweep(): Promise<void> {
    const holds = await this.#inspector.holdsToSweep();
    const ids = holds.flatMap(({ requestId, verdict }) => (verdict === "ok" ? requestId : []));
    this.#same(ids.toSorted(), this.model.ended(this.nowMs).sort(), "sweep");
    this.model.sweep(this.nowMs, ids);
    const { keys } = this.#actor(0);
    const subject = { account: this.account.id, keys, nowMs: this.nowMs };
    // Live holds are tried too: a lease may be renewed after the sweep has read it.
    for (const { verdict, ...hold } of holds) {
      const sweeping = { ...subject, ...hold, outcome: outcomeText(DONE) };
      this.#same(await this.#runner.run(sweep, sweeping), verdict, "sweep of a hold");
    }
    await this.#forgetOwners();
  }

  async #forgetOwners(): Promise<void> {
    const keys = bucketKeys(this.account.bucket);
    for (const owner of await this.deps.redis.hkeys(keys.leases)) {
      if (!this.#owners.has(owner)) continue;
      // Open holds are named too, and must stay.
      const requestIds = await this.deps.redis.hkeys(holdsKey(keys.number, owner));
      const ended = { keys, owner, requestIds, ownerMayReturn: true };
      if (requestIds.length > 0) await this.#runner.run(forgetEnded, ended);
      await this.#runner.run(forgetOwner, { nowMs: this.nowMs, keys, owner });
    }
  }

  async #operate(command: OperationCommand): Promise<void> {
    const operations = this.model.commit(
      this.#payments.operationsOf(command, this.nowMs),
      this.nowMs,
    );
    const rows = operations.map((operation) => rowOf(this.account.number, operation));
    if (rows.length > 0) await insertOperations(this.deps.database, rows);
    // The process may die after it commits to Postgres and before it informs Redis.
    if (command.dies) return;
    this.model.applyOperations();
    await this.#actor(0).applyOperations();
  }

  async #evict(process: number): Promise<void> {
    const wasHere = this.model.here;
    const expected = wasHere && this.model.evict(this.nowMs);
    const gone = await this.#actor(process).evict(0);
    if (wasHere) this.#same(gone, expected, "evict");
    if (gone) this.model.forgetWindows(this.nowMs);
  }

  async #lose(): Promise<void> {
    this.model.lose();
    const { redis } = this.deps;
    const { bucket, keys } = this.account;
    const { number: _, ...ofBucket } = bucketKeys(bucket);
    const { wallet, document } = this.#actor(0).keys;
    const holds = await redis.keys(`{b${bucket}}:holds:*`);
    await redis.del(
      ...Object.values(ofBucket),
      wallet,
      document,
      ...holds,
      ...keys.map((key) => keyStateKey(bucket, key)),
      ...this.#requests.map((id) => opKey(bucket, id)),
      limitKey({ bucket, account: this.account.id }, "requests"),
    );
    await verifyBucket(redis, this.repository, false);
  }

  async #revoke(process: number): Promise<void> {
    if (this.revoked) return;
    this.revoked = true;
    await this.deps.database.sql`
      WITH revoked AS (UPDATE keys SET revoked_at = now() WHERE id = ${this.account.keys[1] ?? ""})
      UPDATE accounts SET version = version + 1 WHERE id = ${this.account.id}`;
    await this.#actor(process).configure();
  }

  async #suspend(process: number): Promise<void> {
    this.model.isSuspended = !this.model.isSuspended;
    const state = this.model.isSuspended ? "suspended" : "active";
    await this.deps.database.sql`
      UPDATE accounts SET version = version + 1, state = ${state} WHERE id = ${this.account.id}`;
    await this.#actor(process).configure();
  }

  async #view(process: number): Promise<void> {
    this.model.touch();
    const view = await this.#actor(process).view(this.account.keys[0] ?? "");
    const expected = {
      paid: this.model.paidAvailable,
      free: this.model.free.usable(this.model.freeAvailable, this.nowMs),
      heldPaid: this.model.heldPaid,
      heldFree: this.model.heldFree,
      owed: this.model.ledger.owed,
      openStreams: this.model.streams,
      openCalls: this.model.openCalls,
    };
    const { paid, free, heldPaid, heldFree, owed, openStreams, openCalls } = view;
    this.#same({ paid, free, heldPaid, heldFree, owed, openStreams, openCalls }, expected, "view");
  }

  async #resend(): Promise<void> {
    const { again, answer } = this.#runner;
    if (again === null) return;
    const second = await again();
    if (typeof answer === "object") this.#same(second, answer, "resend");
  }

  async #isHere(): Promise<boolean> {
    return (await this.deps.redis.exists(this.#actor(0).keys.wallet)) === 1;
  }

  #keyOf(id: string): number | undefined {
    return this.model.calls.get(id)?.key;
  }

  #edge(of: "month" | "free"): number {
    const ends = [...this.model.free.earlier.map(({ atMs }) => atMs), this.model.free.lastMs];
    const next = ends.find((atMs) => atMs > this.nowMs) ?? ends.at(-1) ?? 0;
    if (of === "free" && next > 0) return next;
    const now = new Date(this.nowMs);
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  }

  #pick(pick: number): string | null {
    const ids = [...this.#open.keys()];
    return ids[pick % Math.max(1, ids.length)] ?? null;
  }

  #same(got: unknown, expected: unknown, what: string): void {
    if (Bun.deepEquals(got, expected)) return;
    throw new Difference(`${what}: ${Bun.inspect(got)} instead of ${Bun.inspect(expected)}`);
  }

  #process(index: number): LaneProcess {
    const process = this.#processes[index];
    if (process === undefined) throw new Error(`There is no process ${index}`);
    return process;
  }

  #actor(index: number): AccountActor {
    return this.#process(index).actor;
  }

  #startProcess(): LaneProcess {
    const process = startProcess({
      scripts: this.#runner,
      repository: this.repository,
      now: () => this.nowMs,
      onFailure: (error) => this.#failure.reject(error),
    });
    this.#owners.add(process.owner);
    return process;
  }
}

type RealAdmission = Awaited<ReturnType<AccountActor["admit"]>>;

/** An admission as the model describes it. */
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
