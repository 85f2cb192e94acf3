// Tests which connection a request of the HTTP client uses, and the bytes that it sends.

import { describe, expect, test } from "bun:test";
import { rejection } from "../../../support/api/rejection.ts";
import { eventLoopTurns, eventually } from "../../../support/eventually.ts";
import { ByteServer, newClient, reply, upstreamInit } from "../../../support/fakes/byte-server.ts";

const post = (body: string) => upstreamInit({ method: "POST", body });

/** Sends a request, and reads the body of the response. */
async function fetchText(client: ReturnType<typeof newClient>, url: string): Promise<string> {
  const response = await client.fetch(url, upstreamInit());
  return await response.text();
}

describe("a connection", () => {
  test("is used by one request after the other", async () => {
    using server = await ByteServer.start(({ socket, number }) => {
      socket.write(reply(`reply ${number}`));
    });
    const client = newClient();
    for (const number of [1, 2, 3]) {
      expect(await fetchText(client, server.url)).toBe(`reply ${number}`);
    }
    expect(server.opened).toBe(1);
  });

  test("that is new is taken by a long request, in place of an idle one", async () => {
    using server = await ByteServer.start(({ socket, number }) => {
      socket.write(reply(`reply ${number}`));
    });
    const client = newClient();
    await fetchText(client, server.url);
    const response = await client.fetch(server.url, post("x".repeat(1_100_000)));
    expect(await response.text()).toBe("reply 2");
    expect(server.opened).toBe(2);
    await eventually("the idle one is closed", () => server.open === 1);
    expect(await fetchText(client, server.url)).toBe("reply 3");
    expect(server.opened).toBe(2);
  });

  test("has one request at a time", async () => {
    using server = await ByteServer.start(({ socket }) => {
      // Answers once all requests have arrived.
      if (server.requests.length < 3) return waiting.push(socket);
      for (const each of [...waiting, socket]) each.write(reply("done"));
    });
    const waiting: { write(text: string): void }[] = [];
    const client = newClient();
    const replies = [1, 2, 3].map(() => fetchText(client, server.url));
    expect(await Promise.all(replies)).toEqual(["done", "done", "done"]);
    expect(server.opened).toBe(3);
  });

  test("is not shared by servers or by names of certificates", async () => {
    using one = await ByteServer.start(({ socket }) => socket.write(reply("one")));
    using other = await ByteServer.start(({ socket }) => socket.write(reply("other")));
    const client = newClient();
    expect(await fetchText(client, one.url)).toBe("one");
    expect(await fetchText(client, other.url)).toBe("other");
    await client.fetch(one.url, upstreamInit({ tls: { servername: "another" } }));
    expect([one.opened, other.opened]).toEqual([2, 1]);
  });

  test.each([
    ["Connection: close", reply("done", "connection: close\r\n")],
    ["HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\ndone"],
    ["Keep-Alive: timeout=1", reply("done", "keep-alive: timeout=1\r\n")],
    ["bytes after the body", `${reply("done")}more`],
    [
      "two lengths",
      "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n" +
        "4\r\ndone\r\n0\r\n\r\n",
    ],
  ])("is closed in order after a response with %s", async (_, response) => {
    const ends: boolean[] = [];
    using server = await ByteServer.start(({ socket }) => {
      socket.on("close", (isBroken) => ends.push(isBroken));
      socket.write(response);
    });
    const client = newClient();
    expect(await fetchText(client, server.url)).toBe("done");
    await eventually("the connection is closed", () => server.open === 0);
    expect(ends).toEqual([false]);
    expect(await fetchText(client, server.url)).toBe("done");
    expect(server.opened).toBe(2);
  });

  test("that its server closes while it is idle is not used again", async () => {
    using server = await ByteServer.start(({ socket }) => socket.write(reply("done")));
    const client = newClient();
    for (const count of [1, 2, 3]) {
      expect(await fetchText(client, server.url)).toBe("done");
      for (const socket of server.sockets) socket.end();
      await eventually("the connection is closed", () => server.open === 0);
      await eventLoopTurns(10);
      expect(server.requests).toHaveLength(count);
    }
  });

  test("is closed if its server sends a byte while it is idle", async () => {
    using server = await ByteServer.start(({ socket, number }) => {
      socket.write(reply(`reply ${number}`));
    });
    const client = newClient();
    expect(await fetchText(client, server.url)).toBe("reply 1");
    for (const socket of server.sockets) socket.write(reply("for nobody"));
    await eventually("the connection is closed", () => server.open === 0);
    expect(await fetchText(client, server.url)).toBe("reply 2");
  });

  test("is closed if the response is complete before the request was sent", async () => {
    let written = 0;
    using server = await ByteServer.startRaw((socket) => {
      socket.once("data", () => {
        socket.pause();
        socket.write(reply("too large"));
        written += 1;
      });
    });
    const client = newClient();
    const response = await client.fetch(server.url, post("x".repeat(20_000_000)));
    expect(await response.text()).toBe("too large");
    const next = await client.fetch(server.url, upstreamInit());
    expect(await next.text()).toBe("too large");
    expect([server.opened, written]).toEqual([2, 2]);
  });

  test("is idle for a limited time, and is not used after it", async () => {
    let nowMs = 0;
    using server = await ByteServer.start(({ socket }) => {
      socket.write(reply("done", "keep-alive: timeout=5\r\n"));
    });
    const client = newClient(() => nowMs);
    await fetchText(client, server.url);
    nowMs = 3_999;
    await fetchText(client, server.url);
    expect(server.opened).toBe(1);
    nowMs += 4_000;
    await fetchText(client, server.url);
    expect(server.opened).toBe(2);
    nowMs += 4_000;
    await eventually("the connection is closed", () => server.open === 0);
  });

  test("is idle beside 255 others of its server at most", async () => {
    const sockets: { write(text: string): void }[] = [];
    using server = await ByteServer.start(({ socket }) => {
      sockets.push(socket);
      if (sockets.length === 300) for (const each of sockets) each.write(reply("done"));
    });
    const client = newClient();
    await Promise.all(Array.from({ length: 300 }, () => fetchText(client, server.url)));
    await eventually("44 are closed", () => server.open === 256);
    client.close();
    await eventually("all are closed", () => server.open === 0);
  });
});

test("close() closes idle connections, and lets requests in progress end", async () => {
  let answer = () => {};
  using server = await ByteServer.start(({ socket, number }) => {
    answer = () => socket.write(reply(`reply ${number}`));
    if (number !== 2) answer();
  });
  const client = newClient();
  await fetchText(client, server.url);
  const late = fetchText(client, server.url);
  await eventually("the second request is there", () => server.requests.length === 2);
  client.close();
  expect(server.open).toBe(1);
  answer();
  expect(await late).toBe("reply 2");
  // The client can still be used, and keeps its new connections apart from the old ones.
  const [before] = server.sockets;
  expect(await fetchText(client, server.url)).toBe("reply 3");
  before?.end();
  await eventually("the old connection is closed", () => server.open === 1);
  expect(await fetchText(client, server.url)).toBe("reply 4");
  expect(server.opened).toBe(2);
});

describe("a request that was lost", () => {
  /** Answers the first request of each connection, and closes it at the next. */
  const startClosing = (close: "end" | "resetAndDestroy") =>
    ByteServer.start(({ socket, turn }) => {
      if (turn === 1) socket.write(reply("done"));
      else socket[close]();
    });

  test.each([["end"], ["resetAndDestroy"]] as const)(
    "on a used connection is sent once more, on a new one (%s)",
    async (close) => {
      using server = await startClosing(close);
      const client = newClient();
      await fetchText(client, server.url);
      const response = await client.fetch(server.url, post("words"));
      expect(await response.text()).toBe("done");
      expect(server.opened).toBe(2);
      expect(server.requests[1]).toBe(server.requests[2] ?? "");
    },
  );

  test.each([["end"], ["resetAndDestroy"]] as const)(
    "on a new connection is not sent again (%s)",
    async (close) => {
      using server = await ByteServer.start(({ socket }) => socket[close]());
      const lost = newClient().fetch(server.url, post("words"));
      expect(await rejection(lost)).toMatchObject({ name: "HttpError", code: "ECONNRESET" });
      expect(server.requests).toHaveLength(1);
    },
  );

  test("again on its new connection is not sent a third time", async () => {
    using server = await ByteServer.start(({ socket, number }) => {
      if (number === 1) socket.write(reply("done"));
      else socket.end();
    });
    const client = newClient();
    await fetchText(client, server.url);
    expect(await rejection(client.fetch(server.url, post("words")))).toMatchObject({
      code: "ECONNRESET",
    });
    expect(server.requests).toHaveLength(3);
  });

  test("after the server had it for a second is not sent again", async () => {
    let nowMs = 0;
    using server = await ByteServer.start(({ socket, number }) => {
      if (number === 1) return socket.write(reply("done"));
      nowMs += 1_000;
      return socket.end();
    });
    const client = newClient(() => nowMs);
    await fetchText(client, server.url);
    expect(await rejection(client.fetch(server.url, post("words")))).toMatchObject({
      code: "ECONNRESET",
    });
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ["a part of a head", "HTTP"],
    ["an informational response", "HTTP/1.1 102 Processing\r\n\r\n"],
    ["a head", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"],
  ])("after %s had come is not sent again", async (_, begun) => {
    using server = await ByteServer.start(({ socket, number }) => {
      if (number === 1) socket.write(reply("done"));
      else socket.end(begun);
    });
    const client = newClient();
    await fetchText(client, server.url);
    expect(await rejection(fetchText(client, server.url))).toMatchObject({ code: "ECONNRESET" });
    expect(server.requests).toHaveLength(2);
  });

  test("is not sent again if it was aborted", async () => {
    const caller = new AbortController();
    using server = await ByteServer.start(({ socket, number }) => {
      if (number === 1) return socket.write(reply("done"));
      caller.abort(new Error("the caller left"));
      return socket.end();
    });
    const client = newClient();
    await fetchText(client, server.url);
    const lost = client.fetch(server.url, upstreamInit({ signal: caller.signal }));
    expect(await rejection(lost)).toBe(caller.signal.reason);
    await eventually("the connection is closed", () => server.open === 0);
    expect(server.requests).toHaveLength(2);
  });
});

describe("the bytes of a request", () => {
  async function sent(path: string, init = upstreamInit()): Promise<string> {
    using server = await ByteServer.start(({ socket }) => socket.end(reply("done")));
    await newClient().fetch(`http://127.0.0.1:${server.port}${path}`, init);
    return (server.requests[0] ?? "").replace(`:${server.port}`, ":PORT");
  }

  test("for a GET is a head without a length", async () => {
    expect(await sent("/a%20path/ä?q=ö b#fragment")).toBe(
      [
        "GET /a%20path/%C3%A4?q=%C3%B6%20b HTTP/1.1",
        "host: 127.0.0.1:PORT",
        "accept-encoding: gzip",
        "accept: */*",
        "user-agent: Farebox",
        "",
        "",
      ].join("\r\n"),
    );
  });

  test("for a POST is a head with the length in bytes, and the body in UTF-8", async () => {
    const headers = {
      host: "example.com",
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": "Agent",
      authorization: "Bearer key",
    };
    const body = "Grüße, 世界 🌍";
    expect(await sent("/v1", upstreamInit({ method: "POST", headers, body }))).toBe(
      [
        "POST /v1 HTTP/1.1",
        "host: example.com",
        "accept: application/json",
        "accept-encoding: identity",
        "user-agent: Agent",
        "authorization: Bearer key",
        "content-length: 20",
        "",
        Buffer.from(body).toString("latin1"),
      ].join("\r\n"),
    );
  });

  test.each([[""], [null]])("for a POST with the body %p has the length 0", async (body) => {
    expect(await sent("/", upstreamInit({ method: "POST", body }))).toEndWith(
      "\r\ncontent-length: 0\r\n\r\n",
    );
  });

  test("with half a character in its body has the right length", async () => {
    const request = await sent("/", post("a\ud83c!\udf0d"));
    expect(request).toEndWith(`\r\ncontent-length: 8\r\n\r\na\xef\xbf\xbd!\xef\xbf\xbd`);
  });

  test.each([
    ["a line break in a name", { "x\r\ny": "1" }],
    ["a space in a name", { "x y": "1" }],
    ["a colon in a name", { "x:": "1" }],
    ["an empty name", { "": "1" }],
    ["CRLF in a value", { x: "1\r\ny: 2" }],
    ["LF in a value", { x: "1\ny: 2" }],
    ["CR in a value", { x: "1\ry: 2" }],
    ["a zero byte in a value", { x: "1\0" }],
  ])("never has %s", async (_, headers) => {
    using server = await ByteServer.start(({ socket }) => socket.write(reply("done")));
    const refused = newClient().fetch(server.url, upstreamInit({ headers }));
    const error = await rejection(refused);
    expect(error).toBeInstanceOf(TypeError);
    // Values may be secrets.
    expect(String(error)).not.toContain("1");
    await eventLoopTurns(10);
    expect(server.opened).toBe(0);
  });
});

describe("addresses", () => {
  test.each([
    ["::1", "[::1]"],
    ["::1", "localhost"],
    ["127.0.0.1", "localhost"],
  ])("a server at %s is reached as %s", async (address, host) => {
    using server = await ByteServer.start(({ socket }) => socket.end(reply("done")), address);
    expect(await fetchText(newClient(), `http://${host}:${server.port}/`)).toBe("done");
    expect(server.requests[0]).toContain(`\r\nhost: ${host}:${server.port}\r\n`);
  });

  test.each([
    ["a name that does not resolve", "http://no-such-name.invalid/", "ENOTFOUND"],
    ["a name that is too long", `http://${"a".repeat(64)}.invalid/`, "ENOTFOUND"],
    ["a port where nobody listens", "http://127.0.0.1:1/", "ECONNREFUSED"],
    ["the same with TLS", "https://127.0.0.1:1/", "ECONNREFUSED"],
    ["the same with IPv6", "http://[::1]:1/", "ECONNREFUSED"],
    ["port 0", "http://127.0.0.1:0/", "ECONNREFUSED"],
  ])("%s is an error with a code, which names no address", async (_, url, code) => {
    const error = await rejection(newClient().fetch(url, upstreamInit()));
    expect(error).toMatchObject({ name: "HttpError", code, message: "The connection failed" });
  });

  test.each([["ftp://127.0.0.1/"], ["file:///etc/passwd"], ["nonsense"], [""], ["http://"]])(
    "'%s' is no address",
    async (url) => {
      expect(await rejection(newClient().fetch(url, upstreamInit()))).toBeInstanceOf(TypeError);
    },
  );

  test.each([["http://name@127.0.0.1/"], ["http://:word@127.0.0.1/"]])(
    "an address with a name or a password is refused: %s",
    async (url) => {
      expect(await rejection(newClient().fetch(url, upstreamInit()))).toBeInstanceOf(TypeError);
    },
  );
});
