// Tests an address of Redis that leads to another server, as after a failover that does not inform
// clients: their connections stay open, to a server that is gone or that has become a replica.

import { expect, test } from "bun:test";
import { Redis } from "ioredis";
import { scriptsOfOneServer } from "../../../actors/redis/open-scripts.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { callFunction } from "../../support/api/call-function.ts";
import { eventually } from "../../support/eventually.ts";
import { TcpProxy } from "../../support/fakes/tcp-proxy.ts";
import { shared } from "../../support/shared.ts";
import { type PrivateRedis, startPrivateRedis } from "../../support/stores/services.ts";

interface Opened {
  write(): Promise<unknown>;
  close(): void;
}

const LIBRARY = `#!lua name=test
redis.register_function('write', function() return redis.call('INCR', 'written') end)`;

const CLIENTS: Record<string, (url: string) => Opened> = {
  "the client of everything but scripts": (url) => ofIoredis(url, "scripts"),
  "the client of a queue": (url) => ofIoredis(url, "queue"),
  "the client of scripts": (url) => {
    const target = { kind: "server", url, tls: undefined } as const;
    const client = scriptsOfOneServer(target, () => {})(() => Promise.resolve());
    return { write: () => callFunction(client, "write"), close: () => client.close?.() };
  },
};

const first = await shared(startPrivateRedis({ password: false }));
const second = await shared(startPrivateRedis({ password: false }));
for (const server of [first, second]) await tell(server, "FUNCTION", "LOAD", LIBRARY);

function ofIoredis(url: string, use: "scripts" | "queue"): Opened {
  const redis = openRedis(url, use);
  redis.on("error", () => {});
  return { write: () => redis.incr("written"), close: () => redis.disconnect() };
}

/** Sends a command to the server itself. */
async function tell(server: PrivateRedis, command: string, ...args: string[]): Promise<unknown> {
  const redis = new Redis(server.url);
  try {
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}

function works(write: () => Promise<unknown>): Promise<boolean> {
  return write().then(
    () => true,
    () => false,
  );
}

test.each(Object.entries(CLIENTS))(
  "%s leaves a server that has become a replica",
  async (_, open) => {
    await using proxy = new TcpProxy(first.port);
    const client = open(proxy.urlOf(first.url));
    try {
      await client.write();
      await tell(first, "REPLICAOF", "127.0.0.1", String(second.port));
      await expect(client.write()).rejects.toThrow();
      proxy.leadTo(second.port);
      await eventually("it writes to the other server", () => works(client.write));
    } finally {
      client.close();
      await tell(first, "REPLICAOF", "NO", "ONE");
    }
  },
);

test("the client of scripts refuses a replica when it connects", async () => {
  await using proxy = new TcpProxy(first.port);
  const opened = CLIENTS["the client of scripts"];
  if (opened === undefined) throw new Error("There is such a client");
  await tell(first, "REPLICAOF", "127.0.0.1", String(second.port));
  const client = opened(proxy.urlOf(first.url));
  try {
    await expect(client.write()).rejects.toThrow("Redis is not reachable");
    await tell(first, "REPLICAOF", "NO", "ONE");
    await eventually("it writes once the server is the master", () => works(client.write));
  } finally {
    client.close();
  }
});

test.each(["the client of everything but scripts", "the client of scripts"])(
  "%s leaves a server that is gone with its connections open",
  async (name) => {
    await using proxy = new TcpProxy(first.port);
    const client = CLIENTS[name]?.(proxy.urlOf(first.url));
    if (client === undefined) throw new Error("There is such a client");
    try {
      await client.write();
      proxy.freeze();
      await eventually("it writes again", () => works(client.write), 60_000);
      expect(proxy.connections).toBe(2);
    } finally {
      client.close();
    }
  },
  90_000,
);
