// Tests that the official client sees an OpenAI server.

import { expect, test } from "bun:test";
import OpenAI, { APIError, AuthenticationError, RateLimitError } from "openai";
import { ApiError } from "../../../src/core/errors.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import {
  batchesOf,
  endBatch,
  textBatch,
  USAGE,
  wholeReply,
} from "../../support/fakes/scripted-chat.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const api = await sharedApi();

const messages = [{ role: "user" as const, content: "Hello" }];

function clientOf(account: Pick<TestAccount, "key">): OpenAI {
  return new OpenAI({ baseURL: `${api.parts.url}/v1`, apiKey: account.key, maxRetries: 0 });
}

test("the client reads a reply, its usage and its cost", async () => {
  const client = clientOf(await api.account());
  api.chat.reply = async () => wholeReply("Hi");
  const reply = await client.chat.completions.create({ model: MODEL.id, messages });
  expect(reply.choices[0]?.message.content).toBe("Hi");
  expect(reply.usage?.total_tokens).toBe(15);
  expect(reply).toMatchObject({ svc: { cost_usd: 0.00002, request_id: reply._request_id } });
});

test("the client reads a stream to its end", async () => {
  const client = clientOf(await api.account());
  api.chat.batches = () => batchesOf([textBatch("Hel"), textBatch("lo"), endBatch(USAGE)]);
  const stream = await client.chat.completions.create({ model: MODEL.id, messages, stream: true });
  let text = "";
  let total = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    total = chunk.usage?.total_tokens ?? total;
  }
  expect([text, total]).toEqual(["Hello", 15]);
});

for (const include_usage of [false, true]) {
  const how = include_usage ? "with" : "without";
  test(`the client's own helper puts a stream together, ${how} include_usage`, async () => {
    const client = clientOf(await api.account());
    api.chat.batches = () => batchesOf([textBatch("Hel"), textBatch("lo"), endBatch(USAGE)]);
    const stream_options = { include_usage };
    const body = { model: MODEL.id, messages, stream_options };
    const whole = await client.chat.completions.stream(body).finalChatCompletion();
    expect(whole.choices[0]?.message.content).toBe("Hello");
    expect(whole.choices[0]?.finish_reason).toBe("stop");
    expect(whole.usage?.total_tokens).toBe(15);
  });
}

test("the client gets a single model", async () => {
  const model = await clientOf(await api.account()).models.retrieve(MODEL.id);
  expect(model).toMatchObject({ id: MODEL.id, object: "model", created: 0 });
});

test("the client throws when a stream breaks off", async () => {
  const client = clientOf(await api.account());
  api.chat.batches = async function* () {
    yield textBatch("Hel");
    throw new ApiError("upstream_unreachable", "The model broke off");
  };
  const stream = await client.chat.completions.create({ model: MODEL.id, messages, stream: true });
  const reading = (async () => {
    for await (const _ of stream);
  })();
  await expect(reading).rejects.toThrow("The model broke off");
});

test("the client lists the models", async () => {
  const ids: string[] = [];
  for await (const model of clientOf({ key: "none" }).models.list()) ids.push(model.id);
  expect(ids).toContain(MODEL.id);
});

test("the client maps refusals to its own errors", async () => {
  const failure = async (account: Pick<TestAccount, "key">, body: object = {}) => {
    const call = clientOf(account).chat.completions.create({
      model: MODEL.id,
      messages,
      ...body,
      stream: false,
    });
    return await call.then(
      () => null,
      (error: unknown) => error,
    );
  };
  const account = await api.account();
  expect(await failure({ key: "wrong" })).toBeInstanceOf(AuthenticationError);
  const bad = (await failure(account, { temperature: 9 })) as APIError;
  expect(bad).toBeInstanceOf(APIError);
  expect([bad.status, bad.code, bad.type]).toEqual([
    400,
    "invalid_parameter",
    "invalid_request_error",
  ]);
  for (let count = 0; count < 19; count++) await failure(account, { temperature: 9 });
  expect(await failure(account)).toBeInstanceOf(RateLimitError);
});
