// Tests the rules of webhooks that need no store: signatures, addresses, waits, and the events.

import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { DAY_MS } from "../../../src/core/durations.ts";
import {
  sampleData,
  WEBHOOK_EVENT_TYPES,
  webhookBody,
  webhookEvent,
} from "../../../src/core/webhooks/webhook-events.ts";
import { webhookDelayMs, webhookUrl } from "../../../src/core/webhooks/webhook-rules.ts";
import { WebhookSeals } from "../../../src/core/webhooks/webhook-seals.ts";
import { newWebhookSecret, webhookHeaders } from "../../../src/core/webhooks/webhook-signature.ts";
import { random } from "../../support/random.ts";
import { usd } from "../../support/stores/world.ts";

test("a signature is the one of the example in the specification of Standard Webhooks", () => {
  const headers = webhookHeaders(
    {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      at: new Date(1_614_265_330_000),
      body: '{"test": 2432232314}',
    },
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  );
  expect(headers).toEqual({
    "content-type": "application/json",
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("each secret signs, and a second implementation agrees", () => {
  const secrets = [newWebhookSecret(random), newWebhookSecret(random)];
  const parts = { id: "evt_1", at: new Date(1_700_000_000_000), body: '{"größe":"½"}' };
  const signed = `${parts.id}.1700000000.${parts.body}`;
  const expected = secrets.map((secret) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    expect(key).toHaveLength(24);
    return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  });
  expect(webhookHeaders(parts, secrets)["webhook-signature"]).toBe(expected.join(" "));
});

test("a receiver has https, a usual port and no password, unless any address is allowed", () => {
  const strict = { allowPrivate: false };
  for (const url of [
    "https://a.example/h",
    "https://a.example:443/",
    "https://a.example:8443/?k=1",
  ])
    expect(webhookUrl(url, strict).href).toBe(new URL(url).href);
  for (const [url, rule] of [
    ["http://a.example/", "https"],
    ["ftp://a.example/", "https"],
    ["a.example", "https"],
    ["", "https"],
    ["https://a.example:22/", "port"],
    ["https://u:p@a.example/", "password"],
    ["https://u@a.example/", "password"],
    [`https://a.example/${"x".repeat(500)}`, "500 characters"],
  ] as const)
    expect(() => webhookUrl(url, strict)).toThrow(rule);
  expect(webhookUrl("http://10.0.0.1:81/#part", { allowPrivate: true }).href).toBe(
    "http://10.0.0.1:81/",
  );
  expect(() => webhookUrl("http://u:p@a.example/", { allowPrivate: true })).toThrow("password");
});

test("waits grow, differ by chance within a fifth, and make many attempts in a day", () => {
  const delays = Array.from({ length: 12 }, (_, i) => webhookDelayMs(i + 1, 0.5));
  expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  expect(delays[0]).toBe(5_000);
  expect(delays.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(DAY_MS);
  expect([webhookDelayMs(1, 0), webhookDelayMs(1, 1)]).toEqual([4_000, 6_000]);
});

test("a body has id, type, time, account and data, with amounts as decimal texts", () => {
  const { type, data } = webhookEvent("balance.low", "one", {
    percent: 20,
    paid: usd("3.990000001"),
    topUp: usd("20"),
  });
  const at = new Date("2026-11-22T14:03:20.000Z");
  expect(webhookBody({ id: "evt_1", type, account: "acct_1", at, data })).toBe(
    '{"id":"evt_1","type":"balance.low","timestamp":"2026-11-22T14:03:20.000Z",' +
      '"account":"acct_1","data":{"percent":20,"paid_usd":"3.990000001","top_up_usd":"20"}}',
  );
});

test("no event has a field for an address, a name or a content", () => {
  const fields = WEBHOOK_EVENT_TYPES.flatMap((type) => Object.keys(sampleData(type)));
  expect(fields).not.toContain(expect.stringMatching(/mail|name|address|ip|content|text|card/));
  expect(fields.length).toBeGreaterThan(10);
});

test("a secret opens with any pepper that counts, only for its own receiver", () => {
  const [first, second] = ["a first pepper of the test", "a second pepper of the test"];
  const box = new WebhookSeals([first]).seal("whsec_abc", "hook_1", random);
  expect(Buffer.from(box).toString("latin1")).not.toContain("whsec");
  const rotated = new WebhookSeals([second, first]);
  expect(rotated.open(box, "hook_1")).toEqual({ text: "whsec_abc", isCurrent: false });
  expect(rotated.open(box, "hook_2")).toBeNull();
  expect(new WebhookSeals([second]).open(box, "hook_1")).toBeNull();
  const again = rotated.seal("whsec_abc", "hook_1", random);
  expect(rotated.open(again, "hook_1")).toEqual({ text: "whsec_abc", isCurrent: true });
});
