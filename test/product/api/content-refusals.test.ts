// Tests that the log says which calls a provider refused for their content, whatever the form of
// the refusal, and that no other server is asked then.

import { expect, test } from "bun:test";
import { type Catalogue, catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { startFakeUpstream } from "../../support/fakes/fake-upstream.ts";
import { shared } from "../../support/shared.ts";

const upstream = await shared(startFakeUpstream());
const MOODS = [
  "ok",
  "content-filter",
  "refusal",
  "content-policy",
  "403-flagged",
  "context-length",
];
const catalogue: Catalogue = catalogueOf(
  MOODS.map((mood) => ({ ...modelOf(["main", mood], ["spare", "ok"]), id: mood })),
  [providerAt(upstream.baseUrl, { name: "main" }), providerAt(upstream.baseUrl, { name: "spare" })],
);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });

for (const stream of [false, true]) {
  const how = stream ? "streamed" : "whole";
  test.each([
    ["content-filter", 200, true],
    ["refusal", 200, true],
    ["content-policy", 400, true],
    ["403-flagged", 400, true],
    ["context-length", 400, false],
    ["ok", 200, false],
  ] as const)(`${how}: %s is answered with %i, and is a refusal: %p`, async (model, status, is) => {
    const account = await api.account({ scopes: ["models"], paid: "5" });
    const asked = upstream.requests.length;
    const response = await api.post(account, chatBody({ model, stream }));
    expect(response.status).toBe(status);
    await response.text();
    expect(upstream.requests.length).toBe(asked + 1);
    const { end } = (await api.journal(account)).at(-1) ?? {};
    expect(end?.usageDetails?.isContentRefused ?? false).toBe(is);
  });
}
