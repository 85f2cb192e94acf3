// `bun bench/redis-clients.ts` compares the cost of a script call for this process with each of the
// two Redis clients, in turn on one server. The calls look like an admission: a few keys, one
// packed argument, one packed reply.

import { Redis } from "ioredis";
import { RespClient } from "../actors/redis/resp-client.ts";
import { IoredisScriptClient, type ScriptClient } from "../actors/redis/script-client.ts";
import { makeHome } from "../scripts/local/home.mjs";
import { temporaryFolder } from "../scripts/local/processes.mjs";
import { startRedis } from "../scripts/local/redis.mjs";
import { middle, turnsOf } from "./rounds.ts";

const LIBRARY = `#!lua name=bench
redis.register_function('bench', function(KEYS, ARGV)
  redis.call('SET', KEYS[1], ARGV[1])
  return { 'ok', ARGV[1] }
end)`;
const ROUNDS = 9;
const ROUND_CALLS = 20_000;
const WARM_UP_CALLS = 30_000;
const AT_ONCE = [64, 8, 1];

const KEYS = ["wallet:acct_0123456789", "state:key_0123456789", "holds:process", "journal"].map(
  (name) => `{b17}:${name}`,
);
const ARGS = [Buffer.alloc(120, 7), "req_0123456789abcdefghijkl", "/v1/chat/completions"];

interface Measured {
  readonly name: string;
  readonly client: ScriptClient;
}

await using cleanup = new AsyncDisposableStack();
const folder = temporaryFolder("farebox-bench-redis-");
cleanup.defer(() => folder.remove());
makeHome(folder.path);
const server = await startRedis({ home: folder.path });
cleanup.defer(() => server.stop());
const redis = new Redis(server.url, { enableAutoPipelining: true, commandTimeout: 5_000 });
cleanup.defer(() => redis.disconnect());
const resp = new RespClient({ url: server.url, commandTimeoutMs: 5_000, connectTimeoutMs: 3_000 });
cleanup.defer(() => resp.close());
await redis.function("LOAD", LIBRARY);
const clients: readonly Measured[] = [
  { name: "ioredis", client: new IoredisScriptClient(redis) },
  { name: "RespClient", client: resp },
];

for (const { client } of clients) await run(client, WARM_UP_CALLS, 64);
console.log("at once  client        CPU us/call    calls/s    to ioredis (median of rounds)");
for (const atOnce of AT_ONCE) await measure(atOnce);

async function measure(atOnce: number): Promise<void> {
  const figures = new Map(clients.map(({ name }) => [name, { cpuUs: [0], perSecond: [0] }]));
  for (const series of figures.values()) {
    series.cpuUs.length = 0;
    series.perSecond.length = 0;
  }
  const calls = atOnce === 1 ? ROUND_CALLS / 4 : ROUND_CALLS;
  for (const { contestant } of turnsOf(clients, ROUNDS)) {
    const { cpuUs, perSecond } = await run(contestant.client, calls, atOnce);
    figures.get(contestant.name)?.cpuUs.push(cpuUs);
    figures.get(contestant.name)?.perSecond.push(perSecond);
  }
  const base = figures.get("ioredis")?.cpuUs ?? [];
  for (const [name, { cpuUs, perSecond }] of figures) {
    const ratios = cpuUs.map((value, round) => value / (base[round] ?? Number.NaN));
    const cells = [
      String(atOnce).padStart(7),
      name.padEnd(12),
      middle(cpuUs).toFixed(1).padStart(12),
      middle(perSecond).toFixed(0).padStart(10),
      middle(ratios).toFixed(2).padStart(10),
    ];
    console.log(cells.join("  "));
  }
}

async function run(client: ScriptClient, calls: number, atOnce: number) {
  let left = calls;
  const worker = async () => {
    while (left-- > 0) {
      await new Promise((resolve, reject) =>
        client.fcall("bench", KEYS, ARGS, { resolve, reject }),
      );
    }
  };
  const startMs = performance.now();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: atOnce }, worker));
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startMs) / 1000;
  return { cpuUs: (user + system) / calls, perSecond: calls / seconds };
}
