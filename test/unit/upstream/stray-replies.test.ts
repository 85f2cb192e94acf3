// Tests servers, and proxies before them, that answer a request twice or send more than they
// declare. Whatever they send and whenever: no account gets a part of the reply to another account.

import { describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { ByteServer, newClient, reply, upstreamInit } from "../../support/fakes/byte-server.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";

type Client = ReturnType<typeof newClient>;

const ROUNDS = 8;
const ACCOUNTS = ["acct_a", "acct_b", "acct_c"];

const secretOf = (account: string) => `secret of ${account}`;

/** The answer that the server must give a request of this account. */
function secretIn(text: string): string {
  return secretOf(/\r\nx-for: (\w+)/.exec(text)?.[1] ?? "nobody");
}

async function textFor(client: Client, url: string, account: string): Promise<string> {
  const init = upstreamInit({ account, headers: { "x-for": account } });
  const response = await client.fetch(url, init);
  return await response.text();
}

const chunked = (body: string, end: string) =>
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" +
  `${body.length.toString(16)}\r\n${body}\r\n0\r\n${end}`;
const tooShort = (body: string, rest: string) =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}${rest}`;
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const NEVER_ASKED = "never asked for";

interface Turn {
  readonly write: (text: string) => void;
  /** The reply to this request. */
  readonly own: string;
  /** The reply to the previous request on the connection; empty for the first. */
  readonly before: string;
  readonly body: string;
}

const SERVERS: Readonly<Record<string, (turn: Turn) => void>> = {
  "a second reply in the same piece": ({ write, own }) => write(own + own),
  "a second reply at once after the first": ({ write, own }) => {
    write(own);
    write(own);
  },
  "a second reply a millisecond later": ({ write, own }) => {
    write(own);
    realClock.after(1, () => write(own));
  },
  "the reply before once more, after the next request has come": ({ write, own, before }) =>
    write(before + own),
  "the reply before once more, and its own only with the next one": ({ write, own, before }) =>
    write(before === "" ? own : before),
  "an informational response and a second reply": ({ write, own }) => {
    write(CONTINUE + own);
    write(CONTINUE + own);
  },
  "an informational response after the reply, and a reply later": ({ write, own, before }) =>
    write(before === "" ? own + CONTINUE : before + own),
  "more than the length says": ({ write, body }) => write(tooShort(body, reply(NEVER_ASKED))),
  "more than the length says, a moment later": ({ write, body }) => {
    write(tooShort(body, ""));
    setImmediate(() => write(reply(NEVER_ASKED)));
  },
  "a reply in place of trailers": ({ write, body }) =>
    write(chunked(body, `${reply(NEVER_ASKED)}\r\n`)),
  "a reply after its last chunk": ({ write, body }) =>
    write(chunked(body, `\r\n${reply(NEVER_ASKED)}`)),
  "the reply before in chunks, after the next request has come": ({ write, body, before }) =>
    write((before === "" ? "" : chunked("the reply before", "\r\n")) + chunked(body, "\r\n")),
};

function start(answer: (turn: Turn) => void): Promise<ByteServer> {
  const before = new WeakMap<object, string>();
  return ByteServer.start(({ socket, text }) => {
    const body = secretIn(text);
    const own = reply(body);
    answer({
      own,
      body,
      before: before.get(socket) ?? "",
      write: (bytes) => void (socket.writable && socket.write(bytes)),
    });
    before.set(socket, own);
  });
}

describe("no account gets a reply to another account from a server that sends", () => {
  for (const [name, answer] of Object.entries(SERVERS)) {
    test(name, async () => {
      using server = await start(answer);
      const client = newClient();
      const own = ACCOUNTS.map(secretOf);
      for (let round = 0; round < ROUNDS; round += 1) {
        // One request after the other, each as soon as the previous one has its reply.
        for (const [at, account] of ACCOUNTS.entries()) {
          const text = await textFor(client, server.url, account).catch(() => "");
          expect([own[at], "", NEVER_ASKED, "the reply before"]).toContain(text);
        }
      }
      client.close();
    });
  }
});

describe("connections", () => {
  test("are used by one account only, and by each of them again", async () => {
    using server = await start(({ write, own }) => write(own));
    const client = newClient();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const account of ACCOUNTS) {
        expect(await textFor(client, server.url, account)).toBe(secretOf(account));
      }
    }
    expect(server.opened).toBe(ACCOUNTS.length);
  });

  test.each(["in the same piece", "at once after the first", "a millisecond later"])(
    "are not used again after a second reply %s",
    async (when) => {
      const answer = SERVERS[`a second reply ${when}`];
      if (answer === undefined) throw new Error("There is no such server");
      using server = await start(answer);
      const client = newClient();
      for (let number = 1; number <= 3; number += 1) {
        expect(await textFor(client, server.url, "acct_a")).toBe(secretOf("acct_a"));
        await eventually("the connection is closed", () => server.open === 0);
        expect(server.opened).toBe(number);
      }
    },
  );
});

describe("a server that gave up an idle connection, and reports that with 408", () => {
  const timedOut = "HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
  /** Answers the first request of a connection, and the next ones with 408. */
  const startTimingOut = (answersMax: number, beforeEach = () => {}) =>
    ByteServer.start(({ socket, turn, text }) => {
      beforeEach();
      if (turn <= answersMax) socket.write(reply(secretIn(text)));
      else socket.end(timedOut);
    });

  test("gets the request again on a new connection", async () => {
    using server = await startTimingOut(1);
    const client = newClient();
    for (let count = 0; count < 3; count += 1) {
      expect(await textFor(client, server.url, "acct_a")).toBe(secretOf("acct_a"));
    }
    expect([server.requests.length, server.opened]).toEqual([5, 3]);
  });

  test("does not get it again if the connection is new", async () => {
    using server = await startTimingOut(0);
    expect((await newClient().fetch(server.url, upstreamInit())).status).toBe(408);
    expect(server.requests).toHaveLength(1);
  });

  test("does not get it again if it had the request for a second", async () => {
    let nowMs = 0;
    using server = await startTimingOut(1, () => {
      nowMs += 1_000;
    });
    const client = newClient(() => nowMs);
    expect(await textFor(client, server.url, "acct_a")).toBe(secretOf("acct_a"));
    const init = upstreamInit({ account: "acct_a" });
    expect((await client.fetch(server.url, init)).status).toBe(408);
    expect(server.requests).toHaveLength(2);
  });
});
