// Moderations: free, counted as one request, and 404 where no provider has them.

import { beforeEach, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import type { ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { changeKey } from "../../../src/store/accounts/account-keys.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { jsonReply, moderationOf } from "../../support/fakes/fake-vectors.ts";
import { startWireServer } from "../../support/fakes/wire/wire-server.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { act } from "../../support/stores/burn-lab.ts";

const server = await shared(startWireServer());
const providers = [providerAt(server.url, { name: "ai" })];
const serves = "moderation";
const moderator = (id: string): ModelEntry => ({ ...modelOf(["ai", `${id}-there`]), id, serves });
const WITH = catalogueOf([MODEL, moderator("moderator"), moderator("second")], providers);
const WITHOUT = catalogueOf([MODEL], providers);
let catalogue = WITH;
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(WITH) });

beforeEach(() => {
  catalogue = WITH;
  server.reset();
});

const PATH = "/v1/moderations";
const flagged = {
  categories: { harassment: true },
  category_scores: { harassment: 0.9 },
  category_applied_input_types: { harassment: ["text"] },
};

test("a text is answered by the first model, for nothing and without a hold", async () => {
  const account = await api.account();
  server.queue(jsonReply({ ...moderationOf(), secret: "of the server" }));
  const response = await api.postTo(PATH, account, { input: "A fare" });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-svc-cost-usd")).toBe("0");
  const id = response.headers.get("x-request-id");
  expect(await response.json()).toEqual({
    id,
    model: "moderator",
    results: moderationOf().results,
    svc: { request_id: id, cost_usd: 0 },
  });
  expect(server.requests.at(-1)).toMatchObject({
    path: "/moderations",
    body: { model: "moderator-there", input: "A fare" },
  });
  const { free, heldFree } = await api.view(account);
  expect([free, heldFree]).toEqual([usd("5"), usd("0")]);
  const [entry] = await api.journal(account);
  expect(entry).toMatchObject({
    metadata: { endpoint: PATH, model: "moderator" },
    end: { status: 200, lane: "ai", promptTokens: 0 },
  });
});

test("texts and images reach the model that the caller names", async () => {
  const account = await api.account();
  const url = "data:image/png;base64,AAAA";
  const input = [
    { type: "text", text: "A fare" },
    { type: "image_url", image_url: { url } },
  ];
  server.queue(jsonReply(moderationOf({ ...flagged, flagged: undefined })));
  const response = await api.postTo(PATH, account, { model: "second", input });
  expect(server.requests.at(-1)?.body).toEqual({ model: "second-there", input });
  expect(await response.json()).toMatchObject({
    model: "second",
    results: [{ flagged: true, ...flagged }],
  });
});

test("an application has them too, at its own path", async () => {
  const account = await api.account({ surface: "application", plan: "max" });
  server.queue(jsonReply(moderationOf()));
  const response = await api.postTo(`/api${PATH}`, account, { input: "A fare" });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ model: "moderator", svc: { cost_usd: 0 } });
  const [entry] = await api.journal(account);
  expect(entry).toMatchObject({ metadata: { endpoint: `/api${PATH}` }, end: { status: 200 } });
});

/** Changes the models of the account's key. */
async function change(account: TestAccount, models: readonly string[] | null): Promise<void> {
  const { database, actors } = api.parts.stores;
  await changeKey(database, { account: account.row.number, keyId: account.keyId, models });
  await actors.of(account.id, account.bucket).configure();
}

test("without a model the first one that the key allows answers, and then others", async () => {
  const account = await api.account({ models: ["second", "none-of-these"] });
  const ask = async () => {
    server.queue(jsonReply(moderationOf()));
    const response = await api.postTo(PATH, account, { input: "A fare" });
    return response.ok ? ((await response.json()) as { model: string }).model : response.status;
  };
  expect(await ask()).toBe("second");
  await change(account, null);
  expect(await ask()).toBe("moderator");
  await change(account, ["none-of-these"]);
  expect(await ask()).toBe(403);
});

test("a key that a burn-rate rule paused has them, as they cost nothing", async () => {
  const account = await api.account();
  await act(api.parts.stores, account);
  server.queue(jsonReply(moderationOf()));
  expect((await api.postTo(PATH, account, { input: "A fare" })).status).toBe(200);
});

test("each counts in the window of the key, and is refused when that is full", async () => {
  const account = await api.account();
  server.queue(...Array(20).fill(jsonReply(moderationOf())));
  const ask = async () => (await api.postTo(PATH, account, { input: "A fare" })).status;
  const statuses: number[] = [];
  for (let count = 0; count < 21; count += 1) statuses.push(await ask());
  expect(statuses).toEqual([...Array(20).fill(200), 429]);
});

test("without a provider that has them the answer is 404 and names the models there", async () => {
  catalogue = WITHOUT;
  const response = await api.postTo(PATH, await api.account(), { input: "A fare" });
  expect(response.status).toBe(404);
  const { code, message } = await errorOf(response);
  expect(code).toBe("not_found");
  expect(message).toStartWith("No provider here has moderations. GET /v1/models lists the models");
});

test("a failure of the server costs nothing, and holds nothing", async () => {
  const account = await api.account({ paid: "5" });
  for (const reply of [jsonReply({ error: {} }, 500), jsonReply({ results: [1] }), jsonReply([])]) {
    server.queue(reply);
    const response = await api.postTo(PATH, account, { input: "A fare" });
    expect((await errorOf(response)).code).toBe("upstream_unreachable");
  }
  const { paid, heldPaid, openCalls } = await api.view(account);
  expect([paid, heldPaid, openCalls]).toEqual([usd("5"), usd("0"), 0]);
});

test("a paused model is not chosen, and refused where it is named", async () => {
  const account = await api.account();
  api.paused.add("model:moderator");
  server.queue(jsonReply(moderationOf()));
  const other = await api.postTo(PATH, account, { input: "A fare" });
  expect(await other.json()).toMatchObject({ model: "second" });
  const named = await api.postTo(PATH, account, { model: "moderator", input: "A fare" });
  expect((await errorOf(named)).code).toBe("model_unavailable");
});

const MODERATORS = "Models for moderation: moderator, second";

for (const [body, message] of [
  [{}, "input must be a text, or an array of texts, or of texts and images"],
  [{ input: "" }, "input must not be an empty text"],
  [{ input: [] }, "input must be a text, or an array of texts, or of texts and images"],
  [
    { input: "A fare", model: MODEL.id },
    `The model '${MODEL.id}' serves chat, not moderation. ${MODERATORS}`,
  ],
  [
    { input: "A fare", model: "nope" },
    `model must be an id from the list of models. ${MODERATORS}`,
  ],
] as const) {
  test(`${JSON.stringify(body)} is refused by name`, async () => {
    const response = await api.postTo(PATH, await api.account(), body);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect((await errorOf(response)).message).toBe(message);
  });
}
