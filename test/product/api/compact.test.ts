// Compactions of conversations: passed through where the provider has them, charged by their usage.

import { beforeEach, expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { giveBudget, TOO_LITTLE } from "../../support/api/provoke-end-users.ts";
import { OWN_USAGE, sharedResponses } from "../../support/api/responses-world.ts";
import { eventually } from "../../support/eventually.ts";
import { jsonReply } from "../../support/fakes/fake-vectors.ts";

const { api, own, chat, post } = await sharedResponses();

beforeEach(() => {
  own.reset();
  chat.reset();
});

const PATH = "/v1/responses/compact";
const input = [
  { role: "user", content: "Edit the fare" },
  { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
  { type: "function_call_output", call_id: "call_1", output: "42" },
];
const COMPACTION = { id: "cmp_1", type: "compaction", encrypted_content: "c2VhbGVk" };
const whole = {
  id: "resp_upstream",
  object: "response.compaction",
  created_at: 1_795_000_000,
  output: [{ id: "msg_1", ...input[0], type: "message" }, COMPACTION],
  usage: OWN_USAGE,
};

test("the provider gets the conversation; its items come back, charged by its usage", async () => {
  const account = await api.account({ paid: "5" });
  own.queue(jsonReply(whole));
  const body = { model: "own-test", input, instructions: "Be brief", prompt_cache_key: "mine" };
  const response = await api.postTo(PATH, account, { ...body, parallel_tool_calls: true });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-svc-cost-usd")).toBe("0.0000316");
  expect(await response.json()).toMatchObject({
    id: expect.stringMatching(/^resp_[0-9A-Za-z]{22}$/),
    object: "response.compaction",
    model: "own-test",
    output: whole.output,
    usage: OWN_USAGE,
    svc: { cost_usd: 0.0000316, ignored: ["parallel_tool_calls"] },
  });
  const sent = own.requests.at(-1);
  expect(sent?.path).toBe("/responses/compact");
  expect(sent?.body).toEqual({
    model: "own-test-there",
    input,
    instructions: "Be brief",
    prompt_cache_key: expect.not.stringContaining("mine"),
    service_tier: "default",
  });
  const { paid, heldPaid } = await api.view(account);
  expect([paid, heldPaid]).toEqual([usd("4.9999684"), usd("0")]);
});

test("the hold covers the longest reply; a balance below it is refused in figures", async () => {
  const account = await api.account({ paid: "0.06" });
  const response = await api.postTo(PATH, account, { model: "own-test", input });
  expect(response.status).toBe(402);
  // The bytes of the input bound its tokens until they are counted.
  expect((await errorOf(response)).message).toMatch(
    /^The call can cost up to \$0\.065[67]\d*\. The balance has \$0\.06 left$/,
  );
});

test("a hold above the most that its caller allows is refused", async () => {
  const account = await api.account({ paid: "5" });
  const asked = own.requests.length;
  const send = (most: string) =>
    fetch(api.parts.url + PATH, {
      method: "POST",
      headers: { "x-api-key": account.key, "x-svc-max-cost-usd": most },
      body: JSON.stringify({ model: "own-test", input }),
    });
  const refused = await send("0.01");
  expect([refused.status, (await errorOf(refused)).code]).toEqual([402, "max_cost_exceeded"]);
  expect(own.requests).toHaveLength(asked);
  own.queue(jsonReply(whole));
  expect((await send("0.1")).headers.get("x-svc-cost-usd")).toBe("0.0000316");
});

test("a conversation whose bytes are above that most is counted", async () => {
  const account = await api.account({ paid: "5" });
  own.queue(jsonReply(whole));
  // $0.105 with the bytes of the conversation, and some $0.08 with its tokens.
  const body = { model: "own-test", input: "prepaid ".repeat(5_000) };
  const headers = { "x-svc-max-cost-usd": "0.09" };
  // On a busy machine a count may be late, and leaves the bytes.
  await eventually("the tokens are counted", async () => {
    const response = await api.postTo(PATH, account, body, { headers });
    return response.status === 200 && response.headers.get("x-svc-cost-usd") === "0.0000316";
  });
});

test("a hold by counted tokens covers the longest reply, with little context left", async () => {
  // 200,000 bytes are 100,000 tokens, and 128,000 fit.
  const account = await api.account({ paid: "0.18" });
  const content = "a b ".repeat(50_000);
  const long = [{ role: "user", content }];
  const response = await api.postTo(PATH, account, { model: "own-test", input: long });
  expect(response.status).toBe(402);
  const { message } = await errorOf(response);
  expect(message).toMatch(/^The call can cost up to \$0\.19\d+\. The balance has \$0\.18 left/);
});

test("a model whose provider cannot shorten is 404, in words, and no server is asked", async () => {
  const account = await api.account({ paid: "5" });
  const asked = [own.requests.length, chat.requests.length];
  const response = await api.postTo(PATH, account, { model: "chat-test", input });
  expect(response.status).toBe(404);
  const { code, message } = await errorOf(response);
  expect(code).toBe("not_found");
  expect(message).toStartWith("No provider of 'chat-test' shortens conversations: shorten");
  expect([own.requests.length, chat.requests.length]).toEqual(asked);
});

test("a failure of the provider costs nothing", async () => {
  const account = await api.account({ paid: "5" });
  own.queue(jsonReply({ error: { message: "down" } }, 500));
  const response = await api.postTo(PATH, account, { model: "own-test", input });
  expect((await errorOf(response)).code).toBe("upstream_unreachable");
  const { paid, heldPaid } = await api.view(account);
  expect([paid, heldPaid]).toEqual([usd("5"), usd("0")]);
});

test("a caller who leaves is charged once the provider has accepted the request", async () => {
  const account = await api.account({ paid: "5" });
  const go = Promise.withResolvers<void>();
  own.queue(() => go.promise.then(() => jsonReply(whole)));
  const asked = own.requests.length;
  const leaving = new AbortController();
  const body = { model: "own-test", input };
  const response = api.postTo(PATH, account, body, { signal: leaving.signal });
  await eventually("the server is asked", () => own.requests.length > asked);
  leaving.abort();
  await response.catch(() => {});
  go.resolve();
  await eventually("the call is settled", () => api.openCalls === 0);
  expect((await api.view(account)).heldPaid).toBe(usd("0"));
  const [entry] = await api.journal(account);
  expect(entry?.end).toMatchObject({ status: 499, promptTokens: 26, completionTokens: 10 });
});

for (const model of ["own-test", "auto"]) {
  test(`an application shortens by '${model}', and learns the balance`, async () => {
    const account = await api.account({ surface: "application", plan: "max", paid: "5" });
    own.queue(jsonReply(whole));
    const response = await api.postTo(`/api${PATH}`, account, { model, input });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      object: "response.compaction",
      model: "own-test",
      output: whole.output,
      svc: { cost_usd: 0.0000316, credits_left_usd: 4.9999684 },
    });
    expect((await api.view(account)).heldPaid).toBe(usd("0"));
  });
}

for (const surface of ["gateway", "application"] as const) {
  test(`a compaction counts for the end user of its body, ${surface}`, async () => {
    const plan = surface === "application" ? { surface, plan: "max" as const } : {};
    const account = await api.account({ paid: "5", ...plan });
    await giveBudget(api, account, { usd: TOO_LITTLE });
    const path = surface === "application" ? `/api${PATH}` : PATH;
    const asked = own.requests.length;
    for (const field of ["user", "safety_identifier"]) {
      const body = { model: "own-test", input, [field]: "customer-4711" };
      const refused = await api.postTo(path, account, body);
      expect((await errorOf(refused)).code).toBe("end_user_budget_exceeded");
    }
    expect(own.requests).toHaveLength(asked);
    const other = await api.account({ paid: "5", ...plan });
    own.queue(jsonReply(whole));
    const body = { model: "own-test", input, user: "customer-4711" };
    const taken = (await (await api.postTo(path, other, body)).json()) as { svc: object };
    expect(taken.svc).not.toHaveProperty("ignored");
    expect(JSON.stringify(own.requests.at(-1))).not.toContain("4711");
  });
}

test("a trigger in the input of a response reaches the provider, and no other server", async () => {
  const account = await api.account({ paid: "5" });
  own.queue(jsonReply({ ...whole, object: "response", status: "completed" }));
  const triggered = [...input, { type: "compaction_trigger" }];
  const response = await post(account, { model: "own-test", input: triggered });
  expect(response.status).toBe(200);
  expect(own.requests.at(-1)?.body.input).toEqual(triggered);
  const other = await post(account, { model: "chat-test", input: triggered });
  expect((await errorOf(other)).message).toBe("input[3].type is not supported by this model");
});
