// Tests of the caller's own cap on the cost of one call.

import { describe, expect, test } from "bun:test";
import { CHAT } from "../../../src/core/access/limits.ts";
import type { NanoUsd } from "../../../src/core/money/money.ts";
import { apiMetrics } from "../../../src/http/telemetry/api-metrics.ts";
import { createRegistry } from "../../../src/http/telemetry/metrics-server.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, completionOf, errorOf, until } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { batchesOf, endBatch, textBatch } from "../../support/fakes/scripted-chat.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

/** The server of this model takes longer prompts than the catalogue says. */
const SHORT_CONTEXT = { ...MODEL, id: "short-context", contextTokens: 8_192 };
const catalogue = catalogueOf([MODEL, SHORT_CONTEXT], []);
const registry = createRegistry("api");
const { meter } = apiMetrics(registry);
const api = await sharedApi({ catalogue: () => catalogue, meter });

function capped(account: TestAccount, maxCost: string, fields: object = {}): Promise<Response> {
  return api.post(account, chatBody(fields), { headers: { "x-svc-max-cost-usd": maxCost } });
}

/** How many streams were cut, by the reason. */
async function cuts(): Promise<string[]> {
  const metrics = await registry.getMetricsAsJSON();
  const values = metrics.find(({ name }) => name === "farebox_streams_cut_total")?.values ?? [];
  return values.map(({ labels, value }) => `${labels.by} ${value}`).sort();
}

/** The holds of the requests that reach a model. */
function watchHolds(account: TestAccount): NanoUsd[] {
  const holds: NanoUsd[] = [];
  api.chat.reply = async () => {
    for (const { paid, free } of await api.holdRecords(account)) {
      holds.push((paid + free) as NanoUsd);
    }
    const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 900 };
    const message = { role: "assistant", content: "cut" } as const;
    return { choices: [{ index: 0, message, finish_reason: "length" }], usage };
  };
  return holds;
}

describe("a chat with x-svc-max-cost-usd", () => {
  test("gets a lower output limit, so that its hold is at most the cap", async () => {
    const account = await api.account({ paid: "5" });
    const holds = watchHolds(account);
    const { svc } = await completionOf(await capped(account, "0.001", { max_tokens: 4_000 }));
    const [request] = api.chat.requests;
    expect(request?.maxTokens).toBeGreaterThan(400);
    expect(request?.maxTokens).toBeLessThan(500);
    expect(holds).toHaveLength(1);
    expect((holds[0] ?? 0n) <= 1_000_000n).toBe(true);
    expect(svc).toMatchObject({ stopped_by: "max_cost" });
    expect(svc.cost_usd).toBeLessThanOrEqual(0.001);
  });

  test("never pays above the cap, whatever usage the server reports", async () => {
    const account = await api.account({ paid: "5" });
    api.chat.reply = async () => ({
      choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
      usage: { promptTokens: 9_000, cachedTokens: 0, completionTokens: 90_000 },
    });
    const { svc } = await completionOf(await capped(account, "0.001", { max_tokens: 4_000 }));
    expect(svc.cost_usd).toBeLessThanOrEqual(0.001);
    expect("stopped_by" in svc).toBe(false);
  });

  test("keeps the limit that was asked for where it fits, and names no reason", async () => {
    const account = await api.account({ paid: "5" });
    watchHolds(account);
    const { svc } = await completionOf(await capped(account, "0.5", { max_tokens: 100 }));
    expect(api.chat.requests[0]?.maxTokens).toBe(100);
    expect("stopped_by" in svc).toBe(false);
  });

  test("counts a long prompt before it lowers the limit", async () => {
    const account = await api.account({ paid: "5" });
    watchHolds(account);
    // 40,000 bytes are $0.04 by bytes, and some $0.013 by tokens.
    const messages = [{ role: "user", content: "prepaid ".repeat(5_000) }];
    const response = await capped(account, "0.02", { messages, max_tokens: 500 });
    expect(response.status).toBe(200);
    expect(api.chat.requests[0]?.maxTokens).toBe(500);
    // The reply ends at the caller's own limit, which the cap has not lowered.
    expect("stopped_by" in (await completionOf(response)).svc).toBe(false);
  });

  test("is not named where the context of the model lowers the limit further", async () => {
    const account = await api.account({ paid: "5" });
    watchHolds(account);
    // A prompt of at most 6,500 tokens leaves some 1,690 of the context; the cap pays for 3,250.
    const messages = [{ role: "user", content: "prepaid ".repeat(5_000) }];
    const fields = { model: SHORT_CONTEXT.id, messages };
    const { svc } = await completionOf(await capped(account, "0.013", fields));
    expect(api.chat.requests[0]?.maxTokens).toBeLessThan(2_000);
    expect("stopped_by" in svc).toBe(false);
  });

  test("is not named for a stream that ends at a limit of its own", async () => {
    const account = await api.account({ paid: "5" });
    api.chat.batches = () => {
      const usage = { promptTokens: 10_000, cachedTokens: 0, completionTokens: 500 };
      return batchesOf([textBatch("A reply"), endBatch(usage, "length")]);
    };
    const messages = [{ role: "user", content: "prepaid ".repeat(5_000) }];
    const fields = { messages, max_tokens: 500, stream: true };
    const text = await (await capped(account, "0.02", fields)).text();
    expect(api.chat.requests[0]?.maxTokens).toBe(500);
    expect(text).toContain('"finish_reason":"length"');
    expect(text).not.toContain("stopped_by");
  });

  test("is refused before anything is spent if the prompt alone does not fit", async () => {
    const account = await api.account({ paid: "5" });
    const messages = [{ role: "user", content: "prepaid ".repeat(5_000) }];
    const response = await capped(account, "0.005", { messages, max_tokens: 500 });
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([402, "false"]);
    const { code, message } = await errorOf(response);
    expect(code).toBe("max_cost_exceeded");
    expect(message).toContain("$0.005");
    expect(api.chat.requests).toEqual([]);
    expect((await api.view(account)).monthSpent).toBe(0n as NanoUsd);
    const [entry, ...others] = await api.journal(account);
    expect([entry?.type, entry?.outcome.split(" ")[0], others.length]).toEqual([
      "refused",
      "max_cost_exceeded",
      0,
    ]);
  });

  test("holds the whole of a prompt that is longer than the model's context", async () => {
    const account = await api.account({ paid: "5" });
    const holds = watchHolds(account);
    // At least 30,000 tokens, which are $0.03, and more by another tokenizer.
    const messages = [{ role: "user", content: "prepaid ".repeat(30_000) }];
    const fields = { model: SHORT_CONTEXT.id, messages, max_tokens: 500 };
    const refused = await capped(account, "0.025", fields);
    expect((await errorOf(refused)).code).toBe("max_cost_exceeded");
    expect(api.chat.requests).toEqual([]);
    expect((await capped(account, "0.1", fields)).status).toBe(200);
    expect((holds[0] ?? 0n) > 30_000_000n).toBe(true);
  });

  test.each([
    ["0", "must be above 0"],
    ["9999999", "must be at most 9007199.254740991"],
    ["much", "must be an amount of USD"],
  ])("is refused by name for a cap of %s", async (cap, words) => {
    const response = await capped(await api.account({ paid: "5" }), cap);
    expect(response.status).toBe(400);
    const { code, message } = await errorOf(response);
    expect([code, message]).toEqual([
      "invalid_parameter",
      expect.stringContaining(`x-svc-max-cost-usd ${words}`),
    ]);
  });

  test("may be as short as its caller asks for", async () => {
    const account = await api.account({ paid: "5" });
    watchHolds(account);
    const tight = await capped(account, "0.00005", { max_tokens: 1 });
    expect(tight.status).toBe(200);
    expect((await capped(account, "0.00005", { max_tokens: 4_000 })).status).toBe(402);
  });

  test("ends its stream at the limit, with the reason in the last frame", async () => {
    const account = await api.account({ paid: "5" });
    api.chat.batches = () => {
      const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 400 };
      return batchesOf([textBatch("A reply"), endBatch(usage, "length")]);
    };
    const response = await capped(account, "0.001", { max_tokens: 4_000, stream: true });
    const text = await response.text();
    expect(text).toContain('"stopped_by":"max_cost"');
    expect(api.chat.requests[0]?.maxTokens).toBeLessThan(500);
    await until(() => api.openCalls === 0, "the stream is settled");
    expect((await api.view(account)).monthSpent <= 1_000_000n).toBe(true);
  });

  test("cuts a stream whose server ignores the limit, and counts the cut", async () => {
    const account = await api.account({ paid: "5" });
    api.chat.batches = async function* () {
      for (;;) yield textBatch("word ");
    };
    const fields = { max_tokens: 4_000, stream: true };
    const text = await (await capped(account, "0.001", fields)).text();
    expect(text).toContain('"stopped_by":"max_cost"');
    expect(await cuts()).toEqual(["cap 1"]);
    const uncapped = await api.post(account, chatBody({ max_tokens: 5, stream: true }));
    expect(await uncapped.text()).not.toContain("stopped_by");
    expect(await cuts()).toEqual(["cap 1", "hold 1"]);
    expect((await api.view(account)).monthSpent <= 1_100_000n).toBe(true);
  });

  test("without an output limit of its own is held for the output that fits the cap", async () => {
    const account = await api.account({ paid: "5" });
    const holds = watchHolds(account);
    await capped(account, "0.001");
    expect((holds[0] ?? 0n) <= 1_000_000n).toBe(true);
    expect(api.chat.requests[0]?.maxTokens).toBeLessThan(CHAT.maxTokensMax);
  });
});

describe("the cap on other calls", () => {
  test("a search whose hold is above it is refused, and one below it is served", async () => {
    const account = await api.account({ contract: "enterprise", paid: "50" });
    const body = { query: "trams", max_results: 10 };
    const ask = (cap: string) =>
      api.postTo("/v1/search", account, body, { headers: { "x-svc-max-cost-usd": cap } });
    const refused = await ask("0.000001");
    expect((await errorOf(refused)).code).toBe("max_cost_exceeded");
    expect(api.search.requests).toEqual([]);
    expect((await ask("1")).status).toBe(200);
  });

  test("a mail whose price is above it is not sent", async () => {
    const account = await api.account({ contract: "enterprise", paid: "50" });
    const mail = { to: ["a@example.com"], subject: "Hi", text: "Hi" };
    const headers = { "x-svc-max-cost-usd": "0.0001" };
    const response = await api.postTo("/v1/mail/send", account, mail, { headers });
    expect((await errorOf(response)).code).toBe("max_cost_exceeded");
  });

  test("a quote takes it too", async () => {
    const account = await api.account({ paid: "5" });
    const headers = { "x-svc-max-cost-usd": "0.001" };
    const quoted = { path: "/v1/chat/completions", body: chatBody({ max_tokens: 4_000 }) };
    const response = await api.postTo("/v1/quote", account, quoted, { headers });
    const quote = (await response.json()) as { hold_usd: number; would_pass: boolean };
    expect(quote.would_pass).toBe(true);
    expect(quote.hold_usd).toBeLessThanOrEqual(0.001);
  });

  for (const value of ["0", "-1", "1e-3", "abc", "", "0.0000000001", "NaN", "99999999", "1,5"]) {
    test(`a cap of '${value}' is refused by the header's name`, async () => {
      const account = await api.account();
      const response = await capped(account, value);
      const { code, message } = await errorOf(response);
      expect([response.status, code]).toEqual([400, "invalid_parameter"]);
      expect(message).toStartWith("The header x-svc-max-cost-usd must be");
    });
  }

  test("a call that costs nothing does not read it", async () => {
    const account = await api.account();
    const headers = { "x-svc-max-cost-usd": "abc", authorization: `Bearer ${account.key}` };
    const response = await fetch(`${api.parts.url}/v1/me`, { headers });
    expect(response.status).toBe(200);
  });
});
