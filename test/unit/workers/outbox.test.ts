// Tests the service's own mails: added in a transaction, sent once it is committed, and read at a
// mail server.

import { beforeEach, expect, test } from "bun:test";
import { Registry } from "prom-client";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { retryDelayMs } from "../../../src/core/mail.ts";
import { chineseMails } from "../../../src/core/mails/chinese.ts";
import { germanMails } from "../../../src/core/mails/german.ts";
import { type MailTexts, mailOfReader } from "../../../src/core/mails/mail-texts.ts";
import { type ServiceMailKind, serviceMail } from "../../../src/core/service-mail.ts";
import { createServiceMimeBuilder } from "../../../src/services/mail/providers/mime.ts";
import { SmtpTransport } from "../../../src/services/mail/providers/smtp-transport.ts";
import { parseRelay } from "../../../src/services/mail/smtp-relay.ts";
import { addServiceMail, Outbox } from "../../../src/store/mail/outbox.ts";
import { resendMail } from "../../../src/store/operators/operator-queues.ts";
import { type OutboxDeps, outboxMetrics, sendOutbox } from "../../../workers/outbox.ts";
import { eventually } from "../../support/eventually.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { ScriptedSmtp } from "../../support/fakes/scripted-smtp.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { atEnd, shared } from "../../support/shared.ts";
import { openTestDatabase } from "../../support/stores/test-database.ts";

const DOMAIN = "mail.test";
const CLAIM_MS = 10_000;
const TO = "ada@example.test";
const CONTENT = serviceMail({
  brand: DEFAULT_BRAND,
  subject: "Your receipt",
  paragraphs: ["You paid <20 USD> & more."],
  facts: [["Amount", "$20.00"]],
  button: { label: "See it", url: "https://farebox.example/a?b=1&c=2" },
});

const { database } = await shared(openTestDatabase());
const smtp = await shared(ScriptedSmtp.start());
let registry: Registry;
let deps: OutboxDeps;

beforeEach(async () => {
  smtp.reset();
  await database.sql`DELETE FROM outbox`;
  registry = new Registry();
  deps = workerDeps(registry);
});

/** A worker with its own connections to the mail server. */
function workerDeps(own = new Registry(), connectionsMax = 10): OutboxDeps {
  const relay = { ...parseRelay(`${smtp.url}?tls=none`), name: DOMAIN, timeoutMs: 60_000 };
  const transport = new SmtpTransport({ relay, connectionsMax, clock: realClock });
  atEnd(() => transport.close());
  const outbox = new Outbox(database);
  return {
    outbox,
    transport,
    retryDelayMs,
    log: silent,
    mailDomain: DOMAIN,
    claimMs: CLAIM_MS,
    atOnce: connectionsMax,
    build: createServiceMimeBuilder({ domain: DOMAIN, brand: () => DEFAULT_BRAND, dkim: null }),
    ...outboxMetrics(own, outbox, silent),
  };
}

interface Added {
  readonly kind?: ServiceMailKind;
  readonly to?: string;
  readonly uniqueKey?: string;
  readonly now?: Date;
}

function add({ kind = "receipt", to = TO, uniqueKey, now = new Date() }: Added = {}) {
  return database.db.transaction((tx) =>
    addServiceMail(
      tx,
      {
        write: () => CONTENT,
        kind,
        to,
        account: null,
        ...(uniqueKey !== undefined && { uniqueKey }),
      },
      now,
    ),
  );
}

async function rows() {
  return await database.sql`SELECT * FROM outbox ORDER BY created_at`;
}

async function makeDue(): Promise<void> {
  await database.sql`UPDATE outbox SET next_attempt_at = now(), claimed_until = NULL`;
}

async function metric(name: string): Promise<string> {
  return await registry.getSingleMetricAsString(name);
}

test("a mail is in the language that its reader keeps, whoever causes it", async () => {
  const content = ({ receipt }: MailTexts) => ({
    subject: receipt.subject("$5.00"),
    paragraphs: [receipt.paragraph("$5.00")],
  });
  await database.sql`
    INSERT INTO people (id, email, name, language) VALUES ('person_de', 'de@x.test', 'De', 'de')`;
  const former = { to: "former@x.test", reader: "De@x.test" };
  for (const address of [{ to: "DE@x.test" }, { to: "nobody@x.test" }, former]) {
    const write = mailOfReader(DEFAULT_BRAND, content, "zh-Hans");
    await database.db.transaction((tx) =>
      addServiceMail(tx, { write, kind: "receipt", ...address, account: null }, new Date()),
    );
  }
  expect((await rows()).map(({ subject }) => subject).sort()).toEqual([
    germanMails.receipt.subject("$5.00"),
    germanMails.receipt.subject("$5.00"),
    chineseMails.receipt.subject("$5.00"),
  ]);
});

test("a mail arrives from no-reply in text and HTML, and its content is deleted", async () => {
  expect(await add()).toBe("added");
  expect(await metric("farebox_service_mails_waiting")).toContain(
    "farebox_service_mails_waiting 1",
  );
  await sendOutbox(deps);
  const [mail] = await smtp.parsed();
  expect(smtp.accepted[0]).toMatchObject({ from: `no-reply@${DOMAIN}`, to: [TO] });
  expect(mail?.from?.value).toEqual([{ name: "Farebox", address: `no-reply@${DOMAIN}` }]);
  expect(mail?.subject).toBe("Your receipt");
  expect(mail?.text).toBe(CONTENT.text);
  expect(mail?.html).toContain("You paid &lt;20 USD&gt; &amp; more.");
  expect(mail?.html).toContain('href="https://farebox.example/a?b=1&amp;c=2"');
  expect(mail?.html).not.toMatch(/<img|<link|<script|url\(|src=/);
  const [row] = await rows();
  expect(mail?.messageId).toBe(`<${row?.id}@${DOMAIN}>`);
  expect(row).toMatchObject({ status: "sent", subject: null, text: null, html: null });
  expect(await metric("farebox_service_mails_waiting")).toContain(
    "farebox_service_mails_waiting 0",
  );
  expect(await metric("farebox_service_mails_total")).toContain(
    '{kind="receipt",result="accepted"} 1',
  );
});

test("a mail whose transaction is rolled back is not sent", async () => {
  const rolledBack = database.db.transaction(async (tx) => {
    await addServiceMail(
      tx,
      { write: () => CONTENT, kind: "receipt", to: TO, account: null },
      new Date(),
    );
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  await sendOutbox(deps);
  expect(smtp.accepted).toHaveLength(0);
});

test("a unique key sends one mail, however many transactions add it at once", async () => {
  const added = await Promise.all(
    Array.from({ length: 10 }, () => add({ uniqueKey: "receipt 1" })),
  );
  expect(added.filter((result) => result === "added")).toHaveLength(1);
  expect(added.filter((result) => result === "repeated")).toHaveLength(9);
  await sendOutbox(deps);
  expect(await add({ uniqueKey: "receipt 1" })).toBe("repeated");
  await deps.outbox.expire(0);
  expect(await add({ uniqueKey: "receipt 1" })).toBe("repeated");
  await sendOutbox(deps);
  expect(smtp.accepted).toHaveLength(1);
});

test("mails that strangers can cause are limited for each inbox and hour", async () => {
  const kind = "verification";
  const added = await Promise.all(
    Array.from({ length: 8 }, (_, at) => add({ kind, to: at % 2 === 0 ? TO : TO.toUpperCase() })),
  );
  expect(added.filter((result) => result === "added")).toHaveLength(3);
  expect(added.filter((result) => result === "limited")).toHaveLength(5);
  const codes = await Promise.all(Array.from({ length: 35 }, () => add({ kind: "one_time_code" })));
  expect(codes.filter((result) => result === "added")).toHaveLength(30);
  expect(await add({ kind, to: "other@example.test" })).toBe("added");
  expect(await add({ kind: "receipt" })).toBe("added");
  const later = new Date(Date.now() + 3_600_001);
  expect(await add({ kind, now: later })).toBe("added");
});

test("many workers send each mail once", async () => {
  const workers = [deps, workerDeps(), workerDeps(), workerDeps()];
  await Promise.all(Array.from({ length: 60 }, () => add()));
  await Promise.all(workers.map(sendOutbox));
  const ids = (await smtp.parsed()).map(({ messageId }) => messageId);
  expect(ids).toHaveLength(60);
  expect(new Set(ids).size).toBe(60);
});

test("a claimed mail is sent by no other worker before the claim ends", async () => {
  await add();
  const [claim] = await deps.outbox.claim(CLAIM_MS, 1);
  await sendOutbox(workerDeps());
  expect(smtp.accepted).toHaveLength(0);
  await database.sql`UPDATE outbox SET claimed_until = now() - interval '1 second'`;
  await sendOutbox(workerDeps());
  expect(smtp.accepted).toHaveLength(1);
  if (claim === undefined) throw new Error("The mail was not claimed");
  expect(await deps.outbox.renew(claim, CLAIM_MS)).toBe(false);
});

test("a worker that lost its claim does not send the end of the mail", async () => {
  await add();
  smtp.script = {
    to: () => {
      void database.sql`UPDATE outbox SET attempts = attempts + 1`.execute();
      return null;
    },
  };
  const renewals: boolean[] = [];
  const { outbox } = deps;
  const renew = async (...args: Parameters<typeof outbox.renew>) => {
    await eventually("the claim is lost", async () => (await rows())[0]?.attempts === 2);
    const isRenewed = await outbox.renew(...args);
    renewals.push(isRenewed);
    return isRenewed;
  };
  await sendOutbox({ ...deps, outbox: Object.assign(Object.create(outbox), { renew }) });
  expect(renewals).toEqual([false]);
  expect(smtp.accepted).toHaveLength(0);
  expect((await rows())[0]).toMatchObject({ status: "waiting" });
});

test("no mail loses its claim while others take the only connection", async () => {
  await Promise.all(Array.from({ length: 3 }, () => add()));
  smtp.script = {
    // When a mail was accepted, every earlier claim has ended.
    data: async () => {
      await database.sql`
        UPDATE outbox SET claimed_until = now() - interval '1 second' WHERE status = 'waiting'`;
      return null;
    },
  };
  const results: string[] = [];
  const onAttempt = (_: string, result: string) => results.push(result);
  await sendOutbox({ ...workerDeps(new Registry(), 1), onAttempt });
  expect(smtp.accepted).toHaveLength(3);
  expect(results).toEqual(["accepted", "accepted", "accepted"]);
});

test("a lost answer sends the same bytes again, which the server can recognise", async () => {
  await add();
  smtp.script = { data: () => "lost" };
  await sendOutbox(deps);
  expect((await rows())[0]).toMatchObject({ status: "waiting", claimed_until: null });
  await makeDue();
  smtp.script = {};
  await sendOutbox(deps);
  const [first, second] = smtp.accepted.map(({ raw }) => raw.toString());
  expect(first).toBe(second ?? "");
  expect((await rows())[0]).toMatchObject({ status: "sent", attempts: 2 });
});

test("a server that is away is retried at growing intervals, for 24 hours", async () => {
  await add();
  smtp.script = { from: () => ({ code: 451 }) };
  for (const seconds of [15, 60, 300]) {
    await sendOutbox(deps);
    const [row] = await database.sql`
      SELECT extract(epoch FROM next_attempt_at - now())::float8 AS seconds FROM outbox`;
    expect(Number(row?.seconds)).toBeWithin(seconds - 10, seconds + 1);
    await sendOutbox(deps);
    await makeDue();
  }
  expect((await rows())[0]).toMatchObject({ attempts: 3, last_error: "EENVELOPE 451" });
  await database.sql`UPDATE outbox SET created_at = now() - interval '24 hours 1 minute'`;
  smtp.script = {};
  await sendOutbox(deps);
  expect(smtp.accepted).toHaveLength(0);
  expect((await rows())[0]).toMatchObject({ status: "failed", text: CONTENT.text });
  expect(await metric("farebox_service_mails_total")).toContain(
    '{kind="receipt",result="expired"} 1',
  );
});

test("an inbox that does not exist ends its mail", async () => {
  await add();
  smtp.script = { to: () => ({ code: 550, text: "No such user ada@example.test" }) };
  await sendOutbox(deps);
  const [row] = await rows();
  expect(row).toMatchObject({ status: "failed", last_error: "rejected address" });
});

async function failed(kind: ServiceMailKind) {
  await add({ kind });
  smtp.script = { to: () => ({ code: 550, text: "No such inbox" }) };
  await sendOutbox(deps);
  smtp.script = {};
  const [row] = await database.sql`SELECT * FROM outbox WHERE kind = ${kind}`;
  return { id: String(row?.id), status: row?.status, hasContent: row?.text !== null };
}

const nothingMore = () => Promise.resolve();

test("a mail that failed is sent again on request, as the same mail", async () => {
  const { id, status, hasContent } = await failed("receipt");
  expect([status, hasContent]).toEqual(["failed", true]);
  await sendOutbox(deps);
  expect(smtp.accepted).toHaveLength(0);
  // Long after its own day of attempts.
  await database.sql`UPDATE outbox SET created_at = created_at - interval '2 days'`;
  expect(await resendMail(database, id, nothingMore)).toBe(true);
  expect(await resendMail(database, id, nothingMore)).toBe(false);
  await sendOutbox(deps);
  const [mail] = await smtp.parsed();
  expect([mail?.messageId, mail?.subject]).toEqual([`<${id}@${DOMAIN}>`, "Your receipt"]);
  expect(smtp.accepted).toHaveLength(1);
  const [row] = await rows();
  expect(row).toMatchObject({ status: "sent", subject: null, text: null, html: null });
  expect(await resendMail(database, id, nothingMore)).toBe(false);
});

test("a mail with a code or a link keeps nothing when it fails", async () => {
  for (const kind of ["one_time_code", "password_reset", "verification", "invitation"] as const) {
    const { id, status, hasContent } = await failed(kind);
    expect([kind, status, hasContent]).toEqual([kind, "failed", false]);
    expect(await resendMail(database, id, nothingMore)).toBe(false);
  }
});

test("a mail that failed loses its content after seven days", async () => {
  const { id } = await failed("receipt");
  await database.sql`UPDATE outbox SET ended_at = now() - interval '6 days 23 hours'`;
  await deps.outbox.expire(90 * 86_400_000);
  expect((await rows())[0]?.text).not.toBeNull();
  await database.sql`UPDATE outbox SET ended_at = now() - interval '7 days 1 second'`;
  await deps.outbox.expire(90 * 86_400_000);
  expect((await rows())[0]).toMatchObject({ status: "failed", text: null, html: null });
  expect(await resendMail(database, id, nothingMore)).toBe(false);
});

test("if the change beside it fails, the mail is not sent again", async () => {
  const { id } = await failed("receipt");
  const breaks = () => Promise.reject(new Error("no line"));
  await expect(resendMail(database, id, breaks)).rejects.toThrow("no line");
  await sendOutbox(deps);
  expect(smtp.accepted).toHaveLength(0);
});
