// The output limit of a response whose caller sets none.

import { beforeEach, expect, test } from "bun:test";
import { chatStream, chatWhole, eventsOf } from "../../support/api/messages-world.ts";
import { giveBudget } from "../../support/api/provoke-end-users.ts";
import { sharedResponses } from "../../support/api/responses-world.ts";

const world = await sharedResponses();
const { api, chat } = world;

beforeEach(() => chat.reset());

const ANSWER = {
  index: 0,
  message: { role: "assistant", content: "42" },
  finish_reason: "stop",
};

interface Limited {
  readonly svc: { readonly output_limit?: { readonly tokens: number; readonly by: string } };
}

/** The reply, or the response in the last event of a stream. */
async function limited(response: Response): Promise<Limited> {
  const text = await response.text();
  if (!text.startsWith("event:")) return JSON.parse(text);
  const [last] = eventsOf(text).slice(-1);
  return last?.data.response as Limited;
}

const CASES = [
  { why: "not configured: the usual default", model: "chat-test", paid: "5", by: "default" },
  { why: "the model's own", model: "writer", paid: "5", by: "model" },
  { why: "a quarter of the balance", model: "writer", paid: "0.1", by: "money" },
  { why: "the least that is useful", model: "writer", paid: "0.012", by: "minimum" },
  { why: "the rest of the context", model: "short-writer", paid: "5", by: "context" },
] as const;
const LIMITS = { default: 4_096, model: 50_000, minimum: 4_096 } as const;

for (const { why, model, paid, by } of CASES) {
  for (const how of ["whole", "streamed"] as const) {
    test(`${why}, ${how}`, async () => {
      const account = await api.account({ contract: "enterprise", paid });
      const body = { model, input: "fare ".repeat(400), stream: how === "streamed" };
      const said = { content: "42" };
      chat.queue(how === "whole" ? chatWhole(said) : chatStream([said]));
      const response = await world.post(account, body);
      expect(response.status).toBe(200);
      const { svc } = await limited(response);
      const { tokens = 0 } = svc.output_limit ?? {};
      expect(svc.output_limit?.by).toBe(by);
      expect(chat.requests.at(-1)?.body.max_tokens).toBe(tokens);
      if (by === "money") {
        // $0.025 are 12,500 tokens at $2 a million, less the prompt of at most 2,100.
        expect(tokens).toBeGreaterThan(11_000);
        expect(tokens).toBeLessThan(12_500);
      } else if (by === "context") {
        expect(tokens).toBeGreaterThan(3_000);
        expect(tokens).toBeLessThan(6_000);
      } else expect(tokens).toBe(LIMITS[by]);
    });
  }
}

test("a key's tokens a minute bound one call to a quarter of them", async () => {
  const rates = { tokensPerMinute: 60_000 };
  const account = await api.account({ contract: "enterprise", paid: "5", ...rates });
  for (let call = 0; call < 3; call += 1) chat.queue(chatWhole({ content: "42" }));
  const ask = () => world.post(account, { model: "writer", input: "fare ".repeat(400) });
  const replies = await Promise.all([ask(), ask(), ask()]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
  const { tokens = 0, by } = (await limited(replies[0] as Response)).svc.output_limit ?? {};
  expect(by).toBe("key_tokens");
  // 15,000 less the prompt of at most 2,100.
  expect(tokens).toBeGreaterThan(12_500);
  expect(tokens).toBeLessThan(15_000);
});

test("one call is bounded to a quarter of what is left of a key's tokens a day", async () => {
  const rates = { tokensPerDay: 100_000 };
  const account = await api.account({ contract: "enterprise", paid: "50", ...rates });
  const usage = { prompt_tokens: 400, completion_tokens: 39_600 };
  const body = [JSON.stringify({ choices: [ANSWER], usage })];
  const input = "fare ".repeat(400);
  chat.queue({ body });
  const first = { model: "writer", input, max_output_tokens: 40_000 };
  expect((await world.post(account, first)).status).toBe(200);
  chat.queue(chatWhole({ content: "42" }));
  const second = await world.post(account, { model: "writer", input });
  const { tokens = 0, by } = (await limited(second)).svc.output_limit ?? {};
  expect(by).toBe("key_tokens");
  // 15,000 of the 60,000 that are left, less the prompt of at most 2,100.
  expect(tokens).toBeGreaterThan(12_500);
  expect(tokens).toBeLessThan(15_000);
});

test.each([
  ["that has not begun", "fresh; max-usd=0.1", "run"],
  ["that has begun", "begun", "run"],
  ["of an end user", "", "end user"],
])("a quarter of what is left of a budget %s bounds a call", async (_, run, of) => {
  const account = await api.account({ contract: "enterprise", paid: "5" });
  const ask = (headers: Record<string, string>) => {
    chat.queue(chatWhole({ content: "42" }));
    const body = { model: "writer", input: "fare ".repeat(400) };
    return api.postTo("/v1/responses", account, body, { headers });
  };
  if (run === "begun") await ask({ "x-svc-run": "begun; max-usd=0.1" });
  if (of === "end user") await giveBudget(api, account, { usd: "0.1" });
  const named = of === "run" ? { "x-svc-run": run } : { "x-svc-end-user": "customer-4711" };
  const response = await ask(named);
  expect(response.status).toBe(200);
  const { tokens = 0, by } = (await limited(response)).svc.output_limit ?? {};
  expect(by).toBe("money");
  // $0.025 are 12,500 tokens at $2 a million, less the prompt of at most 2,100.
  expect(tokens).toBeGreaterThan(11_000);
  expect(tokens).toBeLessThan(12_500);
});

test.each([
  ["writer", "0.02", "max_cost"],
  ["short-writer", "1", "context"],
  ["short-writer", "0.02", "context"],
  ["writer", "1", "model"],
])("the limit of a capped call, %s with $%s, is named by what decided it: %s", async (...row) => {
  const [model, cap, by] = row;
  const account = await api.account({ contract: "enterprise", paid: "5" });
  for (const stream of [false, true]) {
    const said = { content: "42" };
    chat.queue(stream ? chatStream([said]) : chatWhole(said));
    const body = { model, input: "fare ".repeat(400), stream };
    const headers = { "x-svc-max-cost-usd": cap };
    const response = await api.postTo("/v1/responses", account, body, { headers });
    expect(response.status).toBe(200);
    const { svc } = await limited(response);
    expect([stream, svc.output_limit?.by]).toEqual([stream, by]);
    expect(chat.requests.at(-1)?.body.max_tokens).toBe(svc.output_limit?.tokens);
  }
});

test("a limit of the caller's own is kept, and not named", async () => {
  const account = await api.account({ contract: "enterprise", paid: "5" });
  chat.queue(chatWhole({ content: "42" }));
  const body = { model: "writer", input: "Fare?", max_output_tokens: 9_000 };
  const { svc } = (await (await world.post(account, body)).json()) as Limited;
  expect(svc.output_limit).toBeUndefined();
  expect(chat.requests.at(-1)?.body.max_tokens).toBe(9_000);
});

test("three calls at once each get a reply, whatever one may cost", async () => {
  const account = await api.account({ contract: "enterprise", paid: "0.1" });
  for (let call = 0; call < 3; call += 1) chat.queue(chatWhole({ content: "42" }));
  const replies = await Promise.all(
    [1, 2, 3].map(() => world.post(account, { model: "writer", input: "Fare?" })),
  );
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
});
