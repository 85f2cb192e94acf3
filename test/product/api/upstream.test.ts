// Tests paid calls over the real adapter and a server that misbehaves: the caller's view, and the
// cost of each failure.

import { describe, expect, test } from "bun:test";
import { toDecimal, usd } from "../../../src/core/money/money.ts";
import { type Catalogue, catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, completionOf, errorOf, until } from "../../support/api/api-world.ts";
import { chatOver, KEY, limitsIn, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { startFakeUpstream, UPSTREAM_SECRET } from "../../support/fakes/fake-upstream.ts";
import { shared } from "../../support/shared.ts";

/** Every mood is a model of that name. */
const MOODS = [
  "ok",
  "nan-usage",
  "negative-usage",
  "absurd-usage",
  "cached-usage",
  "usage-in-front",
  "usage-beside-delta",
  "usage-then-reset",
  "429",
  "503",
  "bad-json",
  "empty",
  "reset-before-headers",
  "hang-before-headers",
  "context-length",
  "400-html",
  "reset-mid-stream",
  "error-mid-stream",
  "hang-mid-stream",
  "tool-call",
  "refusal",
  "details",
  "tokens-100000-every-5",
] as const;

const upstream = await shared(startFakeUpstream());
const models = MOODS.map((mood) => ({ ...modelOf(["fictional-ai", mood]), id: mood }));
// One dead server would open the breaker for all: each model has its own provider.
const providers = MOODS.map((mood) =>
  providerAt(upstream.baseUrl, { name: mood, ...limitsIn(mood) }),
);
const catalogue: Catalogue = catalogueOf(
  models.map((model) => ({ ...model, routes: [{ provider: model.id, model: model.id }] })),
  providers,
);
const api = await sharedApi({
  catalogue: () => catalogue,
  chat: chatOver(catalogue),
});

async function frames(response: Response): Promise<string[]> {
  const text = await response.text();
  return text.split("\n\n").flatMap((frame) => (frame === "" ? [] : [frame.slice(6)]));
}

describe("a whole reply", () => {
  test("costs the usage of the upstream", async () => {
    const account = await api.account({ paid: "1" });
    const { usage, svc, choices } = await completionOf(
      await api.post(account, chatBody({ model: "ok" })),
    );
    expect(choices[0]?.message.content).toBe("Fares are paid before the ride begins.");
    expect(usage).toEqual({ prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 });
    expect(svc.cost_usd).toBe(0.000028);
    expect((await api.view(account)).paid).toBe(usd("0.999972"));
  });

  for (const model of ["nan-usage", "negative-usage", "absurd-usage"]) {
    test(`costs our own count with ${model}`, async () => {
      const account = await api.account({ paid: "1" });
      const { usage, svc } = await completionOf(await api.post(account, chatBody({ model })));
      expect(usage.completion_tokens).toBe(9);
      const { prompt_tokens: prompt } = usage;
      expect(prompt).toBeGreaterThan(0);
      expect(svc.cost_usd).toBeCloseTo((prompt * 1 + 9 * 2) / 1_000_000, 12);
    });
  }

  for (const model of ["503", "bad-json", "empty", "reset-before-headers", "hang-before-headers"]) {
    for (const stream of [false, true]) {
      test(`${stream ? "as a stream " : ""}is a 502 that costs nothing with ${model}`, async () => {
        const account = await api.account({ paid: "1" });
        const response = await api.post(account, chatBody({ model, stream }));
        expect(response.status).toBe(502);
        const { code, message } = await errorOf(response);
        expect(code).toBe("upstream_unreachable");
        expect(message).not.toContain(UPSTREAM_SECRET);
        expect(response.headers.get("x-svc-cost-usd")).toBe("0");
        const view = await api.view(account);
        expect([view.paid, view.heldPaid, view.openStreams]).toEqual([usd("1"), usd("0"), 0]);
      });
    }
  }

  for (const stream of [false, true]) {
    const how = stream ? ", streamed" : "";
    test(`is a 502 with the Retry-After of an upstream that sends one${how}`, async () => {
      const account = await api.account({ paid: "1" });
      const response = await api.post(account, chatBody({ model: "429", stream }));
      expect(response.status).toBe(502);
      expect((await errorOf(response)).code).toBe("upstream_unreachable");
      expect(response.headers.get("retry-after")).toBe("7");
      expect((await api.view(account)).paid).toBe(usd("1"));
    });
  }

  test("keeps a refusal a refusal, and bills it as text", async () => {
    const account = await api.account({ paid: "1" });
    const { choices, svc } = await completionOf(
      await api.post(account, chatBody({ model: "refusal" })),
    );
    const refusal = "I will not do that";
    expect(choices[0]?.message).toEqual({ role: "assistant", content: null, refusal } as never);
    expect(svc.cost_usd).toBe(0.000028);
  });

  test("passes on fingerprint, logprobs and details of the usage, and no other field", async () => {
    const account = await api.account({ paid: "1" });
    const body = chatBody({ model: "details", logprobs: true, top_logprobs: 1 });
    const text = await (await api.post(account, body)).text();
    const { system_fingerprint, usage, choices } = JSON.parse(text);
    expect(system_fingerprint).toBe("fp_44709d6fcb");
    expect(usage.completion_tokens_details).toEqual({ reasoning_tokens: 3 });
    expect(choices[0].logprobs.content[0].top_logprobs[0].token).toBe("No");
    expect(text).not.toContain(UPSTREAM_SECRET);
  });

  test("is a 400 that costs nothing if the upstream blames the request", async () => {
    const account = await api.account({ paid: "1" });
    for (const [model, wanted] of [
      ["context-length", "context_length_exceeded"],
      ["400-html", "invalid_parameter"],
    ] as const) {
      const response = await api.post(account, chatBody({ model }));
      expect(response.status).toBe(400);
      const { code, message } = await errorOf(response);
      expect(code).toBe(wanted);
      expect(message).not.toContain(UPSTREAM_SECRET);
      expect(message).not.toContain(KEY);
    }
    expect((await api.view(account)).paid).toBe(usd("1"));
  });
});

describe("a stream", () => {
  test("costs the upstream's usage, and shows nothing of it but text", async () => {
    const account = await api.account({ paid: "1" });
    const all = await frames(await api.post(account, chatBody({ model: "ok", stream: true })));
    expect(all.at(-1)).toBe("[DONE]");
    const { usage, svc, choices } = JSON.parse(all.at(-2) ?? "");
    expect([usage.completion_tokens, svc.cost_usd, choices[0].finish_reason]).toEqual([
      8,
      0.000028,
      "stop",
    ]);
    for (const frame of all.slice(0, -2)) {
      const keys = Object.keys(JSON.parse(frame)).join();
      expect(keys).toBe("id,object,created,model,choices");
      expect(JSON.parse(frame).model).toBe("ok");
    }
    expect((await api.view(account)).paid).toBe(usd("0.999972"));
  });

  for (const model of ["reset-mid-stream", "error-mid-stream", "hang-mid-stream"]) {
    test(`ends in an error frame and costs the sent text with ${model}`, async () => {
      const account = await api.account({ paid: "1" });
      const all = await frames(await api.post(account, chatBody({ model, stream: true })));
      expect(JSON.parse(all.at(-1) ?? "").error.code).toBe("upstream_unreachable");
      expect(all.join()).not.toContain(UPSTREAM_SECRET);
      await until(() => api.openCalls === 0, "the call was settled");
      const view = await api.view(account);
      expect(view.monthSpent).toBeGreaterThan(0n);
      expect(Number(toDecimal(view.monthSpent))).toBeLessThan(0.0001);
      expect(view.openStreams).toBe(0);
    });
  }

  test("keeps a refusal a refusal, and bills it by our own count", async () => {
    const account = await api.account({ paid: "1" });
    const body = chatBody({ model: "refusal", stream: true });
    const all = await frames(await api.post(account, body));
    const chunks = all.slice(0, -1).map((frame) => JSON.parse(frame));
    expect(chunks[0].choices[0].delta).toEqual({
      role: "assistant",
      refusal: "I will not do that",
    });
    const { usage, svc } = chunks.at(-1);
    // The server sends no usage here.
    expect(usage.completion_tokens).toBe(5);
    expect(usd(`${svc.cost_usd}`)).toBe((await api.view(account)).monthSpent);
  });

  test("passes on fingerprint, logprobs and details of the usage, and no other field", async () => {
    const account = await api.account({ paid: "1" });
    const body = chatBody({ model: "details", logprobs: true, stream: true });
    const all = await frames(await api.post(account, body));
    const chunks = all.slice(0, -1).map((frame) => JSON.parse(frame));
    const fingerprints = chunks.map(({ system_fingerprint }) => system_fingerprint);
    expect(new Set(fingerprints)).toEqual(new Set(["fp_44709d6fcb"]));
    expect(chunks[0].choices[0].logprobs.content).toHaveLength(1);
    expect(chunks.at(-1).usage.completion_tokens_details).toEqual({ reasoning_tokens: 3 });
    expect(all.join()).not.toContain(UPSTREAM_SECRET);
  });

  for (const model of ["usage-in-front", "usage-beside-delta"]) {
    test(`costs all of its text even if a part of it follows the usage: ${model}`, async () => {
      const account = await api.account({ paid: "1" });
      const all = await frames(await api.post(account, chatBody({ model, stream: true })));
      const { usage, svc } = JSON.parse(all.at(-2) ?? "");
      expect(usage.completion_tokens).toBe(9);
      expect(usd(`${svc.cost_usd}`)).toBe((await api.view(account)).monthSpent);
    });
  }

  test("that breaks off costs the text sent after a usage too", async () => {
    const account = await api.account({ paid: "1" });
    const body = chatBody({ model: "usage-then-reset", stream: true });
    const all = await frames(await api.post(account, body));
    expect(JSON.parse(all.at(-1) ?? "").error.code).toBe("upstream_unreachable");
    await until(() => api.openCalls === 0, "the call was settled");
    const entries = await api.journal(account);
    expect(entries.at(-1)?.end).toMatchObject({ completionTokens: 9 });
  });

  test("carries tool calls", async () => {
    const account = await api.account({ paid: "1" });
    const body = chatBody({ model: "tool-call", stream: true });
    const all = await frames(await api.post(account, body));
    expect(all.join()).toContain('"tool_calls"');
    expect(all.join()).toContain('"finish_reason":"tool_calls"');
    expect(all.at(-1)).toBe("[DONE]");
  });

  test("ends upstream when the client leaves", async () => {
    const account = await api.account({ paid: "1" });
    for (let round = 0; round < 10; round++) {
      const leaving = new AbortController();
      const { signal } = leaving;
      const body = chatBody({ model: "tokens-100000-every-5", stream: true });
      const response = await api.post(account, body, { signal });
      await response.body?.getReader().read();
      const request = upstream.requests.at(-1);
      leaving.abort();
      await until(() => request?.isAborted === true, "the upstream was hung up on");
      await until(() => api.openCalls === 0, "the call was settled");
    }
    expect((await api.view(account)).openStreams).toBe(0);
  });
});
