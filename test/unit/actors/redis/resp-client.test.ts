import { afterEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { RespClient, type RespClientOptions } from "../../../../actors/redis/resp-client.ts";
import { CommandTimeout, ConnectionLost } from "../../../../actors/redis/resp-connection.ts";
import { eventually } from "../../../support/eventually.ts";
import { ByteServer } from "../../../support/fakes/byte-server.ts";
import { TcpProxy } from "../../../support/fakes/tcp-proxy.ts";
import { atEnd, shared, sharedFolder } from "../../../support/shared.ts";
import { startPrivateRedis } from "../../../support/stores/services.ts";

const folder = sharedFolder("resp");
const opened: RespClient[] = [];

const redis = await shared(startPrivateRedis());
const admin = new Redis(redis.url, { commandTimeout: 5_000 });
atEnd(() => admin.disconnect());

afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});

function open(url: string, options: Partial<RespClientOptions> = {}): RespClient {
  const defaults = { commandTimeoutMs: 5_000, connectTimeoutMs: 3_000 };
  const client = new RespClient({ url, ...defaults, ...options });
  opened.push(client);
  return client;
}

function failureOf(running: Promise<unknown>): Promise<Error> {
  return running.then(
    () => new Error("It did not fail"),
    (error: Error) => error,
  );
}

function withPassword(password: string): string {
  const url = new URL(redis.url);
  url.password = password;
  return url.href;
}

test("signs in before anything else, and reports why it cannot", async () => {
  expect(String(await open(redis.url).command("ECHO", "in"))).toBe("in");
  const wrong = await failureOf(open(withPassword("wrong")).command("PING"));
  expect(wrong).toBeInstanceOf(ConnectionLost);
  expect(String(wrong.cause)).toContain("WRONGPASS");
  const none = await failureOf(open(withPassword("")).command("PING"));
  expect(String(none.cause)).toContain("NOAUTH");
});

test("works in the database that the URL names, through a socket file as well", async () => {
  for (const [url, database] of [
    [`${redis.url}/3`, 3],
    [`${redis.socketUrl}&db=4`, 4],
  ] as const) {
    const client = open(url);
    await client.command("SET", "where", String(database));
    const other = new Redis(`${redis.url}/${database}`);
    expect(await other.get("where")).toBe(String(database));
    other.disconnect();
  }
  expect(await admin.get("where")).toBeNull();
});

test("rejects commands in flight when the connection broke, and never runs one twice", async () => {
  await using proxy = new TcpProxy(redis.port);
  const client = open(proxy.urlOf(redis.url));
  await client.command("DEL", "runs");
  proxy.hangUpAfter(0);
  const lost = await Promise.all(
    Array.from({ length: 100 }, () => failureOf(client.command("INCR", "runs"))),
  );
  for (const error of lost) {
    expect(error).toBeInstanceOf(ConnectionLost);
    expect((error as ConnectionLost).mayHaveRun).toBe(true);
  }
  const runs = await admin.get("runs");
  proxy.restore();
  await eventually("it is connected again", () => proxy.connections > 1);
  await eventually("it works again", async () => {
    return (await client.command("ECHO", "x").catch(() => null)) !== null;
  });
  expect(await admin.get("runs")).toBe(runs);
});

test("reports that a command that was never sent cannot have run", async () => {
  await using proxy = new TcpProxy(redis.port);
  const url = proxy.urlOf(redis.url);
  await proxy[Symbol.asyncDispose]();
  const error = await failureOf(open(url).command("PING"));
  expect(error).toBeInstanceOf(ConnectionLost);
  expect((error as ConnectionLost).mayHaveRun).toBe(false);
});

test("lets waiting commands follow the commands of onConnect on a new connection", async () => {
  await using proxy = new TcpProxy(redis.port);
  const ids: string[] = [];
  const client = open(proxy.urlOf(redis.url), {
    onConnect: async (command) => {
      ids.push(String(await command("CLIENT", "ID")));
      await command("SET", "prepared", String(ids.length));
    },
  });
  expect(String(await client.command("GET", "prepared"))).toBe("1");
  proxy.hangUpAfter(0);
  await failureOf(client.command("PING"));
  proxy.restore();
  await eventually("it is prepared again", async () => {
    return String(await client.command("GET", "prepared").catch(() => "")) === "2";
  });
  expect(new Set(ids).size).toBe(2);
});

test("gives up a connection on which no bytes come any more, and makes another", async () => {
  await using proxy = new TcpProxy(redis.port);
  const client = open(proxy.urlOf(redis.url), { commandTimeoutMs: 80 });
  await client.command("PING");
  proxy.swallow();
  expect(await failureOf(client.command("PING"))).toBeInstanceOf(CommandTimeout);
  await eventually("it has connected again", () => proxy.connections > 1);
  proxy.restore();
  await eventually("it works again", async () => {
    return (await client.command("ECHO", "x").catch(() => null)) !== null;
  });
});

test("sends on where it stopped when the server takes no more for a while", async () => {
  const client = open(redis.url, { commandTimeoutMs: 20_000 });
  await client.command("PING");
  redis.hang();
  const piece = Buffer.alloc(512 * 1024, "x");
  const running = Array.from({ length: 64 }, (_, at) =>
    client.command("ECHO", Buffer.concat([Buffer.from(`${at} `), piece])),
  );
  // The kernel takes a few megabytes; the rest waits in the client.
  await new Promise((resolve) => setImmediate(resolve));
  redis.resume();
  for (const [at, reply] of (await Promise.all(running)).entries()) {
    expect((reply as Buffer).length).toBe(piece.length + String(at).length + 1);
    expect(String((reply as Buffer).subarray(0, 3)).startsWith(`${at} `)).toBe(true);
  }
});

test("a late reply goes to the command it belongs to", async () => {
  const client = open(redis.url, { commandTimeoutMs: 400 });
  await client.command("PING");
  redis.hang();
  const late = failureOf(client.command("ECHO", "late"));
  expect(await late).toBeInstanceOf(CommandTimeout);
  const next = client.command("ECHO", "next");
  redis.resume();
  expect(String(await next)).toBe("next");
});

test("each command gets one result, even if its reply comes after the time limit", async () => {
  const client = open(redis.url, { commandTimeoutMs: 400 });
  await client.command("PING");
  const told: string[] = [];
  const waiting = {
    resolve: (reply: unknown) => void told.push(`a reply: ${reply}`),
    reject: (error: Error) => void told.push(error.name),
  };
  redis.hang();
  try {
    client.fcall("nothing", [], [], waiting);
    await eventually("its time is over", () => told.length > 0);
  } finally {
    redis.resume();
  }
  // The reply to the first command comes before this one.
  await client.command("PING");
  redis.hang();
  try {
    client.fcall("nothing", [], [], waiting);
    await eventually("its time is over again", () => told.length > 1);
    client.close();
  } finally {
    redis.resume();
  }
  expect(told).toEqual(["CommandTimeout", "CommandTimeout"]);
});

test("rejects everything once it is closed", async () => {
  const client = open(redis.url);
  await client.command("PING");
  const running = failureOf(client.command("PING"));
  client.close();
  expect(await running).toBeInstanceOf(ConnectionLost);
  expect(await failureOf(client.command("PING"))).toBeInstanceOf(ConnectionLost);
});

test("gives up a server that does not speak the protocol", async () => {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.write("HTTP/1.1 400 Bad Request\r\n\r\n") },
  });
  const error = await failureOf(open(`redis://127.0.0.1:${server.port}`).command("PING"));
  expect(String(error.cause)).toContain("ProtocolError");
  server.stop(true);
});

test.skipIf(Bun.which("openssl") === null)(
  "speaks TLS with a server whose certificate it trusts, and with no other",
  async () => {
    const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(folder, name));
    const subject = ["-subj", "/CN=farebox test", "-addext", "subjectAltName=IP:127.0.0.1"];
    const files = ["-keyout", String(key), "-out", String(cert)];
    const made = spawnSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes"].concat(files, subject, ["-days", "2"]),
    );
    expect(made.status).toBe(0);
    const tls = { key: readFileSync(String(key)), cert: readFileSync(String(cert)) };
    await using proxy = new TcpProxy(redis.port, tls);
    const url = proxy.urlOf(redis.url).replace("redis:", "rediss:");
    const trusting = open(url, { tls: { ca: tls.cert } });
    expect(String(await trusting.command("ECHO", "sealed"))).toBe("sealed");
    const large = Buffer.alloc(3 * 1024 * 1024, "y");
    expect(large.equals((await trusting.command("ECHO", large)) as Buffer)).toBe(true);
    expect(await failureOf(open(url).command("PING"))).toBeInstanceOf(ConnectionLost);
    // The certificate is only for 127.0.0.1.
    const elsewhere = url.replace("127.0.0.1", "localhost");
    const misled = await failureOf(open(elsewhere, { tls: { ca: tls.cert } }).command("PING"));
    expect(misled).toBeInstanceOf(ConnectionLost);
    expect(misled.cause).toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  },
);

test("closes every connection on which the TLS handshake does not end", async () => {
  using server = await ByteServer.startRaw((socket) => void socket.resume());
  const client = open(`rediss://127.0.0.1:${server.port}`, { connectTimeoutMs: 50 });
  await eventually("it has tried again, and kept nothing", () => {
    return server.opened >= 4 && server.open <= 1;
  });
  client.close();
  await eventually("the last is closed too", () => server.open === 0);
});
