import { expect, test } from "bun:test";
import { Redis } from "ioredis";
import { ConnectionLost } from "../../../actors/redis/resp-connection.ts";
import { ApiError } from "../../../src/core/errors.ts";
import { REDIS_REFUSALS } from "../../../src/core/redis-refusals.ts";
import { failureOf } from "../../../src/http/failure.ts";
import { openDatabase, PostgresTimeout } from "../../../src/store/servers/database.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { accounts } from "../../../src/store/tables/account-schema.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventually } from "../../support/eventually.ts";
import { ByteServer } from "../../support/fakes/byte-server.ts";
import { startCluster } from "../../support/stores/services.ts";

test("a request that Postgres did not answer is 503, however the error was wrapped", async () => {
  const database = openDatabase("postgres://nobody@127.0.0.1:1/none");
  const refused = await rejection(database.db.select().from(accounts));
  await database.close();
  const late = new PostgresTimeout("Postgres did not answer within 5 ms");
  const readOnly = Object.assign(new Error("read-only transaction"), { code: "25006" });
  const wrapped = new Error("No session", { cause: refused });
  for (const away of [refused, late, readOnly, wrapped]) {
    expect(failureOf(away)).toMatchObject({
      code: "service_unavailable",
      message: "A part of the service is away; try again",
      retryAfterSeconds: 1,
      cause: away,
    });
  }
});

test("a lost socket is a store that is away; a file, a fetch or a defect is not", async () => {
  const unix = openDatabase("postgres://nobody@%2Fnowhere:5432/none");
  const missing = await rejection(unix.sql`SELECT 1`);
  await unix.close();
  const reset = Object.assign(new Error("read ECONNRESET"), {
    code: "ECONNRESET",
    syscall: "read",
  });
  for (const away of [missing, reset]) {
    expect(failureOf(away).code).toBe("service_unavailable");
  }
  const noFile = await rejection(Bun.file("/nowhere/at/all").text());
  const noServer = await rejection(fetch("http://127.0.0.1:1/"));
  const full = Object.assign(new Error("no space"), { code: "ENOSPC", syscall: "write" });
  const uncloneable = new DOMException("not to be cloned", "DataCloneError");
  const unknownPage = Object.assign(new Error("Not Found"), { code: 404 });
  for (const ours of [noFile, noServer, full, uncloneable, unknownPage]) {
    expect(failureOf(ours).code).toBe("internal_error");
  }
});

test("a request that Redis did not answer is 503", async () => {
  const unreachable = async (url: string) => {
    const client = openRedis(url);
    client.on("error", () => {});
    const error = await rejection(client.get("key"));
    client.disconnect();
    return error;
  };
  const refused = await unreachable("redis://127.0.0.1:1");
  const missing = await unreachable("unix:///nowhere/redis.sock");
  const closed = new Error("Connection is closed.");
  for (const away of [
    refused,
    missing,
    closed,
    new ConnectionLost("Redis is not reachable", false),
  ]) {
    expect(failureOf(away)).toMatchObject({ code: "service_unavailable", cause: away });
  }
});

test("a connection to Redis that is lost in the middle of its answers is 503", async () => {
  using server = await ByteServer.startRaw((socket) => {
    socket.on("data", (bytes) => {
      const text = bytes.toString();
      if (text.includes("\r\nget\r\n")) return socket.end("$-1\r\n");
      socket.write("+OK\r\n".repeat(text.match(/^\*/gm)?.length ?? 0));
    });
  });
  const redis = openRedis(`redis://127.0.0.1:${server.port}`);
  redis.on("error", () => {});
  await eventually("it is connected", () => redis.status === "ready");
  const [first, second] = [redis.get("first"), rejection(redis.get("second"))];
  expect(await first).toBeNull();
  const away = await second;
  redis.disconnect();
  expect(failureOf(away)).toMatchObject({ code: "service_unavailable", cause: away });
});

test("a request for which the Cluster of Redis has no node is 503", async () => {
  const redis = openRedis("redis://127.0.0.1:1,redis://127.0.0.1:2");
  const reported = new Promise((resolve) => redis.once("error", resolve));
  const unanswered = rejection(redis.get("key"));
  const refused = await reported;
  redis.on("error", () => {});
  redis.disconnect();
  const last = "ReplyError: CLUSTERDOWN The cluster is down";
  const redirected = new Error(`Too many Cluster redirections. Last error: ${last}`);
  for (const away of [refused, await unanswered, redirected]) {
    expect(failureOf(away)).toMatchObject({ code: "service_unavailable", cause: away });
  }
});

test("a command that Redis refuses for the moment is 503, whatever the reason", async () => {
  let code = "";
  using server = await ByteServer.startRaw((socket) => {
    socket.on("data", (bytes) => {
      const commands = bytes.toString().match(/^\*/gm)?.length ?? 0;
      const isAsked = bytes.toString().includes("\r\nget\r\n");
      socket.write((isAsked ? `-${code} not now\r\n` : "+OK\r\n").repeat(commands));
    });
  });
  const redis = openRedis(`redis://127.0.0.1:${server.port}`);
  redis.on("error", () => {});
  await eventually("it is connected", () => redis.status === "ready");
  for (code of Object.keys(REDIS_REFUSALS)) {
    const away = await rejection(redis.get("key"));
    expect(away).toMatchObject({ message: `${code} not now` });
    expect(failureOf(away)).toMatchObject({ code: "service_unavailable", cause: away });
  }
  code = "WRONGTYPE";
  expect(failureOf(await rejection(redis.get("key"))).code).toBe("internal_error");
  redis.disconnect();
});

test("a key that the Cluster of Redis does not serve is 503, even beside writes", async () => {
  await using cluster = await startCluster();
  const redis = openRedis(cluster.urls.join(","));
  await redis.set("lost", "");
  const slot = await redis.cluster("KEYSLOT", "lost");
  for (const node of cluster.nodes.map(({ url }) => new Redis(url))) {
    await node.config("SET", "cluster-require-full-coverage", "no");
    await node.call("CLUSTER", "DELSLOTS", slot);
    node.disconnect();
  }
  // The client does not send a command again that was written together with others.
  const written = Array.from({ length: 30 }, (_, index) => redis.set(`served ${index}`, ""));
  const away = await rejection(redis.set("lost", ""));
  await Promise.all(written);
  redis.disconnect();
  expect(String(away)).toStartWith("ReplyError: CLUSTERDOWN ");
  expect(failureOf(away)).toMatchObject({ code: "service_unavailable", cause: away });
});

test("a refused statement is a fault of ours, and our own errors stay unchanged", () => {
  const refused = Object.assign(new Error("no such column"), { code: "42703" });
  expect(failureOf(refused).code).toBe("internal_error");
  expect(failureOf(new TypeError("x is not a function")).code).toBe("internal_error");
  const own = new ApiError("model_not_found", "There is no such model");
  expect(failureOf(own)).toBe(own);
});
