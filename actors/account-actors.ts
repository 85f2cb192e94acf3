// All account actors of this process: activated on first use, passivated when idle.

import { FREE_PLAN_ALLOWANCE, LEASE_RENEWAL_MS } from "../src/core/limits.ts";
import type { NanoUsd } from "../src/core/money.ts";
import type { WalletRepository } from "../src/store/wallet-repository.ts";
import type { AccountActors as Actors } from "./account.ts";
import { AccountActor, type ActorDeps } from "./account-actor.ts";
import { type RecoveryDeps, verifyBuckets } from "./recovery.ts";
import { RedisClock } from "./redis-clock.ts";
import { type RedisClient, ScriptRunner, type ScriptTime } from "./script.ts";

/** An actor without open calls is forgotten after so many renewal rounds without use. */
const IDLE_ROUNDS = 60;

export interface AccountActorsDeps {
  readonly redis: RedisClient;
  readonly repository: WalletRepository;
  readonly now: () => number;
  readonly log: {
    warn(facts: object, message: string): void;
    error(facts: object, message: string): void;
  };
  /** What the Free plan grants each month; only who admits calls needs to say it. */
  readonly allowance?: NanoUsd;
  /** Only tests give a time; scripts then believe it instead of Redis. */
  readonly scriptTime?: () => ScriptTime;
}

export class AccountActors implements Actors {
  readonly scripts: ScriptRunner;
  readonly clock: RedisClock;
  readonly #actors = new Map<string, { readonly actor: AccountActor; usedInRound: number }>();
  readonly #actorDeps: ActorDeps;
  #timer: Timer | null = null;
  #round = 0;

  constructor(readonly deps: AccountActorsDeps) {
    this.clock = new RedisClock(deps.now);
    this.scripts = new ScriptRunner(deps.redis, () => verifyBuckets(this.#recovery()));
    this.#actorDeps = {
      scripts: this.scripts,
      repository: deps.repository,
      clock: this.clock,
      scriptTime: deps.scriptTime ?? (() => ""),
      onSettleRetry: (requestId, error) =>
        deps.log.error({ requestId, err: error }, "A settlement waits for Redis"),
      allowance: deps.allowance ?? FREE_PLAN_ALLOWANCE,
    };
  }

  of(accountId: string, bucket: number): AccountActor {
    let entry = this.#actors.get(accountId);
    if (entry === undefined) {
      entry = { actor: new AccountActor(this.#actorDeps, accountId, bucket), usedInRound: 0 };
      this.#actors.set(accountId, entry);
    }
    entry.usedInRound = this.#round;
    return entry.actor;
  }

  /**
   * Puts a bucket under a new epoch, so that its wallets are built anew from Postgres. Where an
   * epoch is given and no longer in force, somebody else has done so.
   */
  async rebuild(bucket: number, epoch?: number): Promise<void> {
    const force = epoch === undefined ? { bucket } : { bucket, epoch };
    await verifyBuckets({ ...this.#recovery(), force });
  }

  /** Starts the renewal of leases; `stop` ends it. */
  start(): void {
    this.#timer = setInterval(() => void this.renewLeases(), LEASE_RENEWAL_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** One round: renews every open call's lease, and forgets actors that nobody used for long. */
  async renewLeases(): Promise<void> {
    this.#round += 1;
    const rounds = [...this.#actors].map(async ([accountId, entry]) => {
      if (entry.actor.openHolds.size === 0) {
        if (this.#round - entry.usedInRound > IDLE_ROUNDS) this.#actors.delete(accountId);
        return;
      }
      await entry.actor
        .renewLeases()
        .catch((error) =>
          this.deps.log.error({ accountId, err: error }, "Leases were not renewed"),
        );
    });
    await Promise.all(rounds);
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

  /** The calls of this process that hold money now. */
  get openCalls(): number {
    let calls = 0;
    for (const { actor } of this.#actors.values()) calls += actor.openHolds.size;
    return calls;
  }
}
