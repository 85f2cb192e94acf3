// Tests commands and connections while servers, Sentinels or nodes of a Cluster are away. The
// client is changed for this (D-515).

import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventLoopTurns, eventually } from "../../support/eventually.ts";
import { startSentinels } from "../../support/fakes/sentinels.ts";
import { hangUpLate, listenOn } from "../../support/fakes/tcp-listener.ts";
import { startCluster, startPrivateRedis } from "../../support/stores/services.ts";

type Client = ReturnType<typeof openRedis>;

function open(url: string, use?: "scripts" | "queue"): Client & Disposable {
  const client = openRedis(url, use);
  client.on("error", () => {});
  return Object.assign(client, { [Symbol.dispose]: () => client.disconnect() });
}

function portOf(url: string): number {
  return Number(/:(\d+)/.exec(url)?.[1]);
}

test("a Sentinel that hangs is given up for the next one", async () => {
  await using sentinels = await startSentinels();
  using hung = await listenOn(0, () => {});
  using client = open(sentinels.url.replace("//", `//127.0.0.1:${hung.port},`));
  await eventually("it answers", () => client.ping().then(Boolean, () => false));
});

test("clients connect again if master and first Sentinel are lost together", async () => {
  await using sentinels = await startSentinels();
  const first = portOf(sentinels.url);
  let isLost = false;
  using front = await listenOn(0, (socket) => {
    // As an address that takes no connections: a sent command fails late.
    if (isLost) return hangUpLate(socket, 3_000);
    const server = connect(first, "127.0.0.1");
    server.on("error", () => {});
    server.on("close", () => socket.destroy());
    socket.on("close", () => server.destroy());
    socket.pipe(server).pipe(socket);
  });
  const url = sentinels.url.replace(`:${first}`, `:${front.port}`);
  const clients = Array.from({ length: 10 }, (_, number) => {
    return open(url, number % 2 === 0 ? "scripts" : "queue");
  });
  try {
    await Promise.all(clients.map((client) => client.ping()));
    const master = await sentinels.master();
    isLost = true;
    front.hangUp();
    await sentinels.kill9(master);
    for (const client of clients) {
      const writes = () => client.set("written", "1").then(Boolean, () => false);
      await eventually("it writes to another master", writes, 90_000);
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
}, 180_000);

test("commands sent while a Cluster had no node fail, and never run", async () => {
  const cluster = await startCluster();
  try {
    using client = open(cluster.urls.join(","));
    await client.set("count", 0);
    await Promise.all(cluster.nodes.map(({ child }) => child.kill9()));
    const sent = Array.from({ length: 3 }, () => rejection(client.incr("count")));
    await eventually("the client knows", () => client.status !== "ready");
    sent.push(...Array.from({ length: 3 }, () => rejection(client.incr("count"))));
    for (const error of await Promise.all(sent)) expect(error).toBeInstanceOf(Error);
    for (const index of cluster.nodes.keys()) await cluster.restart(index);
    const read = () => client.get("count").catch(() => null);
    await eventually("the Cluster is back", async () => (await read()) !== null, 60_000);
    expect(await read()).toBe("0");
  } finally {
    await cluster.stop();
  }
});

test("a listening client pauses between attempts while no node takes it", async () => {
  const cluster = await startCluster();
  using client = open(cluster.urls.join(","), "queue");
  await client.subscribe("notices");
  const ports = cluster.urls.map(portOf);
  await cluster.stop();
  let connections = 0;
  const refuse = (socket: Socket) => {
    connections += 1;
    socket.destroy();
  };
  using _ = await listenOn(ports[0] ?? 0, refuse);
  using __ = await listenOn(ports[1] ?? 0, refuse);
  using ___ = await listenOn(ports[2] ?? 0, refuse);
  await eventually("it tries", () => connections > 0);
  const endMs = performance.now() + 2_000;
  await eventually("two seconds are over", () => performance.now() > endMs);
  expect(connections).toBeLessThan(200);
});

test("commands that timed out while a server loaded its data do not run later", async () => {
  await using store = await startPrivateRedis();
  const loading = "# Persistence\r\nloading:1\r\nloading_eta_seconds:1\r\n";
  let isLoading = false;
  using front = await listenOn(0, (socket) => {
    const server = connect(store.port, "127.0.0.1");
    server.on("error", () => {});
    server.on("close", () => socket.destroy());
    socket.on("close", () => server.destroy());
    server.pipe(socket);
    socket.on("data", (bytes) => {
      const asks = bytes.toString().toLowerCase().includes("$4\r\ninfo");
      if (isLoading && asks) socket.write(`$${loading.length}\r\n${loading}\r\n`);
      else server.write(bytes);
    });
  });
  using client = open(store.url.replace(`:${store.port}`, `:${front.port}`));
  await client.set("count", 0);
  isLoading = true;
  front.hangUp();
  await eventLoopTurns(5);
  const sent = Array.from({ length: 5 }, () => rejection(client.incr("count")));
  for (const error of await Promise.all(sent)) expect(error).toBeInstanceOf(Error);
  isLoading = false;
  const read = () => client.get("count").catch(() => null);
  await eventually("the server is ready", async () => (await read()) !== null);
  expect(await read()).toBe("0");
});
