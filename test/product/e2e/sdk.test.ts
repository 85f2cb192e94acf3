// Tests the official OpenAI client against two API processes and a worker: the customer's view, and
// that the books agree with it.

import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { toUuid } from "../../../src/core/ids.ts";
import { type NanoUsd, toDecimal, usd } from "../../../src/core/money/money.ts";
import { countTokens } from "../../../src/services/chat/tokens/tokens.ts";
import { eventually } from "../../support/eventually.ts";
import type { FakeRequest } from "../../support/fakes/fake-upstream.ts";
import { startProduct } from "../../support/product/product.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const SAID = "Fares are paid before the ride begins.";
/** The cost of the usage that the fake upstream reports, at $1 and $2 a million. */
const PRICE = "0.000028";

const product = await shared(
  startProduct({
    models: [{ id: "ok" }, { id: "long", mood: "tokens-2000-every-10" }, { id: "503" }],
  }),
);

function client(account: Pick<TestAccount, "key">, api = 0, more: object = {}): OpenAI {
  const baseURL = `${product.api(api).url}/v1`;
  return new OpenAI({ apiKey: account.key, baseURL, maxRetries: 0, ...more });
}

const MESSAGES = [{ role: "user", content: "When do I pay?" }] as const;
const PLAIN = { model: "ok", messages: [...MESSAGES] };

interface Svc {
  readonly request_id: string;
  readonly cost_usd: number;
  readonly free_credit_usd: number;
}

function svcOf(reply: object | undefined): Svc {
  if (reply !== undefined && "svc" in reply) return reply.svc as Svc;
  throw new Error("There is no svc");
}

interface Me {
  readonly limits: { readonly open_streams: number };
  readonly balance: {
    readonly paid_usd: number;
    readonly free_usd: number;
    readonly held_usd: number;
  };
  readonly month: { readonly spent_usd: number };
}

async function me(account: TestAccount, api = 1): Promise<Me> {
  const headers = { authorization: `Bearer ${account.key}` };
  const reply = await fetch(`${product.api(api).url}/v1/me`, { headers });
  expect(reply.status).toBe(200);
  return (await reply.json()) as Me;
}

/** All items of an iteration. */
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function failure(promise: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error("This should have failed");
}

describe("the OpenAI client", () => {
  test("lists the models with their prices", async () => {
    const account = await product.account();
    const models = await all(client(account).models.list());
    expect(models.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["ok", "long", "503", "farebox-guide"]),
    );
    expect(models.find(({ id }) => id === "ok")).toMatchObject({
      object: "model",
      owned_by: "fake",
      svc: { pricing: { input_usd_per_m: 1, output_usd_per_m: 2 }, free_credit_eligible: true },
    });
  });

  test("gets a whole reply and its cost", async () => {
    const account = await product.account();
    const reply = await client(account).chat.completions.create(PLAIN);
    expect(reply.choices[0]?.message).toMatchObject({ role: "assistant", content: SAID });
    expect(reply.choices[0]?.finish_reason).toBe("stop");
    expect(reply.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 8 });
    expect(svcOf(reply)).toMatchObject({ cost_usd: 0.000028, free_credit_usd: 0.000028 });
    expect(reply._request_id).toBe(svcOf(reply).request_id);
  });

  test("gets a stream whose last chunk has finish_reason, usage and cost", async () => {
    const account = await product.account();
    const stream = await client(account).chat.completions.create({ ...PLAIN, stream: true });
    const chunks = await all(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(SAID);
    const last = chunks.at(-1);
    expect(last?.choices).toEqual([{ index: 0, delta: {}, finish_reason: "stop" }]);
    expect(last?.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 8 });
    expect(svcOf(last).cost_usd).toBe(0.000028);
    expect(chunks.slice(0, -1).every((chunk) => !("svc" in chunk))).toBe(true);
  });

  test("gets errors as its own classes, with code and id, and pays nothing", async () => {
    const account = await product.account();
    const create = (body: object, key = account.key) =>
      failure(client({ key }).chat.completions.create({ ...PLAIN, ...body }));
    const expected = [
      [await create({}, "svc_live_wrong"), OpenAI.AuthenticationError, 401, "invalid_api_key"],
      [await create({ model: "none" }), OpenAI.NotFoundError, 404, "model_not_found"],
      [await create({ messages: [] }), OpenAI.BadRequestError, 400, "messages_required"],
      [await create({ model: "503" }), OpenAI.InternalServerError, 502, "upstream_unreachable"],
    ] as const;
    for (const [error, kind, status, code] of expected) {
      expect(error).toBeInstanceOf(kind);
      expect([error.status, error.code]).toEqual([status, code]);
      expect(error.requestID).toMatch(/^req_[0-9A-Za-z]{22}$/);
    }
    expect((await me(account)).month.spent_usd).toBe(0);
  });

  test("waits as a 429 demands, then is served", async () => {
    const account = await product.account();
    const statuses: number[] = [];
    const recorded = async (url: string, init?: RequestInit) => {
      const response = await fetch(url, init);
      statuses.push(response.status);
      return response;
    };
    // A busy machine may notice late that the streams were left.
    const waiting = client(account, 1, { maxRetries: 20, fetch: recorded });
    const leaving = new AbortController();
    const open = await Promise.all(
      [0, 1].map(async (api) => {
        const body = { ...PLAIN, model: "long", stream: true } as const;
        const { signal } = leaving;
        const stream = await client(account, api).chat.completions.create(body, { signal });
        const chunks = stream[Symbol.asyncIterator]();
        await chunks.next();
        return chunks;
      }),
    );
    const startMs = performance.now();
    const third = waiting.chat.completions.create({ ...PLAIN, stream: true });
    await eventually("the third stream is refused", () => statuses.length > 0);
    leaving.abort();
    await Promise.allSettled(open.map((chunks) => chunks.next()));
    expect(svcOf((await all(await third)).at(-1)).cost_usd).toBe(0.000028);
    expect(statuses[0]).toBe(429);
    expect(statuses.at(-1)).toBe(200);
    // At least: without the header the client would have retried after half a second.
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(1_000);
  });
});

describe("a tool loop", () => {
  const tools: OpenAI.Chat.Completions.ChatCompletionTool[] = [
    {
      type: "function",
      function: {
        name: "get_fare",
        parameters: {
          type: "object",
          properties: { from: { type: "string" }, to: { type: "string" } },
        },
      },
    },
  ];

  /** The question, the model's calls, and an answer to each. */
  function conversation(
    calls: readonly OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall[],
  ): OpenAI.Chat.Completions.ChatCompletionMessageParam[] {
    return [
      ...MESSAGES,
      { role: "assistant", content: null, tool_calls: [...calls] },
      ...calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: '{"usd":3}' })),
    ];
  }

  function lastRequest(): FakeRequest | undefined {
    return product.upstream.requests.at(-1);
  }

  test("goes from tools over calls to an answer", async () => {
    const account = await product.account();
    const { completions } = client(account).chat;
    product.upstream.queue("tool-call", "ok");
    const asked = await completions.create({ ...PLAIN, tools });
    const [choice] = asked.choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(lastRequest()?.body.tools).toEqual(tools);
    const calls = (choice?.message.tool_calls ?? []).filter((call) => call.type === "function");
    expect(calls[0]?.function).toEqual({ name: "get_fare", arguments: '{"from":"A","to":"B"}' });
    const messages = conversation(calls);
    const answer = await completions.create({ ...PLAIN, messages, tools });
    expect(answer.choices[0]?.message.content).toBe(SAID);
    expect(lastRequest()?.body.messages).toEqual(messages);
    const spent = usd(`${svcOf(asked).cost_usd}`) + usd(`${svcOf(answer).cost_usd}`);
    expect((await me(account)).month.spent_usd).toBe(Number(toDecimal(spent as NanoUsd)));
  });

  test("goes the same way in streams", async () => {
    const account = await product.account();
    product.upstream.queue("tool-call", "ok");
    const { completions } = client(account).chat;
    const first = await completions.stream({ ...PLAIN, tools }).finalChatCompletion();
    expect(first.choices[0]?.finish_reason).toBe("tool_calls");
    const calls = (first.choices[0]?.message.tool_calls ?? []).filter(
      (call) => call.type === "function",
    );
    expect(calls.map((call) => call.function.arguments)).toEqual(
      Array(3).fill('{"from":"A","to":"B"}'),
    );
    const sent = calls.map(({ id, type, function: { name, arguments: given } }) => {
      return { id, type, function: { name, arguments: given } };
    });
    const messages = conversation(sent);
    const second = completions.stream({ ...PLAIN, messages, tools });
    expect(await second.finalContent()).toBe(SAID);
    expect(lastRequest()?.body.messages).toEqual(messages);
  });
});

test("a stream that its caller leaves stops upstream at once and costs the sent text", async () => {
  const account = await product.account({ contract: "enterprise" });
  let spentBefore = 0;
  for (let round = 0; round < 5; round += 1) {
    const body = { ...PLAIN, model: "long", stream: true } as const;
    const stream = await client(account, round % 2).chat.completions.create(body);
    const request = product.upstream.requests.at(-1);
    let text = "";
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      if (text.length > 60) break;
    }
    stream.controller.abort();
    await eventually("the upstream was hung up on", () => request?.isAborted === true);
    await eventually("slot and hold are free", async () => {
      const { limits, balance } = await me(account, (round + 1) % 2);
      return limits.open_streams === 0 && balance.held_usd === 0;
    });
    const { spent_usd: spent } = (await me(account)).month;
    const tokens = countTokens(text);
    const cost = Math.round((spent - spentBefore) * 1e6);
    expect(cost).toBeGreaterThan(2 * (tokens - 5));
    // Not more than the upstream had sent by then, one token a delta, and the prompt.
    expect(cost).toBeLessThan(2 * (request?.deltas ?? 0) + 30);
    spentBefore = spent;
  }
});

/** The cost of one call in each of its records. */
interface Told {
  readonly request: string;
  readonly body: string;
  readonly header: string;
}

async function makeCalls(account: TestAccount): Promise<Told[]> {
  const told: Told[] = [];
  for (let call = 0; call < 6; call += 1) {
    const { completions } = client(account, call % 2).chat;
    if (call % 3 === 2) {
      const { data } = await completions.create({ ...PLAIN, stream: true }).withResponse();
      const { request_id: request, cost_usd } = svcOf((await all(data)).at(-1));
      const body = toDecimal(usd(cost_usd.toFixed(9)));
      told.push({ request, body, header: body });
      continue;
    }
    const asked = await completions.create(PLAIN).withResponse();
    const { request_id: request, cost_usd } = svcOf(asked.data);
    const body = toDecimal(usd(cost_usd.toFixed(9)));
    told.push({ request, body, header: asked.response.headers.get("x-svc-cost-usd") ?? "" });
  }
  return told;
}

async function exportedCosts(account: TestAccount): Promise<Map<string, string>> {
  const day = 86_400_000;
  const [from, to] = [-1, 1].map((days) => new Date(Date.now() + days * day).toISOString());
  const words = ["log", "export", account.id, "--from", from ?? "", "--to", to ?? ""];
  const child = Bun.spawn([process.execPath, "src/cli/main.ts", ...words], {
    cwd: `${import.meta.dir}/../../..`,
    env: { PATH: process.env.PATH ?? "", ...product.env },
    stdout: "pipe",
  });
  const [head = "", ...rows] = (await new Response(child.stdout).text()).trim().split("\r\n");
  const cells = (row: string) => row.split(",").map((cell) => cell.replaceAll('"', ""));
  const column = (name: string) => cells(head).indexOf(name);
  return new Map(
    rows.map((row) => {
      const row_ = cells(row);
      return [row_[column("request_id")] ?? "", row_[column("cost_usd")] ?? ""];
    }),
  );
}

test("body, header, ledger, request log and CSV give the same cost of every call", async () => {
  const account = await product.account({ paid: "1" });
  const before = (await me(account)).balance;
  const told = await makeCalls(account);
  const { sql } = product.operator.database;
  await eventually("the worker has flushed all calls", async () => {
    const [row] = await sql`SELECT count(*)::int AS rows FROM request_log
      WHERE request IN ${sql(told.map(({ request }) => toUuid(request)))}`;
    return row?.rows === told.length;
  });
  const exported = await exportedCosts(account);
  for (const { request, body, header } of told) {
    const [row] = await sql`
      SELECT l.cost::text AS logged, -sum(e.paid_delta + e.free_delta) AS charged
      FROM request_log l JOIN ledger_entries e USING (request)
      WHERE l.request = ${toUuid(request)} GROUP BY l.cost, l.at`;
    const inBooks = [row?.logged, row?.charged].map((text) => toDecimal(BigInt(text) as NanoUsd));
    expect([body, header, ...inBooks, exported.get(request)]).toEqual(Array(5).fill(PRICE));
  }
  const after = (await me(account)).balance;
  const sum = told.reduce((total, { header }) => total + usd(header), 0n);
  expect(owned(before) - owned(after)).toBe(sum);
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
});

function owned({ paid_usd, free_usd }: Me["balance"]): bigint {
  return usd(paid_usd.toFixed(9)) + usd(free_usd.toFixed(9));
}
