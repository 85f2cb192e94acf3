// Tests that every form of REDIS_URL reaches a Redis that speaks only TLS with its users:
// encrypted, under the user's name, and only if its certificate is of an authority that the URL
// names.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster, Redis } from "ioredis";
import { scriptsOfOneServer } from "../../../actors/redis/open-scripts.ts";
import { freePort, launch } from "../../../scripts/local/processes.mjs";
import { redisCommand } from "../../../scripts/local/redis.mjs";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { parseRedisUrl } from "../../../src/store/servers/redis-url.ts";
import { callFunction } from "../../support/api/call-function.ts";
import { eventually } from "../../support/eventually.ts";
import { makeCertificates } from "../../support/fakes/certificates.ts";
import { startProduct } from "../../support/product/product.ts";
import { sharedFolder } from "../../support/shared.ts";
import { type PrivateRedis, startPrivateRedis } from "../../support/stores/services.ts";
import { balances, DONE, hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const folder = sharedFolder("tls");
const certificates = makeCertificates(folder);

/**
 * Settings that make a Redis speak TLS on a port; without a name and password no command is
 * allowed.
 */
function tlsSettings(port: number): Record<string, string> {
  return {
    "tls-port": String(port),
    "tls-cert-file": certificates.cert,
    "tls-key-file": certificates.key,
    "tls-ca-cert-file": certificates.ca,
    "tls-auth-clients": "no",
    user: "farebox on >letmein ~* &* +@all",
  };
}

const login = "farebox:letmein@";
const ca = () => `?ca=${certificates.ca}`;

/** The name under which Redis knows a client, and whether it used TLS. */
async function whoAmI(client: Redis | Cluster): Promise<unknown> {
  try {
    return await client.call("ACL", ["WHOAMI"]);
  } finally {
    client.disconnect();
  }
}

async function failureOf(client: Redis | Cluster): Promise<string> {
  const failure = Promise.withResolvers<string>();
  client.on("error", (error) => failure.resolve(String(error)));
  client.ping().catch((error) => failure.resolve(String(error)));
  const message = await failure.promise;
  client.disconnect();
  return message;
}

async function startTls(more: Record<string, string> = {}) {
  const port = await freePort();
  const redis = await startPrivateRedis({
    password: false,
    settings: { ...tlsSettings(port), ...more },
  });
  return { redis, port };
}

test("one server", async () => {
  const { redis, port } = await startTls();
  await using _ = redis;
  const url = `rediss://${login}127.0.0.1:${port}`;
  expect(await whoAmI(openRedis(`${url}${ca()}`))).toBe("farebox");
  expect(await whoAmI(openRedis(`${url}/0${ca()}`, "queue"))).toBe("farebox");
  expect(await failureOf(openRedis(url))).toMatch(/certificate/i);
  // This port speaks only TLS.
  expect(await failureOf(openRedis(`redis://${login}127.0.0.1:${port}`))).not.toBe("");

  const target = parseRedisUrl(`${url}${ca()}`);
  if (target.kind !== "server") throw new Error("One server was expected");
  const scripts = scriptsOfOneServer(target, () => {})(async () => {});
  const reply = await callFunction(scripts, "none").catch((error: unknown) => String(error));
  expect(reply).toContain("Function not found");
  scripts.close?.();
});

test("the seeds of a cluster", async () => {
  const busPort = await freePort();
  const { redis, port } = await startTls({ ...CLUSTER_SETTINGS, "cluster-port": String(busPort) });
  await using _ = redis;
  await redisCommand(redis.port, "", ["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
  await untilServing(redis.port, 1);
  const seed = `rediss://${login}127.0.0.1:${port}`;
  for (const url of [
    `${seed}${ca()},${seed}`,
    `rediss+cluster://${login}127.0.0.1:${port}${ca()}`,
  ]) {
    const client = openRedis(url);
    expect(await client.set("key", "value")).toBe("OK");
    const [node] = "nodes" in client ? client.nodes("master") : [];
    expect(await node?.call("ACL", ["WHOAMI"])).toBe("farebox");
    client.disconnect();
  }
  expect(await failureOf(openRedis(`${seed},${seed}`))).not.toBe("");
});

test("a Cluster of three masters serves accounts on each of them", async () => {
  await using nodes = new AsyncDisposableStack();
  const ports: { readonly plain: number; readonly tls: number; readonly bus: number }[] = [];
  for (const slots of [
    [0, 5_460],
    [5_461, 10_922],
    [10_923, 16_383],
  ]) {
    const bus = await freePort();
    const { redis, port } = await startTls({ ...CLUSTER_SETTINGS, "cluster-port": String(bus) });
    nodes.use(redis);
    await redisCommand(redis.port, "", ["CLUSTER", "ADDSLOTSRANGE", ...slots.map(String)]);
    ports.push({ plain: redis.port, tls: port, bus });
  }
  const [first, ...others] = ports;
  for (const { tls, bus } of others) {
    const meet = ["CLUSTER", "MEET", "127.0.0.1", String(tls), String(bus)];
    await redisCommand(first?.plain ?? 0, "", meet);
  }
  for (const { plain } of ports) await untilServing(plain, ports.length);

  const redisUrl = ports.map(({ tls }) => `rediss://${login}127.0.0.1:${tls}`).join(",");
  await using world = await openWorld({ redisUrl: redisUrl.replace(",", `${ca()},`) });
  const accounts = await Promise.all(
    Array.from({ length: 24 }, () => openAccount(world, { paid: "1" })),
  );
  for (const account of accounts) await (await hold(account, usd("2"))).settle(usd("1.5"), DONE);
  await world.flush();
  for (const account of accounts) expect((await balances(account)).free).toBe(usd("3.5"));
  const sizes = ports.map(({ plain }) => redisCommand(plain, "", ["DBSIZE"]));
  expect((await Promise.all(sizes)).some((reply) => reply.startsWith(":0"))).toBe(false);
});

const CLUSTER_SETTINGS = {
  "cluster-enabled": "yes",
  "tls-cluster": "yes",
  "cluster-announce-ip": "127.0.0.1",
};

async function untilServing(port: number, nodes: number): Promise<void> {
  await eventually("the cluster serves", async () => {
    const info = await redisCommand(port, "", ["CLUSTER", "INFO"]);
    return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${nodes}`);
  });
}

test("the Sentinels of a master", async () => {
  const { redis, port } = await startTls({ "tls-replication": "yes" });
  await using _ = redis;
  await using sentinel = await startSentinel(redis, port);
  const url = `rediss+sentinel://${login}127.0.0.1:${sentinel.port}/money${ca()}`;
  const client = openRedis(url);
  expect(await client.set("key", "value")).toBe("OK");
  expect(await whoAmI(client)).toBe("farebox");
});

/** Starts a Sentinel that speaks only TLS and knows the master `money`. */
async function startSentinel(redis: PrivateRedis, masterPort: number) {
  const port = await freePort();
  const file = join(folder, "sentinel.conf");
  const { user: _, ...tls } = tlsSettings(port);
  const lines = Object.entries({
    ...tls,
    port: "0",
    bind: "127.0.0.1",
    "tls-replication": "yes",
    dir: folder,
    sentinel: `monitor money 127.0.0.1 ${masterPort} 1`,
  }).map(([name, value]) => `${name} ${value}`);
  lines.push("sentinel auth-user money farebox", "sentinel auth-pass money letmein");
  writeFileSync(file, `${lines.join("\n")}\n`);
  const logFile = join(folder, "sentinel.log");
  const command = ["redis-server", file, "--sentinel"];
  const child = launch({ name: "Sentinel", command, logFile });
  const probe = openRedis(`rediss://127.0.0.1:${port}${ca()}`, "queue");
  probe.on("error", () => {});
  await eventually("the Sentinel answers", async () => {
    const reply = await probe.call("SENTINEL", ["get-master-addr-by-name", "money"]);
    return Array.isArray(reply) && redis.port > 0;
  });
  probe.disconnect();
  return { port, [Symbol.asyncDispose]: () => child.stop() };
}

test("the whole product runs on a Redis with TLS", async () => {
  const port = await freePort();
  await using product = await startProduct({
    apis: 1,
    workers: 1,
    redisSettings: tlsSettings(port),
    env: { REDIS_URL: `rediss://${login}127.0.0.1:${port}${ca()}` },
  });
  const { key } = await product.account();
  const reply = await fetch(`${product.api(0).url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "ok", messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(reply.status).toBe(200);
  expect((await product.audit()).difference).toBeNull();
});
