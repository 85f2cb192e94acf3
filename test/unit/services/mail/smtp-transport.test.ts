// Tests the result of a conversation with a mail server for its message.

import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { greetRelay } from "../../../../src/services/mail/providers/relay-check.ts";
import {
  SmtpTransport,
  type SmtpTransportOptions,
} from "../../../../src/services/mail/providers/smtp-transport.ts";
import type { SmtpRelay } from "../../../../src/services/mail/smtp-relay.ts";
import { eventually } from "../../../support/eventually.ts";
import { realClock } from "../../../support/fakes/fake-clock.ts";
import { startLineSmtp } from "../../../support/fakes/line-smtp.ts";
import { ScriptedSmtp } from "../../../support/fakes/scripted-smtp.ts";
import { closedGate } from "../../../support/gate.ts";

const MAIL = {
  from: "a@mail.test",
  to: ["b@x.test"],
  mime: Buffer.from("Subject: Hello\r\n\r\nA line.\r\n"),
};

function relayAt(port: number, more: Partial<SmtpRelay> = {}): SmtpRelay {
  const login = { user: null, password: null };
  const fixed = { host: "127.0.0.1", port, tls: "none", name: "mail.test", timeoutMs: 60_000 };
  return { ...fixed, ...login, ...more } as SmtpRelay;
}

function transportTo(relay: SmtpRelay, clock: SmtpTransportOptions["clock"] = realClock) {
  const transport = new SmtpTransport({ relay, connectionsMax: 1, clock });
  let commits = 0;
  return {
    send: (mime = MAIL.mime, to = MAIL.to) =>
      transport.send({ ...MAIL, mime, to }, async () => {
        commits += 1;
        return true;
      }),
    get commits() {
      return commits;
    },
    [Symbol.dispose]: () => transport.close(),
  };
}

test("a message answered with 421 at its end is not sent again on a new connection", async () => {
  await using smtp = await ScriptedSmtp.start();
  using transport = transportTo(relayAt(smtp.port));
  expect(await transport.send()).toEqual({ kind: "accepted", accepted: 1 });
  smtp.script = { data: () => ({ code: 421 }) };
  const told = { kind: "deferred", why: "EMESSAGE 421", answered: true } as const;
  expect(await transport.send()).toEqual(told);
  expect([transport.commits, smtp.connections]).toEqual([2, 1]);
});

test("a used connection that is closed with 421 costs its next message nothing", async () => {
  await using smtp = await ScriptedSmtp.start();
  using transport = transportTo(relayAt(smtp.port));
  await transport.send();
  let told = 0;
  smtp.script = { from: () => (told++ === 0 ? { code: 421 } : null) };
  expect(await transport.send()).toEqual({ kind: "accepted", accepted: 1 });
  expect([transport.commits, smtp.connections]).toEqual([2, 2]);
});

test("recipients that are put off while others are taken get the next transaction", async () => {
  await using smtp = await ScriptedSmtp.start();
  using transport = transportTo(relayAt(smtp.port));
  const to = ["a", "b", "c", "d", "e"].map((name) => `${name}@x.test`);
  // The server takes two recipients at a time (RFC 5321 4.5.3.1.10), and never b@x.test.
  let taken = 0;
  smtp.script = {
    from: () => {
      taken = 0;
      return null;
    },
    to: (address) => {
      if (address === "b@x.test") return { code: 550 };
      taken += 1;
      return taken > 2 ? { code: 452 } : null;
    },
  };
  expect(await transport.send(MAIL.mime, to)).toEqual({ kind: "accepted", accepted: 4 });
  expect(smtp.accepted.map((mail) => mail.to)).toEqual([
    ["a@x.test", "c@x.test"],
    ["d@x.test", "e@x.test"],
  ]);
  expect([transport.commits, smtp.connections]).toEqual([2, 1]);
});

test("a recipient that is put off twice has no message, and the others have one", async () => {
  await using smtp = await ScriptedSmtp.start();
  using transport = transportTo(relayAt(smtp.port));
  const recipients: string[] = [];
  smtp.script = {
    to: (address) => {
      recipients.push(address);
      return address === "b@x.test" ? { code: 451 } : null;
    },
  };
  const to = ["a@x.test", "b@x.test"];
  expect(await transport.send(MAIL.mime, to)).toEqual({ kind: "accepted", accepted: 1 });
  expect(recipients).toEqual(["a@x.test", "b@x.test", "b@x.test"]);
  expect(smtp.accepted.map((mail) => mail.to)).toEqual([["a@x.test"]]);
});

test("a server with reports is told to report only failures, without a copy", async () => {
  const replies = { "MAIL FROM": "250 Ok", "RCPT TO": "250 Ok", DATA: "354 Go on", ".": "250 Ok" };
  for (const [offered, from, to] of [
    [
      "250-mail.test\r\n250 DSN",
      "MAIL FROM:<a@mail.test> RET=HDRS",
      "RCPT TO:<b@x.test> NOTIFY=FAILURE",
    ],
    ["250 mail.test", "MAIL FROM:<a@mail.test>", "RCPT TO:<b@x.test>"],
  ] as const) {
    using server = await startLineSmtp({ EHLO: offered, ...replies });
    using transport = transportTo(relayAt(server.port));
    expect(await transport.send()).toEqual({ kind: "accepted", accepted: 1 });
    expect(server.lines).toContain(from);
    expect(server.lines).toContain(to);
  }
});

test("a password is not sent over a connection whose encryption the server refused", async () => {
  using server = await startLineSmtp({
    EHLO: "250-mail.test\r\n250-STARTTLS\r\n250 AUTH PLAIN",
    STARTTLS: "454 Not now",
  });
  const relay = relayAt(server.port, { tls: "optional", user: "u", password: "secret" });
  using transport = transportTo(relay);
  const none = { kind: "deferred", why: "ENOAUTH", answered: false } as const;
  expect(await transport.send()).toEqual(none);
  expect(server.lines.filter((line) => line.startsWith("AUTH"))).toEqual([]);
  const { problem } = (await greetRelay(relay)) as { problem: string };
  expect(problem).toStartWith("the server takes no password");
});

test("only a refusal after a whole message proves that the server does not have it", async () => {
  using server = await startLineSmtp({ ".": "354 Go on" });
  using transport = transportTo(relayAt(server.port));
  const lost = { kind: "unanswered", why: "EMESSAGE 354", answered: false } as const;
  expect(await transport.send()).toEqual(lost);
});

/** Begins a reply, and continues it often enough that the connection is never idle. */
function goOnForEver(socket: Socket): void {
  const timer = setInterval(() => socket.write("250-wait\r\n"), 20);
  socket.on("close", () => clearInterval(timer));
}

test("a server that never ends a reply is left, at whichever step it hangs", async () => {
  for (const script of [
    { EHLO: goOnForEver },
    { AUTH: goOnForEver },
    { DATA: "451 Not now", RSET: goOnForEver },
  ]) {
    using server = await startLineSmtp(script);
    const login = { user: "u", password: "p", timeoutMs: 200 };
    using transport = transportTo(relayAt(server.port, login));
    expect(await transport.send()).toMatchObject({ kind: "deferred", answered: false });
    await eventually("the connection is closed", () => server.open === 0);
  }
});

test("a message whose end could not be agreed is put off, and no command follows it", async () => {
  using server = await startLineSmtp({});
  const relay = relayAt(server.port);
  const transport = new SmtpTransport({ relay, connectionsMax: 1, clock: realClock });
  const delivery = await transport.send(MAIL, () => Promise.reject(new Error("Postgres is away")));
  expect(delivery).toEqual({ kind: "deferred", why: "ESTREAM", answered: false });
  await eventually("the connection is closed", () => server.open === 0);
  expect(server.lines.slice(-1)).toEqual(["DATA"]);
  expect(server.unread).toBe(MAIL.mime.toString());
});

test("a message refused before its end is not ended, and no command follows it", async () => {
  using server = await startLineSmtp({});
  const relay = relayAt(server.port);
  const transport = new SmtpTransport({ relay, connectionsMax: 1, clock: realClock });
  const asked = closedGate();
  const delivery = await transport.send(MAIL, async () => {
    server.say("452 No room");
    await asked.pass();
    return true;
  });
  expect(delivery).toMatchObject({ kind: "deferred", why: "EMESSAGE 452" });
  asked.open();
  await eventually("the connection is closed", () => server.open === 0);
  expect(server.unread).toBe(MAIL.mime.toString());
});

function stopReading(socket: Socket): void {
  socket.write("354 Go on\r\n");
  socket.pause();
}

test("the end of a message is not sent while the server does not take the rest", async () => {
  using server = await startLineSmtp({ DATA: stopReading });
  using transport = transportTo(relayAt(server.port, { timeoutMs: 300 }));
  const large = Buffer.alloc(16 * 1024 * 1024, `${"x".repeat(70)}\r\n`);
  expect(await transport.send(large)).toMatchObject({ kind: "deferred" });
  expect(transport.commits).toBe(0);
});

test("a message of many slices arrives byte for byte", async () => {
  await using smtp = await ScriptedSmtp.start();
  // The server is slow with dots.
  using transport = transportTo(relayAt(smtp.port, { timeoutMs: 20_000 }));
  // Line breaks, and dots at the start of a line, on both sides of a cut.
  const mime = Buffer.alloc(60_000, ".\r\n");
  expect(await transport.send(mime)).toMatchObject({ kind: "accepted" });
  expect(smtp.accepted[0]?.raw.equals(mime)).toBe(true);
});
