// The limits of chat completions, which an operator can raise for all models or for one: the sizes
// that a request may then have, the request that its server gets, and the door that a refusal
// names.

import { beforeEach, describe, expect, test } from "bun:test";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { chatOver } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { CHAT_WIRES } from "../../support/fakes/wire/chat-wire.ts";
import { startWireServer } from "../../support/fakes/wire/wire-server.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const server = await shared(startWireServer());

/** The catalogue of a file with these limits, at its top and of the model `own`. */
function catalogueWith(all: object | undefined, own?: object) {
  const model = (id: string, chat_limits?: object) => ({
    id,
    label: id,
    family: "fake",
    owned_by: "fake",
    context_length: 200_000,
    free_credit_eligible: false,
    pricing: [{ input_usd_per_m: "1", output_usd_per_m: "2" }],
    routes: [{ provider: "fake", model: "x" }],
    ...(chat_limits !== undefined && { chat_limits }),
  });
  const file = {
    providers: { fake: { provider: "openai-compatible", base_url: server.url } },
    models: [model("plain"), model("own", own)],
    ...(all !== undefined && { chat_limits: all }),
  };
  return parseCatalogue(JSON.stringify(file, null, 1), {});
}

let catalogue = catalogueWith(undefined);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });
const holders: Readonly<Record<string, TestAccount>> = {
  "/v1": await api.account({ contract: "enterprise", paid: "100" }),
  "/api/v1": await api.account({ surface: "application", plan: "max", paid: "100" }),
};

const usage = { uncached: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 };

beforeEach(() => {
  server.reset();
  server.requests.length = 0;
});

const turns = (count: number) => Array(count).fill({ role: "user", content: "Hi" });

interface Asked {
  readonly model?: string;
  readonly messages?: number;
  readonly [field: string]: unknown;
}

/** The body that the server got; the words of the refusal if it got none. */
async function sent(base: string, { model = "plain", messages = 1, ...more }: Asked) {
  server.queue(CHAT_WIRES.openai.whole({ text: ["Hello"], end: "stop", usage }));
  const body = { model, messages: turns(messages), ...more };
  const path = `${base}/chat/completions`;
  const answer = await api.postTo(path, holders[base] ?? null, body);
  if (answer.status !== 200) return (await errorOf(answer)).message;
  await answer.text();
  const { max_tokens, messages: got } = server.requests.at(-1)?.body ?? {};
  return { max_tokens, messages: (got as readonly object[]).length };
}

const ELSEWHERE = "; /responses and /messages have no such limit";

describe.each(["/v1", "/api/v1"])("at %s", (base) => {
  test.each([0, -1, 1.5, "10", 1e300])(
    "max_tokens %p is refused with the limit",
    async (tokens) => {
      const rule =
        "must be an integer of at least 1, and at most 32768, unless the operator allows";
      expect(await sent(base, { max_tokens: tokens })).toStartWith(`max_tokens ${rule}`);
      const newer = await sent(base, { max_completion_tokens: tokens });
      expect(newer).toStartWith(`max_completion_tokens ${rule}`);
    },
  );

  test("a request has the limits of the contract where none is raised", async () => {
    catalogue = catalogueWith(undefined);
    expect(await sent(base, { messages: 256 })).toEqual({ max_tokens: 4096, messages: 256 });
    expect(await sent(base, { max_tokens: 32_768 })).toMatchObject({ max_tokens: 32_768 });
    expect(await sent(base, { messages: 257 })).toBe(
      `messages must have at most 256 items${ELSEWHERE}`,
    );
    for (const field of ["max_tokens", "max_completion_tokens"]) {
      const most = `${field} must be an integer from 1 to 32768${ELSEWHERE}`;
      expect(await sent(base, { [field]: 32_769 })).toBe(most);
    }
  });

  test("a request has the higher limits of all models, or of its own", async () => {
    const all = { messages: 300, max_tokens: 40_000, default_max_tokens: 5_000 };
    catalogue = catalogueWith(all, { messages: 2_500, default_max_tokens: 6_000 });
    expect(await sent(base, { messages: 300 })).toEqual({ max_tokens: 5_000, messages: 300 });
    expect(await sent(base, { messages: 301 })).toContain("at most 300 items");
    expect(await sent(base, { max_tokens: 40_000 })).toMatchObject({ max_tokens: 40_000 });
    expect(await sent(base, { max_tokens: 40_001 })).toContain("from 1 to 40000");
    const own = { model: "own", messages: 2_500 };
    expect(await sent(base, own)).toEqual({ max_tokens: 6_000, messages: 2_500 });
    expect(await sent(base, { model: "own", messages: 2_501 })).toContain("at most 2500 items");
    expect(await sent(base, { model: "own", max_tokens: 40_001 })).toContain("from 1 to 40000");
  });
});

test("a request for auto has the limits of all models", async () => {
  catalogue = catalogueWith({ messages: 300 }, { messages: 2_500 });
  expect(await sent("/api/v1", { model: "auto", messages: 301 })).toContain("at most 300 items");
});

test("text completions have the output limits, too", async () => {
  catalogue = catalogueWith({ max_tokens: 40_000 });
  server.queue(CHAT_WIRES.openai.whole({ text: ["Hello"], end: "stop", usage }));
  const ask = (max_tokens: number) =>
    api.postTo("/v1/completions", holders["/v1"] ?? null, {
      model: "plain",
      prompt: "Hi",
      max_tokens,
    });
  expect((await ask(40_000)).status).toBe(200);
  expect((await errorOf(await ask(40_001))).message).toContain("from 1 to 40000");
});

test("a whole reply has no more log probabilities than can be read at once", async () => {
  catalogue = catalogueWith({ max_tokens: 200_000 });
  expect(await sent("/v1", { max_tokens: 150_000, logprobs: true })).toBe(
    "logprobs must not be set with max_tokens 150000, unless streamed",
  );
});

test.each([
  [{ messages: 255 }, undefined, "chat_limits.messages must be a whole number from 256 to 10000"],
  [{ max_tokens: 32_767 }, undefined, "chat_limits.max_tokens must be a whole number from 32768"],
  [{ tokens: 1 }, undefined, "chat_limits.tokens"],
  [{ default_max_tokens: 32_769 }, undefined, "leaves a default of 32769 above 32768"],
  [undefined, { default_max_tokens: 32_769 }, "models[1].chat_limits.default_max_tokens leaves"],
  [
    { max_tokens: 60_000, default_max_tokens: 50_000 },
    { max_tokens: 40_000 },
    "models[1].chat_limits.max_tokens leaves a default of 50000 above 40000",
  ],
] as const)("a file with %j and %j is refused in words", (all, own, words) => {
  expect(() => catalogueWith(all, own)).toThrow(words);
});
