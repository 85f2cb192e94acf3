// A process of the model test: an actor, its leases, and a client that can send the last script
// again, or run scripts with faults.

import { AccountActor } from "../../../actors/account-actor.ts";
import { ProcessLeases } from "../../../actors/process-leases.ts";
import { verifyBuckets } from "../../../actors/recovery.ts";
import { RedisClock } from "../../../actors/redis/redis-clock.ts";
import { RefusalBrake } from "../../../actors/refusal-brake.ts";
import type { RedisClient, Script } from "../../../actors/scripts/script.ts";
import type { ScriptLibrary } from "../../../actors/scripts/script-library.ts";
import { ScriptRunner } from "../../../actors/scripts/script-runner.ts";
import { newId } from "../../../src/core/ids.ts";
import { nano } from "../../../src/core/money/money.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import type { BucketCursor } from "../../../src/store/ledger/journal-cursors.ts";
import type { Database } from "../../../src/store/servers/database.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { random } from "../../support/random.ts";
import type { ModelAccount } from "./model-accounts.ts";

/** The parts that all lanes share. */
export interface LaneDeps {
  readonly redis: RedisClient;
  readonly database: Database;
  /** Moves the bucket's journal to Postgres; many lanes share one transaction. */
  readonly flush: (bucket: number) => Promise<void>;
  /** The scripts, possibly with faults. */
  readonly library: ScriptLibrary;
}

/** A repository that knows only one bucket, so that only this one is recovered. */
export class LaneRepository extends WalletRepository {
  constructor(
    database: Database,
    readonly account: ModelAccount,
  ) {
    super(database);
  }

  override recovery(recovery: Parameters<WalletRepository["recovery"]>[0]): Promise<void> {
    const mine = (cursor: BucketCursor) => cursor.bucket === this.account.bucket;
    return super.recovery({
      ...recovery,
      rebuild: (cursors, newEpochs) => recovery.rebuild(cursors.filter(mine), newEpochs),
    });
  }

  /** Lanes pass on changed access documents themselves. */
  override async *lostDocuments(): AsyncGenerator<[]> {}
}

/** Runs scripts, and can send the last one again. */
export class TappedRunner extends ScriptRunner {
  again: (() => Promise<unknown>) | null = null;
  answer: unknown = null;

  constructor(
    readonly lane: LaneDeps,
    verify: () => Promise<void>,
  ) {
    super(lane.redis, verify, { library: lane.library });
  }

  override async run<Input, Reply>(script: Script<Input, Reply>, input: Input): Promise<Reply> {
    this.again = () => super.run(script, input);
    const reply = await super.run(script, input);
    this.answer = reply;
    return reply;
  }
}

/** Compares the lane's bucket with Postgres; with `isForced` it is rebuilt in any case. */
export async function verifyBucket(
  redis: RedisClient,
  repository: LaneRepository,
  isForced: boolean,
): Promise<void> {
  const force = isForced ? { force: [{ bucket: repository.account.bucket }] } : {};
  await verifyBuckets({ redis, repository, onRecovered: () => {}, ...force });
}

export interface LaneProcess {
  readonly owner: string;
  readonly actor: AccountActor;
  readonly leases: ProcessLeases;
}

export function startProcess(options: {
  readonly scripts: ScriptRunner;
  readonly repository: LaneRepository;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
}): LaneProcess {
  const { scripts, repository, now, onFailure } = options;
  const { account } = repository;
  const owner = newId("request", random);
  const error = (facts: object) => onFailure("err" in facts ? facts.err : facts);
  const leases = new ProcessLeases({ scripts, scriptTime: now, owner, log: { ...silent, error } });
  const clock = new RedisClock(now);
  const deps = {
    scripts,
    repository,
    leases,
    clock,
    scriptTime: now,
    brake: new RefusalBrake({ scripts, clock, owner, log: { warn: error } }),
    onSettleRetry: (_: string, cause: unknown) => onFailure(cause),
    onNotKept: (_: string, cause: unknown) => onFailure(cause),
    allowance: nano(account.terms.allowance),
  };
  return { owner, leases, actor: new AccountActor(deps, account.id, account.bucket) };
}
