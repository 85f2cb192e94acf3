// Tests the models and the end of a key at every door, and the messages about them.

import { beforeEach, describe, expect, test } from "bun:test";
import { ModelsChanged } from "../../../actors/account.ts";
import type { KeyChange } from "../../../src/core/access/key-limits.ts";
import { usd } from "../../../src/core/money/money.ts";
import { AUTO_TERMS, GUIDE_MODEL } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { changeKey } from "../../../src/store/accounts/account-keys.ts";
import { chatBody, completionOf, errorOf } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import {
  batchesOf,
  endBatch,
  textBatch,
  USAGE,
  wholeReply,
} from "../../support/fakes/scripted-chat.ts";
import type { AccountTerms, TestAccount } from "../../support/stores/accounts.ts";
import { ask } from "../../support/stores/world.ts";

const named = (id: string, more: object = {}) => ({ ...MODEL, id, ...more });
const MODELS = [
  named("fine-1", { aliases: ["nick"] }),
  named("cheap-1"),
  named("cheap-2"),
  named("vectors", { serves: "embedding" }),
  named("ranks", { serves: "rerank" }),
];
const QUALITY = { "fine-1": 90, "cheap-1": 50, "cheap-2": 10, [GUIDE_MODEL]: 1 };
const quality = Object.entries(QUALITY).map(
  ([id, points]) => [id, { ...AUTO_TERMS, quality: points }] as const,
);
const catalogue = catalogueOf(MODELS, [], {
  auto: { policy: "quality", models: new Map(quality) },
});
const api = await sharedApi({ catalogue: () => catalogue });
beforeEach(() => {
  api.chat.reply = async () => wholeReply("Hi");
  api.chat.batches = () => batchesOf([textBatch("Hi"), endBatch(USAGE)]);
});

const messages = [{ role: "user", content: "Hello" }];
const OTHER = "fine-1";
const LIMITED: AccountTerms = { paid: "5", models: ["cheap*", "none-of-these"] };

/** Every door of the Gateway that takes a model, with a body for this model. */
const DOORS: readonly (readonly [path: string, body: (model: string) => object])[] = [
  ["/v1/chat/completions", (model) => ({ model, messages })],
  ["/v1/chat/completions", (model) => ({ model, messages, stream: true })],
  ["/v1/completions", (model) => ({ model, prompt: "Hello" })],
  ["/v1/responses", (model) => ({ model, input: "Hello" })],
  ["/v1/responses", (model) => ({ model, input: "Hello", stream: true })],
  ["/v1/responses/input_tokens", (model) => ({ model, input: "Hello" })],
  ["/v1/messages", (model) => ({ model, messages, max_tokens: 9 })],
  ["/v1/messages", (model) => ({ model, messages, max_tokens: 9, stream: true })],
  ["/v1/messages/count_tokens", (model) => ({ model, messages })],
];

/** The refusal of a request. Doors differ in the form of their errors, and all have these two. */
async function refusalOf(account: TestAccount, path: string, body: object) {
  const response = await api.postTo(path, account, body);
  const text = await response.text();
  return { status: response.status, text };
}

describe("a key with models of its own", () => {
  test("calls no other model at any door, and nothing is asked or charged", async () => {
    const account = await api.account(LIMITED);
    const { paid } = await api.view(account);
    for (const [path, body] of [
      ...DOORS,
      ["/v1/embeddings", (model: string) => ({ model, input: "Hello" })] as const,
      ["/v1/rerank", (model: string) => ({ model, query: "a", documents: ["b"] })] as const,
    ]) {
      const model = { "/v1/embeddings": "vectors", "/v1/rerank": "ranks" }[path] ?? OTHER;
      const { status, text } = await refusalOf(account, path, body(model));
      expect([path, status]).toEqual([path, 403]);
      expect(text).toContain(
        `This key may not call the model '${model}', only cheap*, none-of-these`,
      );
      expect(text).toContain("permission_error");
    }
    expect(api.chat.requests).toHaveLength(0);
    expect((await api.view(account)).paid).toBe(paid);
  });

  test("calls its models at every door", async () => {
    const account = await api.account(LIMITED);
    for (const [path, body] of DOORS) {
      const response = await api.postTo(path, account, body("cheap-2"));
      expect([path, response.status]).toEqual([path, 200]);
      await response.text();
    }
  });

  test("is asked by the id of a model, whatever alias a call names", async () => {
    const [byId, byAlias] = [
      await api.account({ paid: "5", models: ["fine-1"] }),
      await api.account({ paid: "5", models: ["nick"] }),
    ];
    const body = chatBody({ model: "nick" });
    expect((await api.post(byId, body)).status).toBe(200);
    const refused = await errorOf(await api.post(byAlias, body));
    expect(refused).toMatchObject({ code: "model_not_allowed" });
    expect(refused.message).toContain("'fine-1', only nick");
  });

  test("is quoted the refusal that its call would get", async () => {
    const account = await api.account(LIMITED);
    const quote = async (model: string) => {
      const body = { path: "/v1/chat/completions", body: { model, messages } };
      return (await (await api.postTo("/v1/quote", account, body)).json()) as {
        would_pass: boolean;
        refusal: { code: string } | null;
      };
    };
    expect(await quote(OTHER)).toMatchObject({
      would_pass: false,
      refusal: { code: "model_not_allowed" },
    });
    expect(await quote("cheap-1")).toMatchObject({ would_pass: true });
  });

  test("lists its models alone; an address without it lists all", async () => {
    const account = await api.account(LIMITED);
    expect(await idsAt("/v1/models", account)).toEqual(["cheap-1", "cheap-2"]);
    expect(await idsAt("/v1/models")).toEqual([...MODELS.map(({ id }) => id), GUIDE_MODEL]);
    expect((await api.get("/v1/models/cheap-1", account)).status).toBe(200);
    expect((await api.get(`/v1/models/${OTHER}`, account)).status).toBe(404);
    expect((await api.get(`/v1/models/${OTHER}`)).status).toBe(200);
    const [last] = (await api.journal(account)).slice(-1);
    expect(last?.end).toMatchObject({ status: 404, errorCode: "model_not_found" });
  });

  test("shows its models, its end and its tokens of a day in /v1/me", async () => {
    const endsAt = new Date(Date.now() + 60_000);
    const account = await api.account({ ...LIMITED, endsAt, tokensPerDay: 2_000_000 });
    expect(await (await api.get("/v1/me", account)).json()).toMatchObject({
      limits: { tokens_per_day: 2_000_000 },
      key: { models: ["cheap*", "none-of-these"], ends_at: endsAt.toISOString() },
    });
  });
});

describe("auto with a key of some models", () => {
  const open = (models: readonly string[] | null) =>
    api.account({
      surface: "application",
      plan: "max",
      paid: "10",
      ...(models !== null && { models }),
    });
  const CHAT = "/api/v1/chat/completions";
  const ask = (account: TestAccount, more: object = {}) =>
    api.postTo(CHAT, account, { messages, ...more });

  test("chooses the best among them, and explains that", async () => {
    const answer = async (models: readonly string[] | null) => {
      const reply = (await completionOf(await ask(await open(models)))) as unknown as {
        model: string;
        svc: { auto: string };
      };
      return [reply.model, reply.svc.auto];
    };
    expect(await answer(null)).toEqual([
      "fine-1",
      "quality: the highest quality of 3 models that can serve this",
    ]);
    expect(await answer(["cheap*"])).toEqual([
      "cheap-1",
      "quality: the highest quality of 2 models that can serve this",
    ]);
    expect(await answer(["*-2"])).toEqual([
      "cheap-2",
      "quality: the only model that can serve this",
    ]);
  });

  test("asks no other model after one that fails, whole and streamed", async () => {
    const account = await open(["cheap-1", "cheap-2"]);
    api.chat.reply = () => Promise.reject(new Error("down"));
    api.chat.batches = () => {
      throw new Error("down");
    };
    for (const stream of [false, true]) await (await ask(account, { stream })).text();
    expect(api.chat.asked).not.toContain(OTHER);
    expect(api.chat.asked.length).toBeGreaterThan(0);
  });

  test("is refused where none of them can serve the call", async () => {
    const account = await open(["none*"]);
    const response = await ask(account);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("only none*");
    expect(api.chat.requests).toHaveLength(0);
  });

  test("lists auto and its models, and nothing for a key of no model", async () => {
    expect(await idsAt("/api/v1/models", await open(["cheap*"]))).toEqual([
      "auto",
      "cheap-1",
      "cheap-2",
    ]);
    const none = await open(["none"]);
    expect(await idsAt("/api/v1/models", none)).toEqual([]);
    expect((await api.get("/api/v1/models/auto", none)).status).toBe(404);
    expect((await api.get("/api/v1/models/cheap-1", await open(["cheap-2"]))).status).toBe(404);
  });

  test("follows a change of the models with the next call", async () => {
    const account = await open(["cheap-1"]);
    const model = async () =>
      ((await completionOf(await ask(account))) as { model?: string }).model;
    expect(await model()).toBe("cheap-1");
    await change(account, { models: ["cheap-2"] });
    expect(await model()).toBe("cheap-2");
    await change(account, { models: null });
    expect(await model()).toBe("fine-1");
  });
});

test("models that were chosen for others than the key has now are chosen again", async () => {
  const account = await api.account({ paid: "5", models: ["*"] });
  const call = (patterns: readonly string[] | null) =>
    account.actor.admit(ask(account.keyId, usd("0"), { chosenFor: { patterns } }));
  expect((await call(["*"])).verdict).toBe("admitted");
  // This process knows of the change before the call asks.
  for (const earlier of [["cheap-2"], null]) {
    await expect(call(earlier)).rejects.toBeInstanceOf(ModelsChanged);
  }
});

describe("a key that has ended or is disabled", () => {
  test("gets 401 that says so at every door, and works again when that is taken back", async () => {
    const account = await api.account({ paid: "5" });
    await change(account, { isDisabled: true });
    for (const [path, body] of DOORS) {
      const { status, text } = await refusalOf(account, path, body(OTHER));
      expect([path, status]).toEqual([path, 401]);
      expect(text).toContain("This API key is disabled");
    }
    expect((await api.get("/v1/me", account)).status).toBe(401);
    await change(account, { isDisabled: false, endsAt: new Date(Date.now() - 1) });
    expect(await errorOf(await api.post(account, chatBody({ model: OTHER })))).toMatchObject({
      code: "invalid_api_key",
      message: expect.stringMatching(/^This API key ended at 20/),
    });
    await change(account, { endsAt: null });
    expect((await api.post(account, chatBody({ model: OTHER }))).status).toBe(200);
  });

  test("lists models as somebody without a key", async () => {
    const account = await api.account({ ...LIMITED });
    await change(account, { isDisabled: true });
    expect(await idsAt("/v1/models", account)).toContain(OTHER);
  });
});

async function idsAt(path: string, account?: TestAccount): Promise<string[]> {
  const { data } = (await (await api.get(path, account)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

async function change(account: TestAccount, terms: KeyChange) {
  const { database, actors } = api.parts.stores;
  const key = { account: account.row.number, keyId: account.keyId };
  await changeKey(database, { ...key, ...terms });
  await actors.of(account.id, account.bucket).configure();
}
