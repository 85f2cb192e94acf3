// Tests the Application API over HTTP: its own accounts and keys, `auto`, and the shapes of its
// answers.

import { beforeEach, describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/core/errors.ts";
import {
  AUTO_TERMS,
  bandPrices,
  type ModelEntry,
} from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { type CompletionJson, completionOf, until } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { completionReply, modelReply } from "../../support/api/whole-replies.ts";
import {
  batchesOf,
  endBatch,
  silence,
  textBatch,
  USAGE,
  wholeReply,
} from "../../support/fakes/scripted-chat.ts";
import type { AccountTerms, TestAccount } from "../../support/stores/accounts.ts";

const CHAT = "/api/v1/chat/completions";
const messages = [{ role: "user", content: "Hello" }];
/** The cost of one call of USAGE, 10 and 5 tokens, with each model. */
const COSTS = { cheap: "0.00002", fine: "0.0002", best: "0.002" } as const;

const named = (id: string, input: string, output: string): ModelEntry => ({
  ...MODEL,
  id,
  prices: bandPrices({ input, output }),
});
const MODELS = [
  named("cheap", "1", "2"),
  named("fine", "10", "20"),
  { ...named("best", "100", "200"), freeCreditEligible: false },
];
const QUALITY = { cheap: 10, fine: 50, best: 90 };

const terms = Object.entries(QUALITY).map(
  ([id, quality]) => [id, { ...AUTO_TERMS, quality }] as const,
);
const catalogue = catalogueOf(MODELS, [], {
  auto: { policy: "quality", models: new Map(terms) },
});
const api = await sharedApi({ catalogue: () => catalogue });
beforeEach(() => {
  api.chat.reply = async () => wholeReply("Hi");
  api.chat.batches = () => batchesOf([textBatch("Hel"), textBatch("lo"), endBatch(USAGE)]);
});

const open = (options: AccountTerms = {}) =>
  api.account({ surface: "application", plan: "max", paid: "10", ...options });

const ask = (account: Pick<TestAccount, "key">, body: object = {}, signal?: AbortSignal) =>
  api.postTo(CHAT, account, { messages, ...body }, signal && { signal });

interface ApplicationCompletion extends CompletionJson {
  readonly model: string;
  readonly svc: CompletionJson["svc"] & {
    readonly credits_left_usd: number | null;
    readonly auto?: string;
  };
}

async function reply(response: Response): Promise<ApplicationCompletion> {
  if (response.status !== 200) throw new Error(await response.text());
  return (await completionOf(response)) as ApplicationCompletion;
}

/** The frames of a stream as JSON, its end as a string. */
async function frames(response: Response): Promise<(ApplicationCompletion | string)[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => frame.replace(/^data: /, ""))
    .map((data) => (data.startsWith("{") ? JSON.parse(data) : data));
}

describe("a reply", () => {
  test("has the shape of OpenAI, and its cost and the balance in svc", async () => {
    const account = await open();
    const response = await ask(account, { model: "cheap" });
    expect(response.headers.get("x-svc-cost-usd")).toBe(COSTS.cheap);
    expect(response.headers.get("x-ratelimit-limit-requests")).toBe("60");
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("59");
    expect(response.headers.get("x-ratelimit-reset-requests")).toMatch(/^\d+s$/);
    const svc = { free_credit_usd: 0, credits_left_usd: 9.99998 };
    const whole = completionReply(response, { model: "cheap", content: "Hi", svc });
    expect(await response.json()).toEqual(whole);
    const second = await reply(await ask(account, { model: "fine" }));
    expect(second.svc.credits_left_usd).toBe(9.99978);
  });

  test("is a stream on request, whose last frame has the same svc", async () => {
    const account = await open();
    const response = await ask(account, { model: "cheap", stream: true });
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    const all = await frames(response);
    expect(all.at(-1)).toBe("[DONE]");
    expect(all.at(0)).toMatchObject({
      object: "chat.completion.chunk",
      model: "cheap",
      choices: [{ index: 0, delta: { content: "Hel" }, finish_reason: null }],
    });
    expect(all.at(-2)).toMatchObject({
      choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
      usage: { total_tokens: 15 },
      svc: { cost_usd: 0.00002, credits_left_usd: 9.99998 },
    });
  });

  test("that breaks off ends with an error in the shape of OpenAI, and no [DONE]", async () => {
    const account = await open();
    api.chat.batches = async function* () {
      yield textBatch("Hel");
      throw new ApiError("upstream_unreachable", "The model broke off");
    };
    const all = await frames(await ask(account, { stream: true }));
    expect(all.at(-1)).toEqual({
      error: {
        message: "The model broke off",
        type: "server_error",
        code: "upstream_unreachable",
        param: null,
      },
    } as unknown as ApplicationCompletion);
    expect(api.chat.asked).toEqual(["best"]);
  });

  test("is logged with its endpoint and model, and never with words", async () => {
    const account = await open();
    await ask(account, { model: "cheap" });
    const [entry] = await api.journal(account);
    expect(entry?.metadata).toMatchObject({ endpoint: CHAT, service: "models", model: "cheap" });
    expect(JSON.stringify(entry)).not.toContain("Hello");
  });

  test("that is not read to its end is charged as far as it was streamed", async () => {
    const account = await open();
    api.chat.batches = async function* (_request, { signal }) {
      yield textBatch("Hello there");
      await silence(signal);
    };
    const leave = new AbortController();
    const response = await ask(account, { model: "cheap", stream: true }, leave.signal);
    const reader = response.body?.getReader();
    await reader?.read();
    leave.abort();
    await until(() => api.openCalls === 0, "the call ended");
    const { paid, heldPaid } = await api.view(account);
    expect(heldPaid).toBe(0n as typeof heldPaid);
    expect(paid < 10_000_000_000n && paid > 9_999_900_000n).toBe(true);
  });

  test("is paid by the Free plan's allowance until that is used up", async () => {
    const account = await api.account({ surface: "application" });
    const first = await reply(await ask(account, { model: "fine" }));
    expect(first.svc).toMatchObject({ free_credit_usd: 0.0002, credits_left_usd: 0.9998 });
    const refused = await ask(account, { model: "best" });
    expect([refused.status, await refused.json()]).toMatchObject([
      402,
      { error: { type: "insufficient_quota", code: "insufficient_credits", param: null } },
    ]);
  });
});

describe("auto", () => {
  test.each([{}, { model: null }, { model: "auto" }])("serves a request with %j", async (body) => {
    const answer = await reply(await ask(await open(), body));
    expect(answer.model).toBe("best");
    expect(answer.svc).toMatchObject({
      cost_usd: 0.002,
      auto: "quality: the highest quality of 3 models that can serve this",
    });
  });

  test("serves a stream and gives the reason of its choice in the last frame", async () => {
    const all = await frames(await ask(await open(), { stream: true }));
    expect(all.at(0)).toMatchObject({ model: "best" });
    expect(all.at(-2)).toMatchObject({ svc: { auto: expect.stringMatching(/^quality: /) } });
  });

  test.each([false, true])(
    "asks the next best under the same hold (stream: %p)",
    async (stream) => {
      const account = await open();
      api.chat.mute.add("best").add("fine");
      const response = await ask(account, { stream });
      const all = stream ? await frames(response) : [await reply(response)];
      const last = all.at(stream ? -2 : 0) as ApplicationCompletion;
      expect(api.chat.asked).toEqual(["best", "fine", "cheap"]);
      expect(last.model).toBe("cheap");
      expect(last.svc.cost_usd).toBe(0.00002);
      expect(last.svc.auto).toEndWith("after best did not answer, after fine did not answer");
      const entries = await api.journal(account);
      expect(entries).toHaveLength(1);
      expect(entries[0]?.end).toMatchObject({
        status: 200,
        model: "cheap",
        // The cost of the call, and its receipt, are by the prices of the model that answered.
        priceVersion: catalogue.models.get("cheap")?.prices.version,
      });
    },
  );

  test("charges nothing when no model answers", async () => {
    const account = await open();
    for (const { id } of MODELS) api.chat.mute.add(id);
    const response = await ask(account);
    expect([response.status, response.headers.get("x-svc-cost-usd")]).toEqual([502, "0"]);
    const { paid, heldPaid } = await api.view(account);
    expect([paid, heldPaid] as bigint[]).toEqual([10_000_000_000n, 0n]);
  });

  test("skips models that are known to be away, and paused ones", async () => {
    api.chat.away.add("best");
    expect((await reply(await ask(await open()))).model).toBe("fine");
    api.paused.add("model:fine");
    expect((await reply(await ask(await open()))).model).toBe("cheap");
  });

  test("takes the best model within the balance, and holds no more than the balance", async () => {
    const account = await open({ paid: "0.1" });
    const answer = await reply(await ask(account));
    expect(answer.model).toBe("fine");
    expect(answer.svc.auto).toEndWith(", within the balance");
    expect(answer.svc.credits_left_usd).toBe(0.0998);
  });

  test("is refused for money only if not even the cheapest fits", async () => {
    const response = await ask(await open({ paid: "0.008" }), {});
    expect(response.status).toBe(402);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("insufficient_credits");
    expect(error.message).toMatch(
      /^The call can cost up to \$0\.0082\d*\. .* max_tokens of at most 39/,
    );
  });

  test("uses another model only if the credit in the hold may pay for it", async () => {
    const account = await api.account({ surface: "application" });
    api.chat.mute.add("fine");
    const answer = await reply(await ask(account));
    expect([answer.model, ...api.chat.asked]).toEqual(["cheap", "fine", "cheap"]);
  });

  test("is not a model of the Gateway", async () => {
    const account = await api.account();
    const response = await api.post(account, { model: "auto", messages });
    expect(response.status).toBe(404);
  });
});

describe("the surfaces", () => {
  const paths = [
    ["gateway", "POST", "/v1/chat/completions"],
    ["gateway", "GET", "/v1/me"],
    ["application", "POST", CHAT],
    ["application", "GET", "/api/v1/models"],
  ] as const;

  test("refuse each other's keys, in any header and for any path", async () => {
    const keys = {
      gateway: (await api.account()).key,
      application: (await open()).key,
    };
    for (const [surface, method, path] of paths) {
      for (const [of, key] of Object.entries(keys)) {
        for (const header of ["authorization", "x-api-key"]) {
          const value = header === "authorization" ? `Bearer ${key}` : key;
          const body = method === "POST" ? JSON.stringify({ model: "cheap", messages }) : null;
          const headers = { [header]: value, "content-type": "application/json" };
          const response = await fetch(api.parts.url + path, { method, headers, body });
          expect([path, of, header, response.status]).toEqual([
            path,
            of,
            header,
            of === surface ? 200 : 401,
          ]);
          if (response.status === 200) continue;
          const { error } = (await response.json()) as { error: Record<string, unknown> };
          expect(error.code).toBe("invalid_api_key");
          expect(Object.keys(error)).toEqual(
            surface === "gateway"
              ? ["type", "code", "message"]
              : ["message", "type", "code", "param"],
          );
        }
      }
    }
    expect(api.chat.asked).toHaveLength(4);
  });

  test("answer unknown routes in their own shapes", async () => {
    for (const [path, fields] of [
      ["/v1/nothing", ["type", "code", "message"]],
      ["/api/v1/nothing", ["message", "type", "code", "param"]],
    ] as const) {
      const { error } = (await (await api.get(path)).json()) as { error: object };
      expect(Object.keys(error)).toEqual([...fields]);
    }
    const wrong = await fetch(`${api.parts.url}/api/v1/models`, { method: "DELETE" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

describe("GET /api/v1/models", () => {
  test("lists auto and all callable models, with prices a million and a token", async () => {
    const account = await open();
    api.paused.add("model:best");
    const response = await api.get("/api/v1/models", account);
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("59");
    const list = (await response.json()) as { object: string; data: { id: string }[] };
    expect(list.object).toBe("list");
    expect(list.data.map(({ id }) => id)).toEqual(["auto", "cheap", "fine", "farebox-guide"]);
    expect(list.data[0]).toMatchObject({
      object: "model",
      context_length: 128_000,
      pricing: { prompt: "-1", completion: "-1" },
    });
    const pricing = { prompt: "0.000001", completion: "0.000002" };
    expect(list.data[1]).toEqual(
      modelReply({ id: "cheap", name: "Test model", context_length: 128_000, pricing }),
    );
    const [entry] = await api.journal(account);
    expect(entry?.metadata).toMatchObject({ endpoint: "/api/v1/models", service: "models" });
  });
});
