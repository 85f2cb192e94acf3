// Tests that a header which the operator names keeps the calls of a session at one route, by either
// door.

import { expect, test } from "bun:test";
import { CallerIdentifiers } from "../../../src/services/chat/protocols/caller-identifiers.ts";
import { createChatProvider } from "../../../src/services/chat/protocols/chat-provider.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { modelOf, noGuide, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { startFakeUpstream } from "../../support/fakes/fake-upstream.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { upstreamFetch } from "../../support/fakes/upstream-fetch.ts";
import { shared } from "../../support/shared.ts";

const first = await shared(startFakeUpstream());
const second = await shared(startFakeUpstream());
const model = modelOf(["first-ai", "ok"], ["second-ai", "ok"]);
const catalogue = catalogueOf(
  [{ ...model, id: "ok", spread: "weight" }],
  [
    providerAt(first.baseUrl, { name: "first-ai" }),
    providerAt(second.baseUrl, { name: "second-ai" }),
  ],
  { sessionHeaders: ["x-other", "X-Session-Id"] },
);
const api = await sharedApi({
  catalogue: () => catalogue,
  chat: createChatProvider({
    identifiers: new CallerIdentifiers("a secret of these tests"),
    catalogue: () => catalogue,
    guide: noGuide,
    fetch: upstreamFetch,
    clock: realClock,
    log: silent,
  }),
});

const DOORS = {
  "/v1/chat/completions": (content: string) =>
    chatBody({ model: "ok", messages: [{ role: "user", content }] }),
  "/v1/messages": (content: string) => ({
    model: "ok",
    max_tokens: 20,
    messages: [{ role: "user", content }],
  }),
} as const;

for (const [path, bodyOf] of Object.entries(DOORS)) {
  test(`a session stays at one route whatever its messages say: ${path}`, async () => {
    const account = await api.account({ paid: "5", contract: "enterprise" });
    const servedBy = async (session: string | null, content: string) => {
      const before = first.requests.length;
      const headers = session === null ? {} : { "x-session-id": session };
      const response = await api.postTo(path, account, bodyOf(content), { headers });
      expect(response.status).toBe(200);
      return first.requests.length > before ? "first" : "second";
    };
    const lanes = async (session: (number: number) => string | null) => {
      const served = new Set<string>();
      for (let number = 0; number < 16; number += 1) {
        served.add(await servedBy(session(number), `Message ${number}`));
      }
      return served.size;
    };
    expect(await lanes(() => "one")).toBe(1);
    expect(await lanes(() => null)).toBe(2);
    expect(await lanes((number) => `session ${number}`)).toBe(2);
  });
}
