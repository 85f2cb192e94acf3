// Tests a Redis of the same machine over its Unix socket: all that Farebox sends goes there, with
// the password, and reconnects after a restart.

import { afterEach, expect, test } from "bun:test";
import { type ConnectionOptions, Queue, Worker } from "bullmq";
import { scriptsOfOneServer } from "../../../actors/redis/open-scripts.ts";
import type { ScriptClient } from "../../../actors/redis/script-client.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { parseRedisUrl } from "../../../src/store/servers/redis-url.ts";
import { callFunction } from "../../support/api/call-function.ts";
import { eventually } from "../../support/eventually.ts";
import { startProduct } from "../../support/product/product.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { startPrivateRedis } from "../../support/stores/services.ts";
import { openWorld } from "../../support/stores/world.ts";

const LIBRARY = `#!lua name=test
redis.register_function('echo', function(_, ARGV) return ARGV[1] end)
redis.register_function('peer', function() return redis.call('GET', 'peer') end)`;
/** More than the kernel moves through a socket at once. */
const LARGE_BYTES = 4_000_000;

const redis = await shared(startPrivateRedis());
const url = redis.socketUrl ?? "";
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function withoutPassword(): string {
  return url.replace(/\?.*/, "");
}

function scripts(of: string): ScriptClient {
  const target = parseRedisUrl(of);
  if (target.kind !== "server") throw new Error("One server was expected");
  const client = scriptsOfOneServer(target, () => {})(async () => {});
  closing.push(() => client.close?.());
  return client;
}

function general(of: string, use: "scripts" | "queue" = "scripts") {
  const client = openRedis(of, use);
  client.on("error", () => {});
  closing.push(() => client.disconnect());
  return client;
}

/** A queue and its worker, each with its own connection; resolves with the data of the job. */
function queue(): (text: string) => Promise<unknown> {
  const done = new Map<string, (data: unknown) => void>();
  const connect = () => general(url, "queue") as ConnectionOptions;
  const jobs = new Queue("socket", { connection: connect() });
  const work = async ({ data }: { readonly data: { readonly text: string } }) => {
    done.get(data.text)?.(data);
  };
  const worker = new Worker("socket", work, { connection: connect() });
  jobs.on("error", () => {});
  worker.on("error", () => {});
  closing.unshift(
    () => worker.close(true),
    () => jobs.close(),
  );
  return async (text) => {
    const worked = new Promise((resolve) => done.set(text, resolve));
    await jobs.add("job", { text });
    return worked;
  };
}

function isOk(running: Promise<unknown>): Promise<boolean> {
  return running.then(
    () => true,
    () => false,
  );
}

test("scripts, commands and jobs of a queue go over the socket, with its password", async () => {
  const client = general(url);
  await client.function("LOAD", "REPLACE", LIBRARY);
  expect(await client.client("INFO")).toMatch(/ addr=\/\S+redis\.sock:0 /);
  const large = "x".repeat(LARGE_BYTES);
  expect(String(await callFunction(scripts(url), "echo", [], [large])) === large).toBe(true);
  expect(await queue()("a job")).toEqual({ text: "a job" });
});

test("the socket refuses a client without the password", async () => {
  const open = withoutPassword();
  await expect(general(open).get("key")).rejects.toThrow("NOAUTH");
  const refused = await callFunction(scripts(open), "echo", [], ["x"]).catch(
    (error: Error) => error.cause,
  );
  expect(String(refused)).toContain("NOAUTH");
});

test("a user and a database in the address apply to every client", async () => {
  const admin = general(url);
  await admin.call("ACL", ["SETUSER", "me", "on", ">p@ss", "~*", "&*", "+@all"]);
  await admin.function("LOAD", "REPLACE", LIBRARY);
  const mine = `${withoutPassword()}?db=3&user=me&password=p%40ss`;
  const client = general(mine);
  expect(await client.call("ACL", ["WHOAMI"])).toBe("me");
  await client.set("peer", "of database 3");
  expect(String(await callFunction(scripts(mine), "peer"))).toBe("of database 3");
  expect(await admin.get("peer")).toBeNull();
});

test("every client comes back when Redis was killed and starts again", async () => {
  await general(url).function("LOAD", "REPLACE", LIBRARY);
  const [client, script, work] = [general(url), scripts(url), queue()];
  const uses = {
    commands: () => client.ping(),
    scripts: () => callFunction(script, "echo", [], ["x"]),
  };
  for (const use of Object.values(uses)) await use();
  await work("before");
  await redis.kill9();
  for (const use of Object.values(uses)) expect(await isOk(use())).toBe(false);
  await redis.start();
  for (const [name, use] of Object.entries(uses)) {
    await eventually(`${name} work again`, () => isOk(use()));
  }
  expect(await work("after")).toEqual({ text: "after" });
});

test("the whole product runs over the socket", async () => {
  await using own = await startPrivateRedis();
  await using product = await startProduct({
    apis: 1,
    workers: 1,
    redisUrl: own.socketUrl ?? "",
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

test("commands of the tool reach Redis over the socket", async () => {
  await using world = await openWorld({ redisUrl: url });
  const cli = await cliOf(world, { REDIS_URL: url, PORT: "0" });
  const { findings } = jsonOf(await cli("doctor", "--json"));
  expect(findings).toContainEqual(
    expect.objectContaining({ check: "Redis", text: expect.stringMatching(/^answers in /) }),
  );
  expect(jsonOf(await cli("audit", "--json"))).toMatchObject({ difference: null });
});
