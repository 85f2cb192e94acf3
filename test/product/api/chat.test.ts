import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/core/errors.ts";
import { toDecimal, usd } from "../../../src/core/money/money.ts";
import { chatBody, completionOf, costOf, errorOf } from "../../support/api/api-world.ts";
import { MODEL, PAID_ONLY_MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { completionReply } from "../../support/api/whole-replies.ts";
import { LANE, USAGE, wholeReply } from "../../support/fakes/scripted-chat.ts";

const api = await sharedApi();

describe("POST /v1/chat/completions, whole", () => {
  test("answers in the form of OpenAI with its cost", async () => {
    const account = await api.account();
    const response = await api.post(account, chatBody());
    const text = await response.text();
    const body = JSON.parse(text);
    expect(response.status).toBe(200);
    const svc = { free_credit_usd: 0.00002 };
    expect(body).toEqual(completionReply(response, { model: MODEL.id, content: "Hello", svc }));
    expect(Math.abs(body.created - Date.now() / 1000)).toBeLessThan(60);
  });

  test("a fault of ours after the reply leaves no hold", async () => {
    const account = await api.account({ paid: "1" });
    const usage = { promptTokens: 0.5, cachedTokens: 0, completionTokens: 0 };
    api.chat.reply = async () => wholeReply("", usage);
    const response = await api.post(account, chatBody());
    expect((await errorOf(response)).code).toBe("internal_error");
    expect(api.openCalls).toBe(0);
    expect((await api.view(account)).heldPaid).toBe(usd("0"));
  });

  test("shows one cost in body, header and wallet, in the same digits", async () => {
    const account = await api.account({ paid: "1" });
    const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 0 };
    api.chat.reply = async () => wholeReply("", usage);
    const response = await api.post(account, chatBody());
    // JSON.stringify would print 1e-6.
    expect(await response.text()).toContain('"cost_usd":0.000001,"free_credit_usd":0}');
    expect(response.headers.get("x-svc-cost-usd")).toBe("0.000001");
    expect((await api.view(account)).paid).toBe(usd("0.999999"));
  });

  test("takes free credit first and reports the amount of it", async () => {
    const account = await api.account({ paid: "1", free: "0.000015" });
    const { svc } = await completionOf(await api.post(account, chatBody({ max_tokens: 10 })));
    expect(svc).toMatchObject({ cost_usd: 0.00002, free_credit_usd: 0.000015 });
    const view = await api.view(account);
    expect([view.paid, view.free]).toEqual([usd("0.999995"), usd("0")]);
  });

  test("counts tokens itself when the upstream does not", async () => {
    const account = await api.account();
    api.chat.reply = async () => wholeReply("One two three four five", null);
    const { usage, svc } = await completionOf(await api.post(account, chatBody()));
    expect(usage.prompt_tokens).toBeGreaterThan(0);
    expect(usage.completion_tokens).toBeGreaterThanOrEqual(5);
    expect(svc.cost_usd).toBe(
      Number(toDecimal(costOf(usage.prompt_tokens, usage.completion_tokens))),
    );
  });

  test("never charges more than its hold", async () => {
    const account = await api.account({ paid: "1" });
    const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 1_000 };
    api.chat.reply = async () => wholeReply("x", usage);
    const { svc } = await completionOf(await api.post(account, chatBody({ max_tokens: 1 })));
    expect(svc.cost_usd).toBeLessThan(0.0002);
    const view = await api.view(account);
    expect(Number(toDecimal(view.paid))).toBeCloseTo(1 - svc.cost_usd, 12);
  });

  test("carries a whole tool loop", async () => {
    const account = await api.account();
    const call = { id: "c1", type: "function" as const, function: { name: "f", arguments: "{}" } };
    api.chat.reply = async () => ({
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: null, tool_calls: [call] },
          finish_reason: "tool_calls",
        },
      ],
      usage: USAGE,
    });
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    const messages: object[] = [{ role: "user", content: "Call f" }];
    const first = await completionOf(await api.post(account, chatBody({ messages, tools })));
    expect(first.choices[0]?.finish_reason).toBe("tool_calls");
    messages.push(first.choices[0]?.message ?? {}, {
      role: "tool",
      tool_call_id: "c1",
      content: "42",
    });
    api.chat.reply = async () => wholeReply("It is 42");
    expect((await api.post(account, chatBody({ messages, tools }))).status).toBe(200);
    expect(api.chat.requests[1]?.messages).toEqual(messages as never);
    expect(api.chat.requests[1]?.parameters).toEqual({ tools });
  });

  test("is logged with the server that served it, and with none if none did", async () => {
    const account = await api.account();
    await completionOf(await api.post(account, chatBody()));
    api.chat.reply = () => Promise.reject(new ApiError("upstream_unreachable", "No"));
    await api.post(account, chatBody());
    const lanes = (await api.journal(account)).map(({ end }) => end?.lane);
    expect(lanes).toEqual([LANE, undefined]);
  });

  test("gives the hold back when the upstream fails", async () => {
    const account = await api.account({ paid: "1" });
    for (const [code, status] of [
      ["upstream_unreachable", 502],
      ["invalid_parameter", 400],
    ] as const) {
      api.chat.reply = () => Promise.reject(new ApiError(code, "No"));
      const response = await api.post(account, chatBody());
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ error: { code, message: "No" } });
      expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    }
    const view = await api.view(account);
    expect([view.paid, view.heldPaid, view.monthHeld]).toEqual([usd("1"), usd("0"), usd("0")]);
    const outcomes = (await api.journal(account)).map(({ end }) => end?.status);
    expect(outcomes).toEqual([502, 400]);
  });

  test("reveals nothing of our own fault", async () => {
    const account = await api.account({ paid: "1" });
    api.chat.reply = () => Promise.reject(new Error("secret detail"));
    const response = await api.post(account, chatBody());
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
    expect(response.headers.get("x-ratelimit-limit-requests")).not.toBeNull();
    expect(JSON.stringify(api.errors.at(-1)?.fields)).toContain("internal_error");
    expect((await api.view(account)).paid).toBe(usd("1"));
  });
});

describe("the hold of a chat call", () => {
  // In bytes, the bound of this prompt is far above its cost.
  const PROMPT = "word ".repeat(2_000);
  const body = (fields: object = {}) =>
    chatBody({ messages: [{ role: "user", content: PROMPT }], max_tokens: 100, ...fields });

  test("is taken by real tokens if bytes do not fit the balance", async () => {
    const account = await api.account({ free: "0.006" });
    expect((await api.post(account, body())).status).toBe(200);
    expect((await api.view(account)).free).toBe(usd("0.00598"));
  });

  test("is refused with the needed amount, the balance and the tokens that would fit", async () => {
    const account = await api.account({ free: "0.006" });
    const response = await api.post(account, body({ max_tokens: 30_000 }));
    expect(response.status).toBe(402);
    const { code, message } = await errorOf(response);
    expect(code).toBe("insufficient_credits");
    expect(message).toContain("$0.006 left");
    const fits = Number(/max_tokens of at most (\d+)/.exec(message)?.[1]);
    expect((await api.post(account, body({ max_tokens: fits + 1 }))).status).toBe(402);
    expect((await api.post(account, body({ max_tokens: fits }))).status).toBe(200);
  });

  test("counts a refused call once, though two admissions were tried", async () => {
    const account = await api.account({ free: "0.001" });
    const response = await api.post(account, body({ max_tokens: 30_000 }));
    expect(response.status).toBe(402);
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("19");
    expect(await api.journal(account)).toHaveLength(1);
  });

  test("reports if nothing would fit", async () => {
    const account = await api.account({ free: "0.000001" });
    const { message } = await errorOf(await api.post(account, body()));
    expect(message).toContain("Not even max_tokens 1");
  });

  test("reports that free credit cannot pay this model, and which it can", async () => {
    for (const [options, paid] of [
      [{}, "0"],
      [{ free: "5", paid: "0.0001" }, "0.0001"],
    ] as const) {
      const account = await api.account(options);
      const response = await api.post(account, body({ model: PAID_ONLY_MODEL.id }));
      expect(response.status).toBe(402);
      const { code, message } = await errorOf(response);
      expect(code).toBe("insufficient_credits");
      expect(message).toStartWith(
        "Free credit cannot pay for 'paid-only'. The call can cost up to $",
      );
      expect(message).toEndWith(
        `, and $${paid} of paid credit is left. The free credit of $5 can pay for ` +
          "test-model, farebox-guide",
      );
    }
    const account = await api.account({ free: "0", paid: "0.0001" });
    const { message } = await errorOf(await api.post(account, body({ model: PAID_ONLY_MODEL.id })));
    expect(message).not.toContain("Free credit");
  });

  test("names the limit that is too small", async () => {
    const budget = await api.account({ paid: "5", monthlyLimit: "0.0001" });
    const cap = await api.account({ paid: "5", ownCap: "0.0001" });
    const both = await api.account({ paid: "5", ownCap: "0.0001", monthlyLimit: "0.0001" });
    const codes: string[] = [];
    for (const account of [budget, cap, both]) {
      const response = await api.post(account, body());
      expect(response.status).toBe(402);
      codes.push((await errorOf(response)).code);
    }
    expect(codes).toEqual(["key_budget_exceeded", "monthly_limit_reached", "key_budget_exceeded"]);
  });

  test("is taken by bytes above 256 KB of prompt, and charged by tokens", async () => {
    const content = "word ".repeat(60_000);
    const messages = [{ role: "user", content }];
    // The text has 60,000 tokens, which would fit, in 300,000 bytes, which do not.
    const poor = await api.account({ free: "0.2" });
    const response = await api.post(poor, chatBody({ messages }));
    expect(response.status).toBe(402);
    expect((await errorOf(response)).message).toEndWith(
      "256 KB, one token per byte is held, but only its real tokens are charged",
    );
    const rich = await api.account({ paid: "1" });
    api.chat.reply = async () => wholeReply("Hello", null);
    const { usage } = await completionOf(await api.post(rich, chatBody({ messages })));
    expect(usage.prompt_tokens).toBeGreaterThan(60_000);
    expect(usage.prompt_tokens).toBeLessThan(60_100);
  });

  test("answers other calls while a prompt of megabytes is counted", async () => {
    const large = await api.account({ paid: "5" });
    const other = await api.account({ paid: "5" });
    const content = "word ".repeat(700_000);
    api.chat.reply = async ({ messages }) =>
      wholeReply("Hello", messages[0]?.content === content ? null : USAGE);
    let isDone = false;
    const counted = api.post(large, chatBody({ messages: [{ role: "user", content }] }));
    void counted.then(() => {
      isDone = true;
    });
    let served = 0;
    while (!isDone) {
      expect((await api.get("/healthz", other)).status).toBe(200);
      served += 1;
    }
    expect((await completionOf(await counted)).usage.prompt_tokens).toBeGreaterThan(700_000);
    // Counted in one go, it would let one or two pass.
    expect(served).toBeGreaterThan(3);
  });
});
