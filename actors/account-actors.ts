// Keeps all account actors of this process: they are created on first use, and dropped when idle.

import { CHECKPOINT_MS, FREE_PLAN_ALLOWANCE, LEASE_RENEWAL_MS } from "../src/core/access/limits.ts";
import type { Log } from "../src/core/log.ts";
import type { NanoUsd } from "../src/core/money/money.ts";
import { Turns } from "../src/core/turns.ts";
import type { WalletRepository } from "../src/store/accounts/wallet-repository.ts";
import type { AccountActors as Actors } from "./account.ts";
import { AccountActor, type ActorDeps } from "./account-actor.ts";
import { announceProcess, retractProcess } from "./layout-upgrade.ts";
import { ProcessLeases } from "./process-leases.ts";
import { type ForcedRebuild, type RecoveryDeps, verifyBuckets } from "./recovery.ts";
import { freshFiles } from "./redis/append-only-file.ts";
import { RedisClock } from "./redis/redis-clock.ts";
import { RefusalBrake } from "./refusal-brake.ts";
import type { RedisClient, ScriptTime } from "./scripts/script.ts";
import { SCRIPT_LIBRARY, type ScriptLibrary } from "./scripts/script-library.ts";
import type { ScriptTiming } from "./scripts/script-run.ts";
import { type OpenScriptClient, ScriptRunner } from "./scripts/script-runner.ts";
import type { TopUpListener } from "./top-up-trigger.ts";

/** An actor without open calls is dropped after this many renewal rounds without use. */
const IDLE_ROUNDS = 60;
/**
 * The number of turns in which the costs of streams are counted and stored: all streams at once
 * would hold up every other call. A turn has whole buckets, because the texts of an account are
 * counted together (D-594).
 */
const CHECKPOINT_TURNS = 8;
/** With more actors, the oldest without open calls is dropped; it is made again when it is used. */
export const ACTORS_MAX = 50_000;

export interface AccountActorsDeps {
  readonly redis: RedisClient;
  readonly repository: WalletRepository;
  readonly now: () => number;
  readonly log: Pick<Log, "warn" | "error">;
  /**
   * Names this process in Redis. The name is random, because two processes must never share a name.
   */
  readonly processId: string;
  /**
   * Opens a separate client that runs the scripts. Without it, `redis` runs the scripts, as a
   * Cluster or Sentinel requires.
   */
  readonly openScripts?: OpenScriptClient;
  /** Checks automatic top-ups; without it no account is topped up. */
  readonly topUps?: TopUpListener;
  /** The monthly grant of the Free plan; needed only by a process that admits calls. */
  readonly allowance?: NanoUsd;
  /** Receives the duration of each script. */
  readonly timing?: ScriptTiming;
  /** Only tests set it; scripts then use this time instead of Redis's. */
  readonly scriptTime?: () => ScriptTime;
  /** A library with changed scripts, for tests. */
  readonly library?: ScriptLibrary | undefined;
}

export class AccountActors implements Actors {
  readonly scripts: ScriptRunner;
  readonly clock: RedisClock;
  readonly leases: ProcessLeases;
  readonly #brake: RefusalBrake;
  readonly #actors = new Map<string, { readonly actor: AccountActor; usedInRound: number }>();
  readonly #actorDeps: ActorDeps;
  #timers: readonly Timer[] = [];
  /** The version of the configuration that this process runs; null if it uses none. */
  #configuration: () => number | null = () => null;
  #round = 0;
  /** The turns of the buckets whose streams are counted. */
  readonly #turns: Turns;

  constructor(readonly deps: AccountActorsDeps) {
    const scriptTime = deps.scriptTime ?? (() => 0);
    this.clock = new RedisClock(deps.now);
    this.#turns = new Turns({ everyMs: CHECKPOINT_MS, count: CHECKPOINT_TURNS, now: deps.now });
    const haveFreshFiles = freshFiles(deps);
    const verify = async () => {
      await haveFreshFiles();
      await verifyBuckets(this.#recovery());
    };
    const { library = SCRIPT_LIBRARY } = deps;
    this.scripts = new ScriptRunner(deps.redis, verify, {
      library,
      openClient: deps.openScripts,
      timing: deps.timing,
      onUnknownLayout: (error) => deps.log.error({ err: error }, "Calls are refused"),
    });
    const { scripts } = this;
    this.leases = new ProcessLeases({ scripts, scriptTime, owner: deps.processId, log: deps.log });
    const { processId: owner, log } = deps;
    this.#brake = new RefusalBrake({ scripts, clock: this.clock, owner, log });
    this.#actorDeps = {
      brake: this.#brake,
      scripts,
      repository: deps.repository,
      clock: this.clock,
      leases: this.leases,
      scriptTime,
      onSettleRetry: (requestId, error) =>
        deps.log.error({ requestId, err: error }, "A settlement waits for Redis"),
      onNotKept: (requestId, error) =>
        deps.log.error({ requestId, err: error }, "A settlement is only in memory"),
      allowance: deps.allowance ?? FREE_PLAN_ALLOWANCE,
      ...(deps.topUps !== undefined && { topUps: deps.topUps }),
    };
  }

  of(accountId: string, bucket: number): AccountActor {
    let entry = this.#actors.get(accountId);
    if (entry === undefined) {
      if (this.#actors.size >= ACTORS_MAX) this.#dropOldest();
      entry = { actor: new AccountActor(this.#actorDeps, accountId, bucket), usedInRound: 0 };
      this.#actors.set(accountId, entry);
    }
    entry.usedInRound = this.#round;
    return entry.actor;
  }

  #dropOldest(): void {
    for (const [accountId, { actor }] of this.#actors) {
      if (actor.openCalls > 0) continue;
      this.#actors.delete(accountId);
      return;
    }
  }

  /**
   * Puts buckets under new epochs; their wallets are then rebuilt from Postgres. If `epoch` is
   * given but no longer in force, another process has already done this, and nothing happens.
   */
  async rebuild(force: readonly ForcedRebuild[]): Promise<void> {
    await verifyBuckets({ ...this.#recovery(), force });
  }

  /**
   * Starts the renewal of leases and the checkpoints of streams; `stop` ends them. `configuration`
   * is announced to others.
   */
  start(configuration: () => number | null = () => null): void {
    this.#configuration = configuration;
    const renewal = setInterval(() => {
      void this.renewLeases();
      void this.#announce();
    }, LEASE_RENEWAL_MS);
    const saving = setInterval(() => {
      // A late timer also stores the buckets of the turns that it missed.
      void this.leases.saveCosts(this.#turns.due());
    }, CHECKPOINT_MS / CHECKPOINT_TURNS);
    this.#timers = [renewal, saving];
    void this.#announce();
  }

  /** Resolves when Redis knows that this process has ended, or could not be told. */
  async stop(): Promise<void> {
    if (this.#timers.length === 0) return;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    await Promise.all([this.#brake.flush(), this.#notify(retractProcess)]);
  }

  /** Reports the release of this process to `farebox migrate --finish` and operators. */
  #announce(): Promise<void> {
    return this.#notify((redis, id) => announceProcess(redis, id, this.#configuration()));
  }

  async #notify(send: typeof retractProcess): Promise<void> {
    const { redis, processId, log } = this.deps;
    await send(redis, processId).catch((error) =>
      log.warn({ err: error }, "Redis was not told whether this process serves"),
    );
  }

  /** One round: renews the leases of this process, and drops actors that were idle for long. */
  async renewLeases(): Promise<void> {
    this.#round += 1;
    for (const [accountId, { actor, usedInRound }] of this.#actors) {
      const isIdle = actor.openCalls === 0 && this.#round - usedInRound > IDLE_ROUNDS;
      if (isIdle) this.#actors.delete(accountId);
    }
    await this.leases.renew();
    await this.#brake.flush();
  }

  #recovery(): RecoveryDeps {
    const { redis, repository, log } = this.deps;
    return {
      redis,
      repository,
      onRecovered: (buckets) =>
        log.warn({ buckets: buckets.length }, "Redis was new or older than Postgres: rebuilt"),
    };
  }

  refusesUnread(keyId: string): boolean {
    return this.#brake.refusesUnread(keyId);
  }

  /** The calls of this process that hold money now. */
  get openCalls(): number {
    return this.leases.openCalls;
  }
}
