// Tests the adapter's requests, apart from the provider: limits, thoughts that come back,
// parameters that a provider does not have, and packages that no model uses.

import { beforeEach, describe, expect, test } from "bun:test";
import { ApiError } from "../../../../../src/core/errors.ts";
import type { UpstreamCall } from "../../../../../src/services/chat/protocols/protocol.ts";
import type { ChatMessage } from "../../../../../src/services/chat/protocols/provider.ts";
import { AccessFailure, UnableFailure } from "../../../../../src/upstream/route-failure.ts";
import { REQUEST, upstreamCall } from "../../../../support/api/chat-routes.ts";
import { rejection } from "../../../../support/api/rejection.ts";
import type { WireAnswer } from "../../../../support/fakes/wire/wire-answer.ts";
import {
  protocols,
  type SdkKind,
  sdkCall,
  serviceAccountAt,
  sharedServiceAccount,
  WIRE_FORMS,
} from "../../../../support/fakes/wire/wire-forms.ts";
import { startWireServer } from "../../../../support/fakes/wire/wire-server.ts";
import { shared, sharedServer } from "../../../../support/shared.ts";

const server = await shared(startWireServer());
const cloud = { region: "eu-west-1", serviceAccount: sharedServiceAccount() };
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

  test("names the ignored fields, and sends none of them", async () => {
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

describe("Amazon's Nova, which takes no limit at a high effort", () => {
  test.each([
    ["high", "medium", ["reasoning_effort"]],
    ["max", "medium", ["reasoning_effort"]],
    ["medium", "medium", []],
    ["low", "low", []],
  ])("thinks at effort %s with effort %s, within its limit", async (asked, used, ignored) => {
    server.queue(WIRE_FORMS["amazon-bedrock"].whole(ANSWER));
    const { provider } = sdkCall("amazon-bedrock", server.url, {}, { cloud });
    const request = { ...REQUEST, maxTokens: 700, parameters: { reasoning_effort: asked } };
    const call = upstreamCall(provider, "us.amazon.nova-2-lite-v1:0", { request });
    const reply = await protocols["amazon-bedrock"].complete(call);
    const body = server.requests.at(-1)?.body ?? {};
    expect(limitIn(body)).toBe(700);
    expect(JSON.stringify(body)).toContain(`"maxReasoningEffort":"${used}"`);
    expect(reply.ignored).toEqual(ignored);
  });
});

describe("the tier", () => {
  const TIERS: Readonly<Record<SdkKind, readonly (string | undefined)[]>> = {
    anthropic: ["standard_only", "standard_only", "standard_only"],
    google: ["standard", "flex", "priority"],
    "google-vertex": [undefined, "flex", "priority"],
    "amazon-bedrock": ["default", "flex", "priority"],
    cohere: [undefined, undefined, undefined],
    "openai-responses": ["default", "flex", "priority"],
  };
  const ASKED = [undefined, "flex", "priority"] as const;

  test.each(KINDS)("that %s serves a call by stands in each request", async (kind) => {
    const found: (string | undefined)[] = [];
    for (const tier of ASKED) {
      const parameters = tier === undefined ? {} : { service_tier: tier };
      const { body, reply } = await sent(kind, { parameters });
      const header = server.requests.at(-1)?.headers["x-vertex-ai-llm-shared-request-type"];
      const [, named] = /"service_?tier":(?:\{"type":)?"(\w+)"/i.exec(JSON.stringify(body)) ?? [];
      found.push(named ?? header);
      const isTaken = TIERS[kind].includes("flex");
      expect(reply.ignored?.includes("service_tier")).toBe(tier !== undefined && !isTaken);
      if (!isTaken) expect(reply.usage?.served?.tier ?? "standard").toBe("standard");
    }
    expect(found).toEqual([...TIERS[kind]]);
  });

  // The package leaves a tier out for names of models that it does not know.
  test.each(["gpt-3.5-turbo", "gpt-5-nano", "ft:gpt-4.1:acme", "our-model"])(
    "is sent to OpenAI's Responses whatever the model's name is: %s",
    async (model) => {
      for (const tier of ASKED) {
        const parameters = tier === undefined ? {} : { service_tier: tier };
        server.queue(WIRE_FORMS["openai-responses"].whole(ANSWER));
        const { provider } = sdkCall("openai-responses", server.url);
        const call = upstreamCall(provider, model, { request: { ...REQUEST, parameters } });
        const { ignored = [] } = await protocols["openai-responses"].complete(call);
        expect(server.requests.at(-1)?.body.service_tier).toBe(tier ?? "default");
        expect(ignored).not.toContain("service_tier");
        expect(ignored).not.toContain("tools");
      }
    },
  );

  test("that was asked for is charged if a reply names none", async () => {
    const parameters = { service_tier: "flex" };
    const { reply } = await sent("amazon-bedrock", { parameters });
    expect(reply.usage?.served?.tier).toBe("flex");
  });
});

describe.each([false, true])("a reply of a package, streamed: %p,", (isStream) => {
  async function answered(kind: SdkKind, answer: WireAnswer, parameters: Parts["parameters"] = {}) {
    const call = sdkCall(kind, server.url, { request: { ...REQUEST, parameters } }, { cloud });
    if (!isStream) return (await sent(kind, { parameters }, answer)).reply.usage?.served;
    server.queue(WIRE_FORMS[kind].stream(answer));
    const batches = await Array.fromAsync(protocols[kind].stream(call));
    return batches.at(-1)?.usage?.served;
  }

  // A priority call that was served as a standard one is billed as a standard one (D-968).
  test.each([
    ["openai-responses", "default", "standard"],
    ["openai-responses", "flex", "flex"],
    ["openai-responses", "scale", "unknown"],
    ["amazon-bedrock", "default", "standard"],
    ["amazon-bedrock", "flex", "flex"],
    ["google", "standard", "standard"],
    ["google", "flex", "flex"],
    ["google-vertex", "flex", "flex"],
  ] as const)("is charged by the tier that %s names: %s", async (kind, tier, served) => {
    const parameters = { service_tier: "priority" };
    expect((await answered(kind, { ...ANSWER, tier }, parameters))?.tier).toBe(served);
  });

  test.each(["anthropic", "google", "google-vertex", "openai-responses"] as const)(
    "names the model by which %s served it",
    async (kind) => {
      expect((await answered(kind, { ...ANSWER, model: "m-large" }))?.model).toBe("m-large");
    },
  );
});

describe("an error in a stream is", () => {
  const error = (type: string, message: string) => ({ type, message });
  const FAULTS: readonly [whose: string, error: object, expected: object][] = [
    ["the caller's", error("invalid_request_error", "Too many tools"), { status: 400 }],
    [
      "the caller's",
      error("invalid_request_error", "prompt is too long: 300000 tokens"),
      { code: "context_length_exceeded" },
    ],
    [
      "the caller's",
      error("api_error", "Your message was flagged"),
      { code: "invalid_parameter", isContentRefusal: true },
    ],
    ["the operator's", error("authentication_error", "invalid x-api-key"), { blames: "server" }],
    ["the operator's", error("billing_error", "No credit"), { blames: "server" }],
    ["the operator's", error("rate_limit_error", "Slow down"), { blames: "nobody" }],
    ["the operator's", error("not_found_error", "model: x"), { blames: "nobody" }],
    ["the server's", error("overloaded_error", "Overloaded"), { blames: "server" }],
    ["the server's", error("api_error", "Internal"), { blames: "server" }],
  ];

  test.each(FAULTS)("%s: %j", async (whose, given, expected) => {
    const { body, ...reply } = WIRE_FORMS.anthropic.stream(ANSWER);
    const failure = `event: error\ndata: ${JSON.stringify({ type: "error", error: given })}\n\n`;
    const texts = WIRE_FORMS.anthropic.textEvents(body);
    for (const before of [body.slice(0, 1), body.slice(0, texts)]) {
      server.queue({ ...reply, body: [...before, failure] });
      const reading = Array.fromAsync(protocols.anthropic.stream(sdkCall("anthropic", server.url)));
      const thrown = await rejection(reading);
      expect(thrown).toMatchObject(expected);
      expect(thrown instanceof ApiError).toBe(whose === "the caller's");
      const isAccess = /authentication|billing/.test(JSON.stringify(given));
      expect(thrown instanceof AccessFailure).toBe(isAccess);
    }
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

test.each(KINDS)(
  "a verbosity that %s does not know is ignored, and the call served",
  async (kind) => {
    const { body, reply } = await sent(kind, { parameters: { verbosity: "loud" } });
    expect(reply.ignored).toContain("verbosity");
    expect(JSON.stringify(body)).not.toContain("loud");
    const known = await sent("openai-responses", { parameters: { verbosity: "low" } });
    expect(known.body).toMatchObject({ text: { verbosity: "low" } });
    expect(known.reply.ignored ?? []).not.toContain("verbosity");
  },
);
