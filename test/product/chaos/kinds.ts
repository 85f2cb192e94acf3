// Lists the kinds of chaos, and the amount of each, for CI and for longer runs by a person.

import { anySeed, Random } from "../../support/random.ts";
import { fuzzConsole } from "../fuzz/console-fuzz.ts";
import { fuzz } from "../fuzz/fuzz.ts";
import { cutAof } from "./aof-cuts.ts";
import { troubleCluster } from "./cluster.ts";
import { type ChaosOptions, killGateways } from "./gateway-kills.ts";
import { killKeyedCalls } from "./keyed-kills.ts";
import { killMailWorkers } from "./mail-kills.ts";
import { pauseGateway } from "./paused-process.ts";
import { failPostgresOver } from "./postgres-failover.ts";
import { takePostgresAway } from "./postgres-outage.ts";
import { killRedis } from "./redis-kills.ts";
import { drillRestore } from "./restore-drill.ts";
import { killRunCalls } from "./run-kills.ts";
import { failOver } from "./sentinel.ts";
import { killStreams } from "./stream-kills.ts";
import { killWebhookWorkers } from "./webhook-kills.ts";

export interface Kind {
  /** The unit of `times`. */
  readonly counts: string;
  readonly quick: number;
  readonly long: number;
  readonly run: (options: ChaosOptions) => Promise<void>;
}

export const KINDS = {
  gateway: { counts: "kills", quick: 20, long: 500, run: killGateways },
  streams: { counts: "kills", quick: 5, long: 100, run: killStreams },
  keyed: { counts: "rounds", quick: 1, long: 20, run: killKeyedCalls },
  runs: { counts: "kills", quick: 2, long: 50, run: killRunCalls },
  redis: { counts: "kills", quick: 10, long: 200, run: killRedis },
  cuts: { counts: "cuts", quick: 50, long: 500, run: cutAof },
  mail: { counts: "kills", quick: 10, long: 200, run: killMailWorkers },
  webhooks: { counts: "rounds", quick: 1, long: 20, run: killWebhookWorkers },
  pause: { counts: "seconds", quick: 2, long: 600, run: pauseGateway },
  postgres: { counts: "seconds", quick: 4, long: 600, run: takePostgresAway },
  cluster: { counts: "kills and moves", quick: 5, long: 60, run: troubleCluster },
  sentinel: { counts: "failovers", quick: 2, long: 20, run: failOver },
  restore: { counts: "seconds", quick: 4, long: 600, run: drillRestore },
  failover: { counts: "seconds", quick: 3, long: 60, run: failPostgresOver },
  fuzz: { counts: "requests", quick: 20_000, long: 100_000, run: fuzz },
  console: { counts: "requests", quick: 1_000, long: 50_000, run: fuzzConsole },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

/** Runs one kind this many times; the same seed makes the same choices. */
export async function runChaos(
  name: KindName,
  times: number,
  { seed = anySeed(), say = console.log as (line: string) => void } = {},
): Promise<void> {
  const startMs = performance.now();
  try {
    await KINDS[name].run({ times, random: new Random(seed), say });
  } catch (error) {
    throw new Error(`Chaos '${name}' failed; again with --only ${name} --seed ${seed}`, {
      cause: error,
    });
  }
  say(`  ${((performance.now() - startMs) / 1_000).toFixed(1)} s, seed ${seed}`);
}
