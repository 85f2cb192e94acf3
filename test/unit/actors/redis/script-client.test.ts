import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { FixedParts } from "../../../../actors/redis/fixed-parts.ts";
import { RespClient } from "../../../../actors/redis/resp-client.ts";
import {
  IoredisScriptClient,
  type Reply,
  type ScriptClient,
} from "../../../../actors/redis/script-client.ts";
import { callFunction } from "../../../support/api/call-function.ts";
import { eventually } from "../../../support/eventually.ts";
import { TcpProxy } from "../../../support/fakes/tcp-proxy.ts";
import { shared } from "../../../support/shared.ts";
import { startPrivateRedis } from "../../../support/stores/services.ts";

interface Opened {
  readonly client: ScriptClient;
  close(): void;
}

const TIMEOUT_MS = 2_000;

const CLIENTS: Record<string, (url: string, timeoutMs?: number) => Opened> = {
  RespClient: (url, commandTimeoutMs = TIMEOUT_MS) => {
    const client = new RespClient({ url, commandTimeoutMs, connectTimeoutMs: 3_000 });
    return { client, close: () => client.close() };
  },
  ioredis: (url, commandTimeout = TIMEOUT_MS) => {
    const redis = new Redis(url, { enableAutoPipelining: true, commandTimeout });
    redis.on("error", () => {});
    return { client: new IoredisScriptClient(redis), close: () => redis.disconnect() };
  },
};

const SOURCES = {
  echo: "return ARGV",
  keys: "return { KEYS[1], #KEYS, ARGV[1] }",
  kinds: "return { 1, -7, 'text', false, { 2, {} }, redis.status_reply('FINE') }",
  nested: "return { 1, redis.error_reply('ODD inside') }",
  repeat: "return string.rep(ARGV[1], tonumber(ARGV[2]))",
  fail: "return redis.error_reply('BAD luck')",
  count: "return redis.call('INCR', KEYS[1])",
};

async function loadScripts(): Promise<void> {
  const loader = new Redis(redis.url);
  const functions = Object.entries(SOURCES).map(
    ([name, lua]) => `redis.register_function('${name}', function(KEYS, ARGV) ${lua} end)`,
  );
  await loader.function("LOAD", "REPLACE", ["#!lua name=test", ...functions].join("\n"));
  loader.disconnect();
}

const redis = await shared(startPrivateRedis());
beforeAll(async () => {
  await loadScripts();
});

/** A reply with its Buffers as text. */
function readable(reply: Reply): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString();
  return Array.isArray(reply) ? reply.map(readable) : reply;
}

/** The first item of a reply as text, or the error's name. */
async function outcome(running: Promise<Reply>): Promise<string> {
  try {
    return String((readable(await running) as unknown[])[0]);
  } catch (error) {
    return (error as Error).message;
  }
}

for (const [name, open] of Object.entries(CLIENTS)) {
  describe(`a script client, ${name}`, () => {
    let opened: Opened;
    let client: ScriptClient;

    beforeAll(() => {
      opened = open(redis.url);
      client = opened.client;
    });

    afterAll(() => opened.close());

    test("hands over keys and arguments, and answers every kind of reply", async () => {
      expect(readable(await callFunction(client, "keys", ["a", "b"], ["c"]))).toEqual([
        "a",
        2,
        "c",
      ]);
      // Cached keys between other keys, also where a different number of keys follows.
      for (const more of [["z"], [], ["y", "ä"]]) {
        const keys = [new FixedParts(["ä", "b", ""]), ...more];
        const got = readable(await callFunction(client, "keys", keys, ["c"]));
        expect(got).toEqual(["ä", 3 + more.length, "c"]);
      }
      const reply = await callFunction(client, "kinds");
      expect(readable(reply)).toEqual([1, -7, "text", null, [2, []], "FINE"]);
    });

    test("keeps every byte of arguments and replies as it is", async () => {
      const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      const args = [every, "", "\r\n$5\r\n", "Grüße", "a😀b", "\ud800", Buffer.alloc(0), "plain"];
      const reply = (await callFunction(client, "echo", ["schlüssel"], args)) as Buffer[];
      expect(reply).toEqual(args.map((arg) => Buffer.from(arg as string)));
    });

    test("rejects with the server's own code, and answers an error inside a reply", async () => {
      await expect(callFunction(client, "fail")).rejects.toThrow(/^BAD luck/);
      await expect(callFunction(client, "unknown")).rejects.toThrow(/^ERR Function not found/);
      const nested = (await callFunction(client, "nested")) as Reply[];
      expect(nested[1]).toBeInstanceOf(Error);
      expect(String(nested[1])).toContain("ODD inside");
    });

    test("takes a reply of 10 MB and an argument of 10 MB", async () => {
      const piece = "0123456789".repeat(1024);
      const reply = (await callFunction(client, "repeat", [], [piece, "1024"])) as Buffer;
      expect(reply.equals(Buffer.from(piece.repeat(1024)))).toBe(true);
      const large = randomBytes(10 * 1024 * 1024);
      const [back] = (await callFunction(client, "echo", [], [large])) as Buffer[];
      expect(back?.equals(large)).toBe(true);
    });

    test("answers 10,000 commands at once, each with its own reply", async () => {
      const record = (at: number) => Buffer.from(`${at}`.padEnd(at % 300, "x"));
      const replies = await Promise.all(
        Array.from({ length: 10_000 }, (_, at) => callFunction(client, "echo", [], [record(at)])),
      );
      for (const [at, reply] of replies.entries()) expect(reply).toEqual([record(at)]);
    });

    test("reads replies that arrive cut at any byte", async () => {
      const expected = [1, -7, "text", null, [2, []], "FINE"];
      await using proxy = new TcpProxy(redis.port);
      const slow = open(proxy.urlOf(redis.url));
      await callFunction(slow.client, "kinds");
      try {
        // The reply is some fifty bytes long; a cut at each place gives two reads.
        for (let at = 1; at < 60; at += 1) {
          proxy.cutAt(at);
          expect(readable(await callFunction(slow.client, "kinds"))).toEqual(expected);
        }
        // One byte at a time.
        proxy.cutAt(1, "everywhere");
        expect(readable(await callFunction(slow.client, "kinds"))).toEqual(expected);
      } finally {
        slow.close();
      }
    });

    test("rejects commands that a server does not answer in time, and goes on after", async () => {
      const hasty = open(redis.url, 300);
      await callFunction(hasty.client, "echo", [], ["before"]);
      redis.hang();
      try {
        await expect(callFunction(hasty.client, "echo", [], ["lost"])).rejects.toThrow();
      } finally {
        redis.resume();
      }
      await eventually("it answers again", async () => {
        return (await outcome(callFunction(hasty.client, "echo", [], ["after"]))) === "after";
      });
      hasty.close();
    });

    test("finds a server that was restarted", async () => {
      await redis.kill9();
      await redis.start();
      await eventually("the new server answers", async () => {
        return (await outcome(callFunction(client, "echo", [], ["again"]))) === "again";
      });
    });
  });
}
