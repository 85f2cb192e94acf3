// Tests the text of a model's reasoning: shown if the configuration says so, and then paid as
// output.

import { expect, test } from "bun:test";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { usd } from "../../../src/core/money/money.ts";
import { createChatProvider } from "../../../src/services/chat/protocols/chat-provider.ts";
import { createGuide } from "../../../src/services/chat/protocols/guide/guide.ts";
import { TokenCounter } from "../../../src/services/chat/tokens/token-counter.ts";
import { countTokens } from "../../../src/services/chat/tokens/tokens.ts";
import { type Catalogue, catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { identifiers, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { realClock } from "../../support/fakes/fake-clock.ts";
import { startFakeUpstream, UPSTREAM_SECRET } from "../../support/fakes/fake-upstream.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { upstreamFetch } from "../../support/fakes/upstream-fetch.ts";
import { atEnd, shared } from "../../support/shared.ts";

const tokens = new TokenCounter({ clock: realClock, log: silent });

atEnd(() => tokens.close());
const upstream = await shared(startFakeUpstream());
const models = ["reasoning", "reasoning-only"].flatMap((mood) =>
  [true, false].map((showsReasoning) => ({
    ...modelOf([mood, mood]),
    id: `${showsReasoning ? "open" : "closed"}-${mood}`,
    showsReasoning,
  })),
);
const providers = ["reasoning", "reasoning-only"].map((name) =>
  providerAt(upstream.baseUrl, { name }),
);
const catalogue: Catalogue = catalogueOf(models, providers);
const api = await sharedApi({
  catalogue: () => catalogue,
  chat: createChatProvider({
    identifiers,
    catalogue: () => catalogue,
    guide: createGuide({ documents: [], brand: () => DEFAULT_BRAND, tokens }),
    fetch: upstreamFetch,
    clock: realClock,
    log: silent,
  }),
});

for (const surface of ["gateway", "application"] as const) {
  const path = surface === "gateway" ? "/v1/chat/completions" : "/api/v1/chat/completions";

  /** The reply, or the chunks of a stream. */
  async function ask(model: string, stream: boolean) {
    const account = await api.account({ surface, paid: "1" });
    const response = await api.postTo(path, account, chatBody({ model, stream }));
    expect(response.status).toBe(200);
    const text = await response.text();
    const frames = stream ? text.split("\n\n").map((frame) => frame.slice(6)) : [text];
    const replies = frames.filter((frame) => frame.startsWith("{")).map((one) => JSON.parse(one));
    return { text, replies, spent: (await api.view(account)).monthSpent };
  }

  test(`a reply has the reasoning of a model that shows it (${surface})`, async () => {
    const { replies } = await ask("open-reasoning", false);
    expect(replies[0].choices[0].message).toEqual({
      role: "assistant",
      content: "42",
      reasoning_content: UPSTREAM_SECRET,
    });
  });

  test(`a stream has it before the text, in the first chunk on (${surface})`, async () => {
    const { replies } = await ask("open-reasoning", true);
    const deltas = replies.map(({ choices }) => choices[0].delta);
    expect(deltas[0]).toEqual({ role: "assistant", reasoning_content: UPSTREAM_SECRET });
    const text = (name: string) => deltas.map((delta) => delta[name] ?? "").join("");
    expect(text("reasoning_content")).toBe(UPSTREAM_SECRET.repeat(6));
    expect(text("content")).toBe("42");
  });

  test(`no reasoning leaves a model that hides it (${surface})`, async () => {
    for (const stream of [false, true]) {
      const { text } = await ask("closed-reasoning", stream);
      expect(text).not.toContain("reasoning_content");
      expect(text).not.toContain(UPSTREAM_SECRET);
    }
  });

  test(`shown reasoning is paid if the server sends no usage (${surface})`, async () => {
    const shown = await ask("open-reasoning-only", true);
    const hidden = await ask("closed-reasoning-only", true);
    expect(shown.replies.at(-1).usage.completion_tokens).toBe(countTokens("hm"));
    expect(hidden.replies.at(-1).usage.completion_tokens).toBe(0);
    expect(shown.spent).toBe(usd(`${shown.replies.at(-1).svc.cost_usd}`));
    expect(shown.spent).toBeGreaterThan(hidden.spent);
  });
}
