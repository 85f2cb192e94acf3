// Tests that accounts whose calls make a model's server fail do not take the model from others
// (D-564): at most one in fifty calls of another account fails, however often those accounts make
// the server fail.

import { describe, expect, test } from "bun:test";
import type { Server } from "bun";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const CALLS = 50;
const SHARE_MAX = 0.02;
const ATTACKERS = 3;
/** Failures of each attacker between two calls of the victim. */
const BURST = 4;
const CHUNK = { choices: [{ index: 0, delta: { content: "Hel" }, finish_reason: null }] };
const REPLY = {
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
};

/** The server's reaction to a prompt that is one of these words. */
const FAILURES: Record<string, () => Response> = {
  "an error": () => new Response("{}", { status: 500 }),
  "no JSON": () => new Response("<html>"),
  "a refused key": () => new Response("{}", { status: 401 }),
  "a stream that tells an error": () =>
    new Response('data: {"error":{"message":"boom"}}\n\n', {
      headers: { "content-type": "text/event-stream" },
    }),
  "a stream that breaks off": () =>
    new Response(`data: ${JSON.stringify(CHUNK)}\n\n`, {
      headers: { "content-type": "text/event-stream" },
    }),
};

interface Asked {
  readonly messages: readonly { readonly content: string }[];
}

/** A model server that some prompts make fail. */
function startFragileServer(): Server<undefined> & AsyncDisposable {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { messages } = (await request.json()) as Asked;
      return FAILURES[messages[0]?.content ?? ""]?.() ?? Response.json(REPLY);
    },
  });
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.stop(true) });
}

const server = await shared(Promise.resolve(startFragileServer()));
const clock = new FakeClock();
/** Each way to fail has its own provider, without earlier failures. */
const names = Object.keys(FAILURES).flatMap((failure) =>
  ["often", "rarely"].map((pace) => `${failure}, ${pace}`.replaceAll(/\W+/g, "-")),
);
const catalogue = catalogueOf(
  names.map((name) => ({ ...modelOf([name, name]), id: name })),
  names.map((name) => providerAt(`http://127.0.0.1:${server.port}/v1`, { name })),
);
const api = await sharedApi({
  catalogue: () => catalogue,
  chat: chatOver(catalogue, clock),
});

/** The status of a call with this prompt. */
async function ask(account: TestAccount, model: string, content: string): Promise<number> {
  const stream = content.includes("stream");
  const messages = [{ role: "user", content }];
  const response = await api.post(account, chatBody({ model, stream, messages }));
  await response.arrayBuffer();
  return response.status;
}

describe.each(Object.keys(FAILURES))("three accounts that get %s", (failure) => {
  test.each([
    ["often", 500],
    ["rarely", 7_000],
  ])("leave the model to one that calls %s", async (pace, betweenMs) => {
    const model = `${failure}, ${pace}`.replaceAll(/\W+/g, "-");
    const terms = { free: "5", contract: "enterprise" } as const;
    const victim = await api.account(terms);
    const attackers = await Promise.all(
      Array.from({ length: ATTACKERS }, () => api.account(terms)),
    );
    let failed = 0;
    for (let call = 0; call < CALLS; call += 1) {
      for (let burst = 0; burst < BURST; burst += 1) {
        await Promise.all(attackers.map((attacker) => ask(attacker, model, failure)));
        clock.advance(betweenMs / BURST);
      }
      if ((await ask(victim, model, "Good morning")) !== 200) failed += 1;
    }
    expect(failed / CALLS).toBeLessThanOrEqual(SHARE_MAX);
    // The attackers have failed during all of that time.
    expect(await ask(attackers[0] as TestAccount, model, failure)).toBe(
      failure.endsWith("breaks off") ? 200 : 502,
    );
  });
});
