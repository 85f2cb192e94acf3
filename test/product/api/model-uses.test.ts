// Models that serve something else than chat are listed with their use, and never asked to chat.

import { expect, test } from "bun:test";
import type { ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { GUIDE_MODEL } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { MODEL, PAID_ONLY_MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";

const EMBEDDING: ModelEntry = { ...MODEL, id: "vectors", serves: "embedding" };
const RERANK: ModelEntry = { ...MODEL, id: "order", serves: "rerank", contextTokens: 999_999 };
const OTHERS = [EMBEDDING, RERANK];
const WITH_CHAT = catalogueOf([...OTHERS, PAID_ONLY_MODEL], []);
const WITHOUT_CHAT = catalogueOf(OTHERS, []);

let catalogue = WITH_CHAT;
const api = await sharedApi({ catalogue: () => catalogue });
const messages = [{ role: "user", content: "Hello" }];
const CHATS = [
  ["/v1/chat/completions", "gateway"],
  ["/api/v1/chat/completions", "application"],
] as const;

for (const [path, surface] of CHATS) {
  test(`${path} refuses a model that serves no chat, and asks no server`, async () => {
    const account = await api.account({ surface, plan: "max", paid: "5" });
    const asked = api.chat.requests.length;
    for (const [{ id }, use] of [
      [EMBEDDING, "embeddings"],
      [RERANK, "reranking"],
    ] as const) {
      const response = await api.postTo(path, account, { model: id, messages });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: {
          type: "invalid_request_error",
          code: "model_not_found",
          message: `The model '${id}' serves ${use}, not chat`,
        },
      });
    }
    expect(api.chat.requests).toHaveLength(asked);
  });
}

const WITH_MANY = catalogueOf(
  Array.from({ length: 7 }, (_, index) => ({ ...EMBEDDING, id: `vectors-${index}` })),
  [],
);

test.each([
  [
    "/v1/embeddings",
    ". Models for embeddings: vectors-0, vectors-1, vectors-2, vectors-3, vectors-4 and 2 more",
  ],
  ["/v1/rerank", ". No model here serves reranking"],
])("%s names some models of its use, or says that there is none", async (path, end) => {
  const account = await api.account({ paid: "5" });
  const before = catalogue;
  catalogue = WITH_MANY;
  try {
    const body = { model: "nope", input: "A fare", query: "fares", documents: ["A fare"] };
    const response = await api.postTo(path, account, body);
    expect(response.status).toBe(404);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe("model_not_found");
    expect(error.message).toBe(`model must be an id from the list of models${end}`);
  } finally {
    catalogue = before;
  }
});

interface List {
  readonly data: readonly {
    readonly id: string;
    readonly context_length?: number;
    readonly svc: { readonly serves?: string };
  }[];
}

test("GET /v1/models names the use of each model that does not serve chat", async () => {
  const { data } = (await (await api.get("/v1/models")).json()) as List;
  expect(data.map(({ id, svc }) => [id, svc.serves])).toEqual([
    ["vectors", "embedding"],
    ["order", "rerank"],
    [PAID_ONLY_MODEL.id, undefined],
    [GUIDE_MODEL, undefined],
  ]);
});

test("the Application API neither lists nor shows a model that serves no chat", async () => {
  const account = await api.account({ surface: "application", plan: "max", paid: "5" });
  const { data } = (await (await api.get("/api/v1/models", account)).json()) as List;
  expect(data.map(({ id }) => id)).toEqual(["auto", PAID_ONLY_MODEL.id, GUIDE_MODEL]);
  expect(data[0]?.context_length).toBe(PAID_ONLY_MODEL.contextTokens);
  expect((await api.get("/api/v1/models/vectors", account)).status).toBe(404);
});

test("auto chooses only models that serve chat: the guide, where no other does", async () => {
  const account = await api.account({ surface: "application", plan: "max", paid: "5" });
  const answering = async () => {
    const response = await api.postTo(CHATS[1][0], account, { messages });
    return ((await response.json()) as { model: string }).model;
  };
  expect(await answering()).toBe(PAID_ONLY_MODEL.id);
  catalogue = WITHOUT_CHAT;
  try {
    expect(await answering()).toBe(GUIDE_MODEL);
  } finally {
    catalogue = WITH_CHAT;
  }
});

test("a refusal for free credit names only models that serve chat", async () => {
  const account = await api.account({ free: "5" });
  const response = await api.post(account, { model: PAID_ONLY_MODEL.id, messages });
  expect(response.status).toBe(402);
  const text = await response.text();
  expect(text).toContain(GUIDE_MODEL);
  expect(text).not.toContain("vectors");
});
