// Compares the markers of idempotency keys with a model over random lists of events in the life of
// calls: on two processes, with sweeps, late settlements, evictions and rebuilds.

import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Hold } from "../../../actors/account.ts";
import type { AccountActor } from "../../../actors/account-actor.ts";
import { markerOf } from "../../../src/core/journal/marker.ts";
import { type NanoUsd, ZERO } from "../../../src/core/money/money.ts";
import { sweepExpired } from "../../../workers/sweep.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { expectSound } from "../../support/stores/ledger-checks.ts";
import { messageIn, verdictIn } from "../../support/stores/verdicts.ts";
import {
  ask,
  DONE,
  openAccountAlone,
  openWorld,
  usd,
  type World,
} from "../../support/stores/world.ts";

const RUNS = 6;
const LENGTH = 60;
const KEYS = 3;
const BODIES = 2;
const COST = usd("0.01");
const CHECKPOINT = usd("0.004");

type Command =
  | {
      readonly do: "claim";
      readonly process: number;
      readonly key: number;
      readonly body: number;
      readonly stream: boolean;
    }
  | { readonly do: "settle"; readonly pick: number; readonly isCharged: boolean }
  | { readonly do: "sweep" | "evict" | "rebuild" | "lose" };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      process: fc.nat(1),
      key: fc.nat(KEYS - 1),
      body: fc.nat(BODIES - 1),
      stream: fc.boolean(),
    }),
    weight: 50,
  },
  {
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      pick: fc.nat(99),
      isCharged: fc.boolean(),
    }),
    weight: 30,
  },
  { arbitrary: fc.record({ do: fc.constant("sweep" as const) }), weight: 8 },
  { arbitrary: fc.record({ do: fc.constant("evict" as const) }), weight: 4 },
  { arbitrary: fc.record({ do: fc.constant("rebuild" as const) }), weight: 3 },
  { arbitrary: fc.record({ do: fc.constant("lose" as const) }), weight: 2 },
);

interface ModelCall {
  readonly hold: Hold;
  readonly key: number;
  readonly body: number;
  readonly stream: boolean;
  /** The charge of the sweep; null before it. */
  swept: NanoUsd | null;
  /** True if its wallet was rebuilt before it ended. */
  isVoid: boolean;
}

interface ModelMarker {
  readonly by: string;
  readonly body: number;
  isCharged: boolean;
}

class Lane {
  readonly #markers = new Map<number, ModelMarker>();
  readonly #open: ModelCall[] = [];
  /** The calls of each key that were charged, and their charges. */
  readonly #charged = new Map<string, NanoUsd>();
  readonly #keys = new Map<string, number>();

  constructor(
    readonly world: World,
    readonly account: TestAccount,
    readonly processes: readonly AccountActor[],
  ) {}

  async step(one: Command): Promise<void> {
    if (one.do === "claim") return await this.#claim(one);
    if (one.do === "settle") return await this.#settle(one);
    if (one.do === "sweep") return await this.#sweep();
    await this.world.flush();
    if (one.do === "evict") return void (await this.account.actor.evict(0));
    if (one.do === "rebuild") {
      await this.world.accounts.rebuild([{ bucket: this.account.row.bucket }]);
    } else {
      await this.world.redis.flushall();
    }
    for (const call of this.#open) call.isVoid = true;
    for (const [key, marker] of this.#markers) {
      if (!marker.isCharged) this.#markers.delete(key);
    }
  }

  async #claim({ process, key, body, stream }: Extract<Command, { do: "claim" }>): Promise<void> {
    const marker = markerOf("secret", {
      accountId: this.account.row.id,
      idempotencyKey: `key ${key}`,
      digest: `body ${body}`,
    });
    const asking = ask(this.account.keyId, usd("1"), { markers: [marker], stream });
    const decision = await this.processes[process]?.admit(asking);
    const before = this.#markers.get(key);
    if (decision === undefined) throw new Error(`There is no process ${process}`);
    expect(verdictIn(decision)).toBe(expectedOf(before, body));
    if (decision.verdict !== "admitted") {
      expect(messageIn(decision)).toContain(before?.by ?? "none");
      return;
    }
    const { hold } = decision;
    if (stream) hold.checkpoint(CHECKPOINT);
    this.#markers.set(key, { by: hold.id, body, isCharged: false });
    this.#keys.set(hold.id, key);
    this.#open.push({ hold, key, body, stream, swept: null, isVoid: false });
  }

  async #settle({ pick, isCharged }: Extract<Command, { do: "settle" }>): Promise<void> {
    if (this.#open.length === 0) return;
    const [call] = this.#open.splice(pick % this.#open.length, 1);
    if (call === undefined) return;
    const cost = isCharged ? COST : ZERO;
    const { charged } = await call.hold.settle(cost, DONE);
    const owner = this.#markers.get(call.key);
    const isTaken = owner !== undefined && owner.by !== call.hold.id;
    const swept = call.swept ?? ZERO;
    const more = isTaken && cost > swept ? swept : cost;
    // A call whose wallet was rebuilt keeps the charge of an earlier sweep.
    if (call.isVoid) return;
    expect(charged).toBe(more);
    this.#charge(call, charged);
    if (!isTaken) this.#end(call, charged);
  }

  async #sweep(): Promise<void> {
    await Promise.all(this.processes.map(({ deps }) => deps.leases.renew()));
    const { leases } = this.account.actor.keys;
    for (const owner of await this.world.redis.hkeys(leases)) {
      await this.world.redis.hset(leases, owner, Date.now() - 1);
    }
    await sweepExpired({ scripts: this.world.accounts.scripts });
    for (const call of this.#open) {
      if (call.swept !== null || call.isVoid) continue;
      call.swept = call.stream ? CHECKPOINT : ZERO;
      this.#charge(call, call.swept);
      this.#end(call, call.swept);
    }
  }

  #end({ key, hold, body }: ModelCall, charged: NanoUsd): void {
    if (charged > ZERO) this.#markers.set(key, { by: hold.id, body, isCharged: true });
    else if (this.#markers.get(key)?.by === hold.id) this.#markers.delete(key);
  }

  #charge({ hold }: ModelCall, charged: NanoUsd): void {
    if (charged > ZERO) this.#charged.set(hold.id, charged);
    else this.#charged.delete(hold.id);
    const keys = [...this.#charged.keys()].map((id) => this.#keys.get(id));
    expect(new Set(keys).size).toBe(keys.length);
  }
}

function expectedOf(marker: ModelMarker | undefined, body: number): string {
  if (marker === undefined) return "admitted";
  if (marker.body !== body) return "idempotency_key_mismatch";
  return marker.isCharged ? "idempotency_already_charged" : "idempotency_in_progress";
}

const world = await shared(openWorld());

test("markers follow the model, and of each key at most one call is charged", async () => {
  const runs = fc.sample(fc.array(command, { minLength: LENGTH, maxLength: LENGTH }), RUNS);
  for (const commands of runs) {
    const account = await openAccountAlone(world, { paid: "1000", contract: "enterprise" });
    const { id, bucket } = account.row;
    const lane = new Lane(world, account, [account.actor, world.process().of(id, bucket)]);
    const done: string[] = [];
    try {
      for (const one of commands) {
        done.push(JSON.stringify(one));
        await lane.step(one);
      }
    } catch (error) {
      throw new Error(`After ${done.join("\n")}`, { cause: error });
    }
    await expectSound(world, account);
  }
});
