import { describe, expect, test } from "bun:test";
import { toUuid } from "../../../src/core/ids.ts";
import { usd } from "../../../src/core/money/money.ts";
import { errorOf, MAIL_DOMAIN } from "../../support/api/api-world.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import { mailAccount, mailBody, resultOf } from "../../support/stores/mail-world.ts";

const world = await sharedMail();
/** An account whose tier allows all requests of these tests. */
const account = await mailAccount(world.api, { contract: "enterprise", paid: "100" });

async function refusal(body: object, key?: string): Promise<string> {
  const response = await world.send(account, body, key);
  if (response.status === 200) return "200";
  const { code, message } = await errorOf(response);
  return `${response.status} ${code}: ${message}`;
}

async function accepted(body: object): Promise<void> {
  const response = await world.send(account, body);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
}

test("a message that the server took is answered, charged and can be looked up", async () => {
  const own = await mailAccount(world.api);
  const to = ["a@x.test", "b@Y.test", "a@X.TEST"];
  const response = await world.send(own, mailBody({ to }));
  const body = await resultOf(response);
  expect(response.status).toBe(200);
  expect(body).toEqual({
    id: expect.stringMatching(/^msg_[0-9A-Za-z]{22}$/),
    object: "mail.message",
    status: "sent",
    from: expect.stringMatching(new RegExp(`^[a-z2-7]{16}@${MAIL_DOMAIN}$`)),
    recipients: 2,
    accepted: 2,
    rejected: 0,
    svc: { request_id: response.headers.get("x-request-id") ?? "", cost_usd: 0.002 },
  });
  expect(response.headers.get("x-svc-cost-usd")).toBe("0.002");
  const { paid, heldPaid, monthSpent } = await world.api.view(own);
  expect([paid, heldPaid, monthSpent]).toEqual(["59.998", "0", "0.002"].map(usd));
  expect(world.smtp.accepted).toHaveLength(1);
  expect(world.smtp.accepted[0]?.to).toEqual(["a@x.test", "b@y.test"]);
  const look = await world.status(own, body.id);
  expect(look).toEqual({
    id: body.id,
    object: "mail.message",
    status: "sent",
    created: expect.any(Number),
    recipients: 2,
    accepted: 2,
    domains: ["x.test", "y.test"],
    svc: { request_id: expect.stringMatching(/^req_/), cost_usd: 0 },
  });
  const stored = await world.api.parts.stores.database.sql`
    SELECT hold FROM mail_messages WHERE id = ${toUuid(body.id)}`;
  expect(stored.map(({ hold }) => hold)).toEqual([""]);
  const [row] = await world.api.journal(own);
  expect(row?.metadata).toMatchObject({ endpoint: "/v1/mail/send", service: "mail", model: null });
  expect(row?.end).toMatchObject({ status: 200, errorCode: null });
});

test("another account's message and an unknown one get the same not-found answer", async () => {
  const sent = await resultOf(await world.send(account, mailBody()));
  const stranger = await mailAccount(world.api);
  const ids = [
    sent.id,
    "msg_",
    "msg_0000000000000000000000",
    "x",
    "..%2f",
    "%zz",
    "%00",
    "a".repeat(9_000),
  ];
  for (const id of ids) {
    const response = await world.api.get(`/v1/mail/messages/${id}`, stranger);
    expect(response.status).toBe(404);
    expect(await errorOf(response)).toEqual({
      type: "invalid_request_error",
      code: "message_not_found",
      message: "This account has no message with this id",
    });
  }
  const models = await world.api.account({ scopes: ["models"] });
  const other = await world.api.get("/v1/mail/messages/msg_1", models);
  expect((await errorOf(other)).code).toBe("insufficient_scope");
  const wrong = await fetch(`${world.api.parts.url}/v1/mail/messages/x`, { method: "DELETE" });
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

describe("fields", () => {
  test("every fault of a field is reported by its name, and nothing is sent", async () => {
    const far = { to: Array.from({ length: 501 }, (_, i) => `a${i}@x.test`) };
    const wrong: readonly (readonly [fields: object, told: string])[] = [
      [{ to: undefined }, "400 invalid_parameter: to "],
      [{ to: [] }, "400 invalid_parameter: to "],
      [{ to: "" }, "400 invalid_parameter: to "],
      [{ to: 1 }, "400 invalid_parameter: to "],
      [{ to: ["a@x.test", null] }, "400 invalid_parameter: to[1] "],
      [{ to: "a@x.test,b@y.test" }, "400 invalid_parameter: to "],
      [{ to: "g: a@x.test;" }, "400 invalid_parameter: to "],
      [{ to: `a@${MAIL_DOMAIN}` }, "400 invalid_parameter: to "],
      [{ to: `a@b.${MAIL_DOMAIN.toUpperCase()}` }, "400 invalid_parameter: to "],
      [{ to: "PostMaster@x.test" }, "400 invalid_parameter: to "],
      [{ to: "abuse@x.test" }, "400 invalid_parameter: to "],
      [far, "400 too_many_recipients: to "],
      [{ to: Array(5_001).fill("a@x.test") }, "400 too_many_recipients: to "],
      [{ from: "a@x.test", subject: undefined }, "400 unsupported_field: from "],
      [{ subject: undefined }, "400 invalid_parameter: subject "],
      [{ subject: "\r\n\u2028" }, "400 invalid_parameter: subject "],
      [{ subject: "x".repeat(201) }, "400 invalid_parameter: subject "],
      [{ subject: "\ud800" }, "400 invalid_parameter: subject "],
      [{ text: undefined }, "400 invalid_parameter: text "],
      [{ text: "", html: "" }, "400 invalid_parameter: text "],
      [{ text: "x".repeat(131_073) }, "400 invalid_parameter: text "],
      [{ text: `${"x".repeat(131_071)}é` }, "400 invalid_parameter: text "],
      [{ html: "x".repeat(262_145) }, "400 invalid_parameter: html "],
      [{ html: {} }, "400 invalid_parameter: html "],
      [{ from_name: "x".repeat(65) }, "400 invalid_parameter: from_name "],
      [{ from_name: '"a" <ceo@bank.test>' }, "400 invalid_parameter: from_name "],
      [{ from_name: "\r\n" }, "400 invalid_parameter: from_name "],
      [{ from_name: "=?utf-8?q?=3Cceo=40bank.test=3E?=" }, "400 invalid_parameter: from_name "],
      [{ reply_to: `a@${MAIL_DOMAIN}` }, "400 invalid_parameter: reply_to "],
      [{ reply_to: `a@X.${MAIL_DOMAIN}` }, "400 invalid_parameter: reply_to "],
      [{ reply_to: `a@${MAIL_DOMAIN}.` }, "400 invalid_parameter: reply_to "],
      [{ reply_to: "a@x.test, b@x.test" }, "400 invalid_parameter: reply_to "],
      [{ reply_to: "a@x.test\r\nBcc: b@x.test" }, "400 invalid_parameter: reply_to "],
      ...["from", "cc", "bcc", "headers", "attachments"].flatMap((field) =>
        [null, [], "x"].map(
          (value) => [{ [field]: value }, `400 unsupported_field: ${field} `] as const,
        ),
      ),
    ];
    for (const [fields, told] of wrong) {
      expect([fields, (await refusal(mailBody(fields))).slice(0, told.length)]).toEqual([
        fields,
        told,
      ]);
    }
    expect(world.smtp.accepted).toHaveLength(0);
  });

  test("the limits of SPEC 8.4 are reached, in code points and in bytes of UTF-8", async () => {
    await accepted(mailBody({ subject: "😀".repeat(200), from_name: "😀".repeat(64) }));
    await accepted(mailBody({ text: "x".repeat(131_072) }));
    await accepted(mailBody({ text: undefined, html: "é".repeat(131_072) }));
    await accepted(mailBody({ to: Array.from({ length: 500 }, (_, i) => `a${i}@x.test`) }));
    await accepted(mailBody({ text: null, html: "<p>x", from_name: null, reply_to: null }));
    await accepted(mailBody({ html: "", from_name: "", reply_to: "" }));
    await accepted(mailBody({ from_name: "Acme, Inc.: shop; news" }));
    const raw = world.smtp.accepted.at(-1)?.raw.toString();
    expect(raw).toContain('From: "Acme, Inc.: shop; news via ');
  });

  test("an Idempotency-Key is 1 to 255 printable characters", async () => {
    for (const key of ["", "x".repeat(256), "ü", "a\tb"]) {
      expect(await refusal(mailBody(), key)).toStartWith(
        "400 invalid_parameter: The header Idempotency-Key ",
      );
    }
    expect(await refusal(mailBody(), "~".repeat(255))).toBe("200");
  });
});

describe("access", () => {
  test("mail is for tiers that have it, and for paid credit", async () => {
    const starter = await world.api.account({ scopes: ["mail"], paid: "5" });
    expect((await errorOf(await world.send(starter, mailBody()))).code).toBe("tier_required");
    const free = { scopes: ["mail"], contract: "enterprise", free: "5" } as const;
    const poor = await world.api.account(free);
    expect((await errorOf(await world.send(poor, mailBody()))).code).toBe("insufficient_credits");
    expect(world.smtp.accepted).toHaveLength(0);
  });

  test("a tier's recipients in one message are its own", async () => {
    const build = await mailAccount(world.api);
    const to = Array.from({ length: 11 }, (_, i) => `a${i}@x.test`);
    const response = await world.send(build, mailBody({ to }));
    expect((await errorOf(response)).message).toBe(
      "to has 11 recipients; the build tier allows 10",
    );
    const twice = [...to.slice(0, 10), "a0@X.test"];
    expect((await world.send(build, mailBody({ to: twice }))).status).toBe(200);
  });

  test("a full minute or day is refused with the time until it ends", async () => {
    const build = await mailAccount(world.api);
    for (let sent = 0; sent < 5; sent += 1) await world.send(build, mailBody());
    const response = await world.send(build, mailBody());
    expect(response.status).toBe(429);
    const wait = Number(response.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(30);
    expect(wait).toBeLessThanOrEqual(61);
    expect((await errorOf(response)).message).toBe("The build tier allows 5 messages a minute");
  });

  test("a refused message counts neither for the minute nor for the day", async () => {
    const build = await mailAccount(world.api);
    const to = Array.from({ length: 10 }, (_, i) => `a${i}@x.test`);
    world.smtp.script = { to: () => ({ code: 550 }) };
    for (let tried = 0; tried < 12; tried += 1) {
      expect((await world.send(build, mailBody({ to }))).status).toBe(422);
    }
    world.smtp.script = { to: (address) => (address.startsWith("a0") ? null : { code: 550 }) };
    for (let sent = 0; sent < 5; sent += 1) {
      const response = await world.send(build, mailBody({ to }));
      expect([response.status, (await resultOf(response)).accepted]).toEqual([200, 1]);
    }
    expect(await world.api.usedToday(build, "recipients")).toBe(5);
  });
});
