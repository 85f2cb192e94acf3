// Runs a master with two replicas and three Sentinels, on this machine.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import {
  type Child,
  freePort,
  launch,
  temporaryFolder,
} from "../../../scripts/local/processes.mjs";
import { startRedis } from "../../../scripts/local/redis.mjs";
import { ensureRedis } from "../../../scripts/local/redis-programs.mjs";
import { eventually } from "../eventually.ts";

const NAME = "farebox";
const SENTINELS = 3;
const SERVERS = 3;
const DOWN_AFTER_MS = 1_000;
const WITHIN_MS = 60_000;

export interface Sentinels extends AsyncDisposable {
  /** For REDIS_URL. */
  readonly url: string;
  /** Asks a Sentinel which server is the master: its index. */
  master(): Promise<number>;
  kill9(index: number): Promise<void>;
  /** Freezes a server, like a machine that hangs. */
  hang(index: number): void;
  resume(index: number): void;
  /** Starts a server again on its port and data; Sentinel makes it a replica. */
  restart(index: number): Promise<void>;
  /** Resolves when every server but the master replicates it and has all of its data. */
  inSync(): Promise<void>;
}

/** Starts all six processes, with the settings that docs/operating.md asks for. */
export async function startSentinels(): Promise<Sentinels> {
  await using resources = new AsyncDisposableStack();
  const folder = temporaryFolder("farebox-test-sentinels-");
  resources.defer(() => folder.remove());
  const first = await freePort();
  const servers: Awaited<ReturnType<typeof startRedis>>[] = [];
  const start = async (index: number, port: number) => {
    const home = join(folder.path, `server-${index}`);
    mkdirSync(join(home, "logs"), { recursive: true });
    const replica = index === 0 ? {} : { replicaof: `127.0.0.1 ${first}` };
    const settings = {
      "min-replicas-to-write": "1",
      "min-replicas-max-lag": "2",
      "repl-ping-replica-period": "1",
      "repl-diskless-sync-delay": "0",
      ...replica,
    };
    return await startRedis({ home, port, password: false, settings });
  };
  for (let index = 0; index < SERVERS; index += 1) {
    servers.push(await start(index, index === 0 ? first : await freePort()));
  }
  resources.defer(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });
  const ports: number[] = [];
  for (let index = 0; index < SENTINELS; index += 1) {
    const port = await freePort();
    const sentinel = await startSentinel(join(folder.path, `sentinel-${index}`), port, first);
    resources.defer(() => sentinel.stop());
    ports.push(port);
  }
  const serverPorts = servers.map(({ port }) => port);
  const inSync = () => untilInSync(ports[0] ?? 0, serverPorts);
  await eventually("the Sentinels know each other", () => knowEachOther(ports), WITHIN_MS);
  await inSync();
  const kept = resources.move();
  const signal = (name: "SIGSTOP" | "SIGCONT", index: number) => {
    process.kill(servers[index]?.child.record.pid ?? 0, name);
  };
  return {
    url: `redis+sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(",")}/${NAME}`,
    master: () => masterOf(ports[0] ?? 0, serverPorts),
    kill9: async (index) => await servers[index]?.child.kill9(),
    hang: (index) => signal("SIGSTOP", index),
    resume: (index) => signal("SIGCONT", index),
    restart: async (index) => {
      const server = servers[index];
      if (server !== undefined) servers[index] = await start(index, server.port);
    },
    inSync,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function startSentinel(home: string, port: number, master: number): Promise<Child> {
  const { server } = await ensureRedis(() => {});
  mkdirSync(home, { recursive: true });
  const file = join(home, "sentinel.conf");
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${home}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${master} 2`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 5000`,
    `sentinel parallel-syncs ${NAME} 2`,
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const command = [server, file, "--sentinel"];
  return launch({ name: "Sentinel", command, logFile: join(home, "sentinel.log"), cwd: home });
}

async function asked<Value>(port: number, ask: (redis: Redis) => Promise<Value>): Promise<Value> {
  const redis = new Redis(port, "127.0.0.1", {
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on("error", () => {});
  return await ask(redis).finally(() => redis.disconnect());
}

async function masterOf(sentinel: number, ports: readonly number[]): Promise<number> {
  const address = await asked(sentinel, (redis) =>
    redis.call("SENTINEL", "get-master-addr-by-name", NAME),
  );
  return ports.indexOf(Number((address as string[])[1]));
}

async function knowEachOther(sentinels: readonly number[]): Promise<boolean> {
  const known = await Promise.all(
    sentinels.map(async (port) => {
      const others = await asked(port, (redis) => redis.call("SENTINEL", "sentinels", NAME));
      const replicas = await asked(port, (redis) => redis.call("SENTINEL", "replicas", NAME));
      return [(others as unknown[]).length, (replicas as unknown[]).length];
    }),
  ).catch(() => []);
  return (
    known.length === SENTINELS &&
    known.every(([others, replicas]) => others === SENTINELS - 1 && replicas === SERVERS - 1)
  );
}

async function untilInSync(sentinel: number, ports: readonly number[]): Promise<void> {
  await eventually(
    "all replicas have what the master has",
    async () => {
      try {
        const master = ports[await masterOf(sentinel, ports)] ?? 0;
        const info = await asked(master, (redis) => redis.info("replication"));
        const online = info.match(/state=online/g)?.length ?? 0;
        if (online < ports.length - 1) return false;
        // A link that is up is no proof; an acknowledged write is.
        const acknowledged = await asked(master, async (redis) => {
          await redis.publish("in-sync", "");
          return await redis.wait(ports.length - 1, 500);
        });
        return acknowledged >= ports.length - 1;
      } catch {
        return false;
      }
    },
    WITHIN_MS,
  );
}
