// The promises about money on each door: parallel calls never spend more than the balance, and a
// stream that its caller or its server leaves at any event holds nothing and costs the text that
// was sent. A tool's call that its caller leaves holds nothing, and costs what was found by then.

import { beforeEach, describe, expect, test } from "bun:test";
import type { AccountView } from "../../../actors/account.ts";
import type { CancelSignal } from "../../../src/core/cancellation.ts";
import { add, type NanoUsd, usd } from "../../../src/core/money/money.ts";
import { countTokens } from "../../../src/services/chat/tokens/tokens.ts";
import { costOf, until } from "../../support/api/api-world.ts";
import {
  DOOR_WAYS,
  type DoorWay,
  doorsAt,
  OWN_RESPONSES_MODEL,
  PACKAGE_WAYS,
  VECTOR_MODELS,
} from "../../support/api/doors-world.ts";
import { MCP_VERSIONS, toolCall } from "../../support/api/mcp-messages.ts";
import type { Received } from "../../support/api/read-requests.ts";
import { OWN_USAGE } from "../../support/api/responses-world.ts";
import { jsonReply, replyTo } from "../../support/fakes/fake-vectors.ts";
import { replyOf } from "../../support/fakes/scripted-search.ts";
import type { WireAnswer } from "../../support/fakes/wire/wire-answer.ts";
import {
  type QueuedReply,
  startWireServer,
  type WireReply,
} from "../../support/fakes/wire/wire-server.ts";
import { closedGate } from "../../support/gate.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const server = await shared(startWireServer());
const api = await doorsAt(server.url);

beforeEach(() => server.reset());

const ZERO = usd("0");
/** More than our own count of any reply below. */
const OUTPUT = 60;

function answerOf({ door, form }: DoorWay): WireAnswer {
  const usage = { uncached: 12, cacheRead: 0, cacheWrite: 0, output: OUTPUT, reasoning: 0 };
  return {
    ...(form !== null && { thought: { text: "A fare? ", seal: "c2VhbA==" } }),
    text: ["I see ", "the bus ", "leave."],
    ...(door !== "text" && { calls: [{ id: "call_1", name: "exec", input: { n: 4217 } }] }),
    end: "stop",
    usage,
  };
}

/** The pieces of such a reply that are in no other part of it, in their order. */
const WORDS = ["A fare?", "I see", "the bus", "leave.", "4217"];

const CALLS = 200;
const MANY = "fare ".repeat(1_000);

/** More than one call holds, and much less than all of them do. */
const PAID = "0.0105";

interface Race {
  readonly name: string;
  readonly path: string;
  /** By default PAID. */
  readonly paid?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: (at: number) => object | string;
  /** Makes whoever serves the calls reply to each once it has passed. */
  readonly serve: (pass: () => Promise<void>) => void;
}

/** Replies of the server of all models. */
function byServer(reply: (request: Received) => WireReply): Race["serve"] {
  return (pass) => {
    const later: QueuedReply = async (request) => {
      await pass();
      return reply(request);
    };
    server.queue(...Array<QueuedReply>(CALLS).fill(later));
  };
}

const COMPACTION = {
  id: "resp_upstream",
  object: "response.compaction",
  created_at: 1_795_000_000,
  output: [{ id: "cmp_1", type: "compaction", encrypted_content: "c2VhbGVk" }],
  usage: OWN_USAGE,
};

const RACES: readonly Race[] = [
  ...DOOR_WAYS.map((way) => ({
    name: way.name,
    path: way.path,
    body: (at: number) => way.body({ stream: at % 2 === 0, maxTokens: 1_000 }),
    serve: byServer(({ body }) =>
      way.wire[body.stream === true ? "stream" : "whole"](answerOf(way)),
    ),
  })),
  ...[
    { path: "/v1/embeddings", body: { model: VECTOR_MODELS.embedding, input: MANY } },
    {
      path: "/v1/rerank",
      body: { model: VECTOR_MODELS.rerank, query: "A fare?", documents: [MANY] },
    },
  ].map(({ path, body }) => ({
    name: path,
    path,
    body: () => body,
    serve: byServer(({ body: asked }) => ({ body: [JSON.stringify(replyTo(asked))] })),
  })),
  {
    name: "/v1/responses/compact",
    path: "/v1/responses/compact",
    // Each call holds the longest output of its model.
    paid: "0.7",
    body: () => ({ model: OWN_RESPONSES_MODEL, input: "Hello" }),
    serve: byServer(() => jsonReply(COMPACTION)),
  },
  ...MCP_VERSIONS.map((version): Race => {
    const { headers, body } = toolCall(version, "search", { query: "fares", max_results: 2 });
    return {
      name: `/mcp, a tool's call by ${version}`,
      path: "/mcp",
      headers,
      body: () => body,
      serve: (pass) => {
        api.search.reply = async ({ maxResults }) => {
          await pass();
          return replyOf(maxResults);
        };
      },
    };
  }),
];

describe(`of ${CALLS} calls at once exactly those are served that the balance pays for:`, () => {
  for (const { name, path, paid = PAID, headers = {}, body, serve } of RACES) {
    test(name, async () => {
      const account = await api.account({ contract: "enterprise", paid });
      const gate = closedGate();
      serve(() => gate.pass());
      let refused = 0;
      const calls = Array.from({ length: CALLS }, async (_, at) => {
        const response = await api.postTo(path, account, body(at), { headers });
        const text = await response.text();
        // A tool's call is refused with status 200.
        const code = codeIn(text);
        if (code === "insufficient_credits") refused += 1;
        return { status: code === null ? response.status : code, text };
      });
      await until(() => gate.arrivals + refused === CALLS, "every call is held for or refused");
      const holds = (await api.holdRecords(account)).map(({ paid: amount }) => amount);
      const held = await api.view(account);
      expect(holds).toHaveLength(gate.arrivals);
      expect(gate.arrivals).toBeGreaterThan(1);
      expect(gate.arrivals).toBeLessThan(CALLS / 4);
      expect(held.heldPaid).toBe(add(...holds));
      expect(held.paid + held.heldPaid).toBe(usd(paid));
      // The rest pays for no other call.
      expect(holds.filter((amount) => amount <= held.paid)).toEqual([]);
      gate.open();
      const answers = await Promise.all(calls);
      await until(() => api.openCalls === 0, "every hold was resolved");
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(gate.arrivals);
      const others = answers.map(({ status }) => status).filter((status) => status !== 200);
      expect(others).toEqual(Array(refused).fill("insufficient_credits"));
      const told = answers.map(({ text }) => costIn(text));
      const left = await api.view(account);
      expect(left.heldPaid).toBe(ZERO);
      expect(left.openStreams).toBe(0);
      expect(add(left.paid, ...told)).toBe(usd(paid));
      expect(await settled(account)).toHaveLength(gate.arrivals);
    });
  }
});

/** The code of the error in a reply; null if it has none. */
function codeIn(text: string): string | null {
  return /"error":\{[^{}]*"code":"(\w+)"/.exec(text)?.[1] ?? null;
}

/** The cost in a whole reply or in a stream; zero if it has none. */
function costIn(text: string): NanoUsd {
  const [, cost = "0"] = /"cost_usd":([0-9.e-]+)/.exec(text) ?? [];
  return usd(Number(cost).toFixed(9));
}

/** The calls of the account that ended with a charge. */
async function settled(account: TestAccount) {
  return (await api.journal(account)).filter(
    ({ type, end }) => type === "call" && end?.status === 200,
  );
}

/** Reads a stream until all these words have come. Returns its whole text until then. */
async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  words: readonly string[],
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  while (!words.every((word) => text.includes(word))) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The stream ended with ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

describe("a stream holds nothing and costs the sent text, wherever", () => {
  for (const way of [...DOOR_WAYS, ...PACKAGE_WAYS]) {
    const { body: events, headers = {} } = way.wire.stream(answerOf(way));
    const body = way.body({ stream: true, maxTokens: 100 });

    for (const end of ["hang", "cut"] as const) {
      const who = end === "hang" ? "its caller" : "its server";
      test(`${who} leaves ${way.name}`, async () => {
        // Failures of one account alone do not keep a server from being asked.
        const account = await api.account({ contract: "enterprise", paid: "5" });
        for (let count = 0; count <= events.length; count += 1) {
          const before = await api.view(account);
          const sent = events.slice(0, count);
          const text = Buffer.concat(sent.map((event) => Buffer.from(event))).toString();
          const words = WORDS.filter((word) => text.includes(word));
          server.queue({ headers, body: sent, end });
          const asked = server.requests.length;
          const leaving = new AbortController();
          const response = api.postTo(way.path, account, body, { signal: leaving.signal });
          await until(() => server.requests.length > asked, "the server was asked");
          if (end === "cut") await (await response).text();
          else if (words.length > 0) await readThenLeave(await response, words);
          else {
            leaving.abort();
            await response.then((begun) => begun.text()).catch(() => {});
          }
          await until(() => api.openCalls === 0, "the call was settled");
          await expectFair(account, before, { count, words });
        }
      });
    }
  }
});

/** Never answers, and fails once the caller has left. */
function hang<T>({ signal }: { readonly signal: CancelSignal }): Promise<T> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("The caller left")));
  });
}

describe("a tool's call that its caller leaves holds nothing and costs what was found,", () => {
  const [fast, slow] = ["fast", "slow"].map((query) => ({ query, max_results: 2 }));
  const CALLED = [
    ["search", { ...slow }, "0"],
    ["search_batch", { searches: [fast, slow] }, "0.001"],
    ["maps_geocode", { query: "slow" }, "0"],
  ] as const;

  for (const version of MCP_VERSIONS) {
    test.each(CALLED)(`%s by MCP ${version}`, async (tool, args, cost) => {
      const account = await api.account({ contract: "enterprise", paid: "5" });
      let hanging = 0;
      api.search.reply = ({ query, maxResults }, options) => {
        if (query === "fast") return Promise.resolve(replyOf(maxResults));
        hanging += 1;
        return hang(options);
      };
      api.maps.answer = (_, options) => {
        hanging += 1;
        return hang(options);
      };
      const { headers, body } = toolCall(version, tool, args);
      const leaving = new AbortController();
      const call = api.postTo("/mcp", account, body, { headers, signal: leaving.signal });
      await until(() => hanging === 1, "its last part hangs");
      expect((await api.view(account)).heldPaid).toBeGreaterThan(ZERO);
      leaving.abort();
      await call.then((begun) => begun.text()).catch(() => {});
      await until(() => api.openCalls === 0, "the call was settled");
      const { paid, heldPaid } = await api.view(account);
      expect([heldPaid, add(paid, usd(cost))]).toEqual([ZERO, usd("5")]);
      const entries = await api.journal(account);
      expect(entries.map(({ end }) => end?.status)).toEqual([499]);
    });
  }
});

async function readThenLeave(response: Response, words: readonly string[]): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("The response has no body");
  await readUntil(reader as ReadableStreamDefaultReader<Uint8Array>, words);
  await reader.cancel();
}

/** Checks the account's last call, whose stream ended after so many events and these words. */
async function expectFair(
  account: TestAccount,
  before: AccountView,
  { count, words }: { readonly count: number; readonly words: readonly string[] },
): Promise<void> {
  const { paid, heldPaid, openStreams } = await api.view(account);
  const entries = await api.journal(account);
  const { promptTokens = 0, completionTokens = 0 } = entries.at(-1)?.end ?? {};
  const charged = before.paid - paid;
  const least = countTokens(words.join(" ")) - words.length;
  expect({
    count,
    heldPaid,
    openStreams,
    entries: entries.length,
    cost: charged,
    isCharged: charged > 0n,
    isEnough: completionTokens >= least,
    isTooMuch: completionTokens > OUTPUT,
  }).toEqual({
    count,
    heldPaid: ZERO,
    openStreams: 0,
    entries: count + 1,
    cost: costOf(promptTokens, completionTokens),
    isCharged: words.length > 0,
    isEnough: true,
    isTooMuch: false,
  });
}
