// Tests the adapter's requests, apart from the provider: limits, thoughts that come back,
// parameters that a provider does not have, and packages that no model uses.

import { beforeEach, describe, expect, test } from "bun:test";
import type { UpstreamCall } from "../../../../../src/services/chat/protocols/protocol.ts";
import type { ChatMessage } from "../../../../../src/services/chat/protocols/provider.ts";
import { UnableFailure } from "../../../../../src/upstream/route-failure.ts";
import { REQUEST, upstreamCall } from "../../../../support/api/chat-routes.ts";
import { rejection } from "../../../../support/api/rejection.ts";
import type { WireAnswer } from "../../../../support/fakes/wire/wire-answer.ts";
import {
  protocols,
  type SdkKind,
  sdkCall,
  serviceAccountAt,
  WIRE_FORMS,
} from "../../../../support/fakes/wire/wire-forms.ts";
import { startWireServer } from "../../../../support/fakes/wire/wire-server.ts";
import { shared, sharedServer } from "../../../../support/shared.ts";

const server = await shared(startWireServer());
const tokens = sharedServer(() => Response.json({ access_token: "ya29.token" }));
const cloud = { region: "eu-west-1", serviceAccount: serviceAccountAt(String(tokens.url)) };
const KINDS = Object.keys(WIRE_FORMS) as SdkKind[];

beforeEach(() => server.reset());

const USAGE = { uncached: 20, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 4 };
const ANSWER: WireAnswer = { text: ["Fares are ", "paid."], end: "stop", usage: USAGE };

type Parts = Partial<UpstreamCall["request"]>;

/** The body that the server gets, and the reply. */
async function sent(
  kind: SdkKind,
  parts: Parts,
  answer = ANSWER,
  more: Partial<UpstreamCall> = {},
) {
  server.queue(WIRE_FORMS[kind].whole(answer));
  const call = sdkCall(kind, server.url, { request: { ...REQUEST, ...parts }, ...more }, { cloud });
  const reply = await protocols[kind].complete(call);
  return { reply, body: server.requests.at(-1)?.body ?? {} };
}

describe.each(KINDS)("%s", (kind) => {
  test.each(["logprobs", "top_logprobs", "logit_bias"])(
    "refuses %s by name, unsent",
    async (name) => {
      const before = server.requests.length;
      const error = await rejection(sent(kind, { parameters: { [name]: 1 } }));
      expect(error).toBeInstanceOf(UnableFailure);
      expect((error as UnableFailure).refusal).toMatchObject({
        code: "invalid_parameter",
        param: name,
      });
      expect(server.requests.length).toBe(before);
    },
  );

  test("refuses an effort that it does not know, by name", async () => {
    const error = await rejection(sent(kind, { parameters: { reasoning_effort: "heroic" } }));
    expect((error as UnableFailure).refusal).toMatchObject({ param: "reasoning_effort" });
  });

  test("names what it ignores, and sends none of it", async () => {
    const parameters = { logprobs: false };
    const extras = new Map<string, unknown>([["min_p", 0.1]]);
    const messages = [{ role: "user", content: "Hello", name: "n-canary" } as const];
    const { reply, body } = await sent(kind, { parameters, extras, messages });
    const names = ["min_p", "messages[].name"];
    expect([...(reply.ignored ?? [])].sort()).toEqual(names.sort());
    expect(JSON.stringify(body)).not.toMatch(/canary|min_p/);
  });

  test("names it in a stream too", async () => {
    server.queue(WIRE_FORMS[kind].stream(ANSWER));
    const request = { ...REQUEST, extras: new Map([["min_p", 0.1]]) };
    const call = sdkCall(kind, server.url, { request }, { cloud });
    const [first] = await Array.fromAsync(protocols[kind].stream(call));
    expect(first?.ignored).toContain("min_p");
  });

  test.each(["minimal", "low", "medium", "high", "xhigh", "max"])(
    "never asks for more output than its limit, with effort %s",
    async (reasoning_effort) => {
      for (const maxTokens of [16, 1_024, 4_096, 32_768]) {
        const { body } = await sent(kind, { maxTokens, parameters: { reasoning_effort } });
        expect(limitIn(body)).toBeLessThanOrEqual(maxTokens);
      }
    },
  );

  test("sends the history of tools, and the system before the rest where it must", async () => {
    const { body } = await sent(kind, { messages: HISTORY, parameters: { tools: TOOLS } });
    const text = JSON.stringify(body);
    for (const part of ["s-one", "s-two", "find_fare", "zone-b", "r-one", "r-two"]) {
      expect(text).toContain(part);
    }
  });
});

/** The highest number of a field whose name says that it limits tokens. */
function limitIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const limits = Object.entries(value).map(([name, inner]) =>
    /^max_?(output_?)?tokens$/i.test(name) && typeof inner === "number" ? inner : limitIn(inner),
  );
  return Math.max(0, ...limits);
}

const TOOLS = [{ type: "function", function: { name: "find_fare" } }];
const toolCall = (id: string, extra?: object) => ({
  id,
  type: "function" as const,
  function: { name: "find_fare", arguments: '{"zone":"zone-b"}' },
  ...(extra !== undefined && { extra_content: extra as Record<string, unknown> }),
});
const HISTORY: readonly ChatMessage[] = [
  { role: "system", content: "s-one" },
  { role: "user", content: "u-one" },
  { role: "assistant", content: null, tool_calls: [toolCall("c1"), toolCall("c2")] },
  { role: "tool", content: "r-one", tool_call_id: "c1" },
  { role: "tool", content: "r-two", tool_call_id: "c2" },
  { role: "system", content: "s-two" },
  { role: "user", content: "u-two" },
];

describe("an older Claude, whose thoughts have a budget", () => {
  const OLDER = [
    ["anthropic", "claude-sonnet-4-5"],
    ["google-vertex", "claude-sonnet-4-5"],
    ["amazon-bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ] as const;

  async function asked(kind: SdkKind, model: string, maxTokens: number) {
    const isBedrock = kind === "amazon-bedrock";
    server.queue((isBedrock ? WIRE_FORMS[kind] : WIRE_FORMS.anthropic).whole(ANSWER));
    const { provider } = sdkCall(kind, server.url, {}, { cloud });
    const request = { ...REQUEST, maxTokens, parameters: { reasoning_effort: "high" } };
    const { ignored } = await protocols[kind].complete(upstreamCall(provider, model, { request }));
    const body = server.requests.at(-1)?.body ?? {};
    const [, budget = null] = /"budget_?tokens":(\d+)/i.exec(JSON.stringify(body)) ?? [];
    return { ignored, limit: limitIn(body), budget: budget === null ? null : Number(budget) };
  }

  test.each(OLDER)("at %s has it inside of the limit", async (kind, model) => {
    expect(await asked(kind, model, 4_000)).toMatchObject({ limit: 4_000, budget: 3_200 });
  });

  test.each(OLDER)("at %s does not think where there is no room", async (kind, model) => {
    const { ignored, ...sent } = await asked(kind, model, 1_000);
    expect(sent).toEqual({ limit: 1_000, budget: null });
    expect(ignored).toContain("reasoning_effort");
  });
});

describe("thoughts", () => {
  const thought = { text: "They ask for a fare.", seal: "c2VhbA==" };
  const call = { id: "call_a1", name: "find_fare", input: { zone: "B" } };
  const answer: WireAnswer = { thought, calls: [call], end: "stop", usage: USAGE };
  const SEALED: SdkKind[] = [
    "anthropic",
    "google",
    "google-vertex",
    "amazon-bedrock",
    "openai-responses",
  ];

  test.each(SEALED)("of %s come back with the result of the tool", async (kind) => {
    const parameters = { tools: TOOLS };
    const first = await sent(kind, { parameters }, answer, { showsReasoning: true });
    const [calls] = first.reply.choices.map(({ message }) => message.tool_calls ?? []);
    const messages: ChatMessage[] = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: null, tool_calls: calls ?? [] },
      { role: "tool", content: "4.20", tool_call_id: "call_a1" },
    ];
    const { body } = await sent(kind, { messages, parameters });
    expect(JSON.stringify(body)).toContain(thought.seal);
  });

  test.each(SEALED)("of %s are the same in a stream", async (kind) => {
    const request = { ...REQUEST, parameters: { tools: TOOLS } };
    const asked = () => sdkCall(kind, server.url, { request }, { cloud });
    server.queue(WIRE_FORMS[kind].stream(answer));
    const batches = await Array.fromAsync(protocols[kind].stream(asked()));
    const text = JSON.stringify(batches);
    expect(text).toContain(thought.seal);
    // A hidden thought goes back by its seal alone.
    expect(text).not.toContain(thought.text);
  });

  test("take nothing from a caller but a provider's own fields, as texts", async () => {
    const extra = {
      anthropic: {
        cacheControl: { type: "ephemeral", ttl: "1h" },
        thoughts: [
          { text: "t", signature: "sig-one", cacheControl: { ttl: "1h" } },
          { signature: 7 },
        ],
      },
    };
    const messages: ChatMessage[] = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: null, tool_calls: [toolCall("c1", extra)] },
      { role: "tool", content: "4.20", tool_call_id: "c1" },
    ];
    const { body } = await sent("anthropic", { messages, parameters: { tools: TOOLS } });
    expect(JSON.stringify(body)).toContain("sig-one");
    expect(JSON.stringify(body)).not.toMatch(/cache_?control|1h/i);
  });
});

test("a token of Vertex is fetched once for many calls, and again after its end", async () => {
  let fetched = 0;
  const counting = sharedServer(() => {
    fetched += 1;
    return Response.json({ access_token: `ya29.${fetched}` });
  });
  const own = { ...cloud, serviceAccount: serviceAccountAt(String(counting.url)) };
  const ask = async () => {
    server.queue(WIRE_FORMS["google-vertex"].whole(ANSWER));
    await protocols["google-vertex"].complete(
      sdkCall("google-vertex", server.url, {}, { cloud: own }),
    );
  };
  await Promise.all([ask(), ask(), ask()]);
  expect(fetched).toBe(1);
  expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer ya29.1");
  expect(server.requests.at(-1)?.headers["x-goog-api-key"]).toBeUndefined();
});

test("Claude on Vertex is asked in Anthropic's form", async () => {
  server.queue(WIRE_FORMS.anthropic.whole(ANSWER));
  const { provider } = sdkCall("google-vertex", server.url, {}, { cloud });
  const { choices } = await protocols["google-vertex"].complete(
    upstreamCall(provider, "claude-opus-5"),
  );
  expect(choices[0]?.message.content).toBe("Fares are paid.");
  const asked = server.requests.at(-1);
  expect(asked?.path).toBe("/publishers/anthropic/models/claude-opus-5:rawPredict");
  expect(asked?.body).toMatchObject({ anthropic_version: "vertex-2023-10-16" });
  expect(asked?.body).not.toHaveProperty("model");
});

test("a process that asks no such provider loads none of its packages", async () => {
  const source = 'await import("./src/services/chat/protocols/protocols.ts");';
  const listed =
    "console.log(Object.keys(require.cache).filter((p) => p.includes('@ai-sdk')).length)";
  const child = Bun.spawn([process.execPath, "-e", `${source}${listed}`], { stdout: "pipe" });
  expect((await new Response(child.stdout).text()).trim()).toBe("0");
});
