// Tests the message that a recipient gets, as an independent parser reads it.

import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { simpleParser } from "mailparser";
import { DEFAULT_BRAND } from "../../../../src/core/brand/brand.ts";
import type { MailContent } from "../../../../src/core/mail.ts";
import { createMimeBuilder } from "../../../../src/services/mail/providers/mime.ts";
import { SmtpTransport } from "../../../../src/services/mail/providers/smtp-transport.ts";
import { parseRelay } from "../../../../src/services/mail/smtp-relay.ts";
import { realClock } from "../../../support/fakes/fake-clock.ts";
import { ScriptedSmtp } from "../../../support/fakes/scripted-smtp.ts";
import { verifyDkim } from "../../../support/fakes/verify-dkim.ts";

const SENDER = "abcdefgh22345677@mail.test";
const CONTENT: MailContent = {
  to: ["ada@x.test", "b@xn--bcher-kva.test"],
  subject: "Grüße 😀",
  text: `.leading dot\n${"long ".repeat(400)}\nFrom me\nTschüß`,
  html: `<html><body><p>Grüße 😀 ${"x".repeat(3_000)}</p></body></html>`,
  fromName: "Ada, Countess",
  replyTo: "ada@x.test",
};
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const DKIM = {
  selector: "s1",
  privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
};

function build(content: Partial<MailContent> = {}, dkim: typeof DKIM | null = null) {
  return createMimeBuilder({ domain: "mail.test", brand: () => DEFAULT_BRAND, dkim })({
    id: "msg_0000000000000000000001",
    content: { ...CONTENT, ...content },
    sender: SENDER,
    accountDomain: "acme.test",
    date: new Date("2026-11-21T12:00:00Z"),
  });
}

test("a message has the headers of a good sender", async () => {
  const mail = await simpleParser(await build());
  expect(mail.from?.value).toEqual([{ name: "Ada, Countess via Farebox", address: SENDER }]);
  expect(mail.replyTo?.value).toEqual([{ name: "", address: "ada@x.test" }]);
  const to = Array.isArray(mail.to) ? [] : (mail.to?.value ?? []);
  expect(to.map(({ address }) => address)).toEqual(["ada@x.test", "b@bücher.test"]);
  expect(mail.subject).toBe("Grüße 😀");
  expect(mail.messageId).toBe("<msg_0000000000000000000001@mail.test>");
  expect(mail.date).toEqual(new Date("2026-11-21T12:00:00Z"));
  expect(mail.headers.get("auto-submitted")).toBe("auto-generated");
  expect(mail.headers.get("list")).toMatchObject({
    id: { name: "abcdefgh22345677.mail.test" },
    unsubscribe: { mail: expect.stringContaining("ada@x.test") },
  });
  expect(mail.headers.has("bcc")).toBe(false);
});

test("a subject that looks encoded arrives as it was typed", async () => {
  for (const subject of [
    "=?utf-8?q?Hidden?=",
    `Look: =?UTF-8?B?SGlkZGVu?= ${"and Grüße 😀 ".repeat(12)}`.trim(),
    "=?",
  ]) {
    const bytes = await build({ subject });
    expect((await simpleParser(bytes)).subject).toBe(subject);
    for (const line of bytes.toString("latin1").split("\r\n")) {
      expect(line.length).toBeLessThanOrEqual(78);
    }
  }
});

test("the contact of a message is its reply_to, whatever characters it has", async () => {
  for (const replyTo of ["jane&co@x.test", "a?cc=b#c@x.test", "a+b@x.test", "50/50=1@x.test"]) {
    const raw = (await build({ replyTo })).toString("latin1").replaceAll("\r\n ", "");
    const [, address = ""] = /^List-Unsubscribe: *<([^>]*)>\r$/m.exec(raw) ?? [];
    const url = new URL(address);
    expect(decodeURIComponent(url.pathname)).toBe(replyTo);
    expect([...url.searchParams.keys()]).toEqual(["subject"]);
    expect(url.hash).toBe("");
  }
});

test("text and HTML arrive unchanged, each with the footer", async () => {
  const mail = await simpleParser(await build());
  expect(mail.text).toStartWith(".leading dot\nlong long");
  expect(mail.text).toEndWith("Tschüß\n\n-- \nSent by acme.test through Farebox.\n");
  expect(mail.html).toContain("Grüße 😀");
  expect(mail.html).toMatch(/Sent by acme\.test through Farebox\.<\/p><\/body><\/html>\s*$/);
});

test("no line is longer than SMTP allows, and all bytes are ASCII", async () => {
  const raw = (await build()).toString("latin1");
  expect(Math.max(...raw.split("\r\n").map(({ length }) => length))).toBeLessThanOrEqual(998);
  expect(/^[\t\r\n -~]*$/.test(raw)).toBe(true);
  expect(/[^\r]\n/.test(raw)).toBe(false);
});

test("the same message is the same bytes each time", async () => {
  expect((await build()).equals(await build())).toBe(true);
});

test("content stays content: it reads no file, no URL, and makes no header", async () => {
  const hostile = "x\r\nBcc: eve@x.test\r\n\r\nbody";
  const mail = await simpleParser(
    await build({ subject: hostile, fromName: hostile, html: null, text: hostile }),
  );
  expect(mail.headers.has("bcc")).toBe(false);
  expect(mail.subject).toContain("Bcc: eve@x.test");
  const html = await build({ html: '<img src="file:///etc/passwd"><img src="data:x">' });
  const parsed = await simpleParser(html, { skipImageLinks: true });
  expect(parsed.attachments).toEqual([]);
});

test("the DKIM signature holds for the headers and the body", async () => {
  const raw = (await build({}, DKIM)).toString("latin1");
  expect(verifyDkim(raw, publicKey)).toEqual({ body: true, headers: true, domain: "mail.test" });
  const changed = raw.replace("Date: Sat", "Date: Sun");
  expect(verifyDkim(changed, publicKey).headers).toBe(false);
});

test("line breaks of all kinds arrive as line breaks, under a signature that holds", async () => {
  await using smtp = await ScriptedSmtp.start();
  const relay = { ...parseRelay(`${smtp.url}?tls=none`), name: "mail.test", timeoutMs: 60_000 };
  const transport = new SmtpTransport({ relay, connectionsMax: 1, clock: realClock });
  const text = "a\rb\r\nc\nd\r\r\ne\r.\rf";
  const mime = await build({ text, html: `<p>${text}</p>` }, DKIM);
  await transport.send({ from: SENDER, to: ["ada@x.test"], mime }, async () => true);
  transport.close();
  const [{ raw } = { raw: Buffer.alloc(0) }] = smtp.accepted;
  const verified = { body: true, headers: true, domain: "mail.test" };
  expect(verifyDkim(raw.toString("latin1"), publicKey)).toEqual(verified);
  const mail = await simpleParser(raw);
  expect(mail.text).toStartWith("a\nb\nc\nd\n\ne\n.\nf\n");
  expect(mail.html).toStartWith("<p>a\nb\nc\nd\n\ne\n.\nf");
});

test("no line is wrapped that is short enough, whatever ends the previous line", async () => {
  const [before, line] = ["x".repeat(100), "y".repeat(70)];
  for (const end of ["\n", "\r\n", "\r"]) {
    const raw = (await build({ text: `${before}${end}${line}${end}z` })).toString("latin1");
    expect(raw).toContain(`\r\n${line}\r\n`);
  }
});
