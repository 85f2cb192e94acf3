// An error that a server tells in a reply with status 200 has one meaning, whatever the form and
// the place of it: the caller's fault, the operator's or the server's (D-656).

import { beforeEach, describe, expect, test } from "bun:test";
import { ApiError } from "../../../../src/core/errors.ts";
import type { UpstreamResult } from "../../../../src/core/upstream-meter.ts";
import { base64Of } from "../../../../src/services/chat/media/media-part.ts";
import { readImage } from "../../../../src/services/chat/media/read-media.ts";
import { askOther } from "../../../../src/services/chat/protocols/other-calls.ts";
import type { UpstreamCall } from "../../../../src/services/chat/protocols/protocol.ts";
import type { ChatRequest } from "../../../../src/services/chat/protocols/provider.ts";
import { AccessFailure } from "../../../../src/upstream/route-failure.ts";
import {
  ask,
  idle,
  inspected,
  KEY,
  modelOf,
  providerAt,
  REQUEST,
  routesOver,
} from "../../../support/api/chat-routes.ts";
import { pngUrl } from "../../../support/api/images.ts";
import { rejection } from "../../../support/api/rejection.ts";
import { bedrockException } from "../../../support/fakes/wire/bedrock-wire.ts";
import { SSE, sse, typedEvent, type WireAnswer } from "../../../support/fakes/wire/wire-answer.ts";
import {
  ALL_FORMS,
  callBy,
  callTo,
  exchangeOf,
  sharedServiceAccount,
  type WireWay,
} from "../../../support/fakes/wire/wire-forms.ts";
import { startWireServer, type WireReply } from "../../../support/fakes/wire/wire-server.ts";
import { shared } from "../../../support/shared.ts";

const server = await shared(startWireServer());
const cloud = { region: "eu-west-1", serviceAccount: sharedServiceAccount() };

beforeEach(() => server.reset());

const USAGE = { uncached: 20, cacheRead: 0, cacheWrite: 0, output: 9, reasoning: 0 };
const ANSWER: WireAnswer = { text: ["Fares are ", "paid."], end: "stop", usage: USAGE };

type WrittenError = Readonly<Record<string, unknown>>;

/** An error as its provider writes it, and its meaning. */
type Fault = readonly [whose: string, error: WrittenError, meaning: object];

const CONTENT = { code: "invalid_parameter", isContentRefusal: true };
const CONTEXT = { code: "context_length_exceeded", isContentRefusal: false };
const REQUEST_FAULT = { code: "invalid_parameter", isContentRefusal: false };
const BUSY = { blames: "nobody" };
const BROKEN = { blames: "server" };

const openAi = (code: string | number | null, message: string, type = "error") => ({
  type,
  code,
  message,
});
const OPENAI_FAULTS: readonly Fault[] = [
  ["the caller's", openAi(null, "Too many tools", "invalid_request_error"), REQUEST_FAULT],
  ["the caller's", openAi("invalid_image", "The image is broken"), REQUEST_FAULT],
  ["the caller's", openAi("bio_policy", "Not this"), CONTENT],
  ["the caller's", openAi("misalignment_policy_violation", "Not this"), CONTENT],
  ["the operator's", openAi("data_residency_mismatch", "Not in this region"), BUSY],
  ["the server's", openAi("vector_store_timeout", "Late"), BROKEN],
  ["the caller's", openAi("context_length_exceeded", "Too long"), CONTEXT],
  ["the caller's", openAi("content_filter", "Filtered"), CONTENT],
  ["the caller's", openAi("image_content_policy_violation", "Not this image"), CONTENT],
  ["the operator's", openAi("invalid_api_key", `Incorrect key ${KEY}`), BROKEN],
  ["the operator's", openAi("insufficient_quota", "You exceeded your quota"), BROKEN],
  ["the operator's", openAi("rate_limit_exceeded", "Slow down"), BUSY],
  ["the server's", openAi("server_error", "Broken"), BROKEN],
];
/** OpenRouter's form, and that of vLLM. */
const NUMBERED: readonly Fault[] = [
  ["the caller's", openAi(400, "Too many tools"), REQUEST_FAULT],
  ["the caller's", openAi(403, "Your input was flagged"), CONTENT],
  ["the operator's", openAi(401, `Wrong key ${KEY}`), BROKEN],
  ["the operator's", openAi(402, "No credits"), BROKEN],
  ["the operator's", openAi(404, "No such model"), BUSY],
  ["the operator's", openAi(429, "Slow down"), BUSY],
  ["the server's", openAi(502, "Broken"), BROKEN],
];
const claude = (type: string, message: string) => ({ type, message });
const CLAUDE_FAULTS: readonly Fault[] = [
  ["the caller's", claude("invalid_request_error", "Too many tools"), REQUEST_FAULT],
  ["the caller's", claude("invalid_request_error", "prompt is too long: 300000 tokens"), CONTEXT],
  ["the caller's", claude("api_error", "Your message was flagged"), CONTENT],
  ["the operator's", claude("authentication_error", `invalid x-api-key ${KEY}`), BROKEN],
  ["the operator's", claude("billing_error", "No credit"), BROKEN],
  ["the operator's", claude("rate_limit_error", "Slow down"), BUSY],
  ["the server's", claude("overloaded_error", "Overloaded"), BROKEN],
];
const google = (code: number, status: string, message: string) => ({ code, status, message });
const GOOGLE_FAULTS: readonly Fault[] = [
  ["the caller's", google(400, "INVALID_ARGUMENT", "Too many tools"), REQUEST_FAULT],
  ["the operator's", google(429, "RESOURCE_EXHAUSTED", "Slow down"), BUSY],
  ["the server's", google(503, "UNAVAILABLE", "Overloaded"), BROKEN],
];

interface Way extends WireWay {
  readonly faults: readonly Fault[];
  /** The events with an error, each another way to tell it. */
  readonly events: Readonly<Record<string, (error: WrittenError) => string>>;
  readonly whole: (error: WrittenError) => object;
}

/** An error as a failed response has it: a code, and no type. */
const coded = ({ code, type, message }: WrittenError) => ({ code: code ?? type, message });

const RESPONSES = {
  kind: "openai-responses",
  faults: OPENAI_FAULTS,
  events: {
    "an event of that name": (error) => typedEvent("error", { sequence_number: 9, error }),
    "a failed response": (error) =>
      typedEvent("response.failed", {
        sequence_number: 9,
        response: { status: "failed", error: coded(error), usage: null },
      }),
  },
  whole: (error) => ({
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "m",
    status: "failed",
    error: coded(error),
    output: [],
  }),
} as const satisfies Way;
const MESSAGES = {
  kind: "anthropic",
  faults: CLAUDE_FAULTS,
  events: { "an event of that name": (error) => typedEvent("error", { error }) },
  whole: (error) => ({ type: "error", error }),
} as const satisfies Way;

const WAYS: Readonly<Record<string, Way>> = {
  "chat completions": {
    kind: "openai",
    faults: [...OPENAI_FAULTS, ...NUMBERED],
    events: {
      "an event": (error) => sse({ error }),
      "an event of that name": (error) => sse({ error }, "error"),
      "a field of that name": (error) => `error: ${JSON.stringify({ error })}\n\n`,
      "a choice": (error) => sse({ choices: [{ index: 0, delta: {}, error }] }),
    },
    whole: (error) => ({ error }),
  },
  "Responses, passed through": {
    ...RESPONSES,
    own: "responses",
    faults: [...OPENAI_FAULTS, ...NUMBERED],
    events: {
      ...RESPONSES.events,
      "an event without a name": (error) => sse({ error }),
      "an event of the older form": (error) => typedEvent("error", coded(error)),
    },
  },
  "Messages, passed through": { ...MESSAGES, own: "messages" },
  "Responses by the package": RESPONSES,
  "Messages by the package": MESSAGES,
  "Gemini by the package": {
    kind: "google",
    faults: GOOGLE_FAULTS,
    events: { "an event": (error) => sse({ error }) },
    whole: (error) => ({ error }),
  },
};

type Exchange = "complete" | "stream";

async function failureOf(
  way: WireWay,
  reply: WireReply,
  how: Exchange,
  parts: Partial<UpstreamCall> = {},
): Promise<unknown> {
  server.queue(reply);
  const call = callBy(way, server.url, parts, { cloud });
  const { complete, stream } = exchangeOf(way);
  return await rejection(how === "complete" ? complete(call) : Array.fromAsync(stream(call)));
}

function expectMeaning(thrown: unknown, [whose, error, meaning]: Fault): void {
  expect(thrown).toMatchObject(meaning);
  expect(thrown instanceof ApiError).toBe(whose === "the caller's");
  const text = JSON.stringify(error);
  const isAccess = /api_key|quota|authentication|billing|:401|:402/.test(text);
  expect(thrown instanceof AccessFailure).toBe(isAccess);
  expect(inspected(thrown)).not.toContain(KEY);
}

for (const [name, way] of Object.entries(WAYS)) {
  describe(`${name}: an error`, () => {
    test.each(way.faults)("in place of a reply is %s: %j", async (whose, error, meaning) => {
      const fault = [whose, error, meaning] as const;
      const reply = { body: [JSON.stringify(way.whole(error))] };
      expectMeaning(await failureOf(way, reply, "complete"), fault);
      // Some servers answer a request for a stream with a whole reply.
      if (way.own === undefined && way.kind !== "openai") return;
      expectMeaning(await failureOf(way, reply, "stream"), fault);
    });

    for (const [place, eventOf] of Object.entries(way.events)) {
      test.each(way.faults)(`in ${place} of a stream is %s: %j`, async (whose, error, meaning) => {
        const { body } = ALL_FORMS[way.kind].stream(ANSWER);
        const texts = ALL_FORMS[way.kind].textEvents(body);
        for (const before of [[], body.slice(0, texts)]) {
          const reply = { headers: SSE, body: [...before, eventOf(error)] };
          expectMeaning(await failureOf(way, reply, "stream"), [whose, error, meaning]);
        }
      });
    }
  });
}

/** The words of each provider for an image that it cannot read. */
const OF_OPENAI = [
  "empty_image_file",
  "failed_to_download_image",
  "image_file_not_found",
  "image_file_too_large",
  "image_parse_error",
  "image_too_large",
  "image_too_small",
  "invalid_base64_image",
  "invalid_image",
  "invalid_image_format",
  "invalid_image_mode",
  "invalid_image_url",
  "unsupported_image_media_type",
].map((code) => openAi(code, "The image is broken"));
const IMAGE_FAULTS: Readonly<Record<string, readonly WrittenError[]>> = {
  "chat completions": OF_OPENAI,
  "Responses, passed through": OF_OPENAI,
  "Messages, passed through": [claude("invalid_request_error", "Could not process image")],
  "Responses by the package": OF_OPENAI,
  "Messages by the package": [claude("invalid_request_error", "Could not process image")],
  "Gemini by the package": [google(400, "INVALID_ARGUMENT", "Unable to process input image")],
};
const IMAGE = readImage({ url: pngUrl(64, 32), param: "messages[0].content[0].image_url.url" });
const IMAGE_REQUEST: ChatRequest = {
  messages: [{ role: "user", content: [IMAGE] }],
  media: [IMAGE],
  maxTokens: 32,
  parameters: {},
};

for (const [name, way] of Object.entries(WAYS)) {
  describe(`${name}: an image that the server refuses is the caller's fault`, () => {
    const asked = { request: IMAGE_REQUEST };

    async function expectCallers(reply: WireReply, how: Exchange): Promise<void> {
      const thrown = await failureOf(way, reply, how, asked);
      expect(thrown).toBeInstanceOf(ApiError);
      expect(thrown).toMatchObject(REQUEST_FAULT);
      // A request that is passed through has the caller's own body.
      if ("own" in way) return;
      expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(base64Of(IMAGE));
    }

    test.each(IMAGE_FAULTS[name] ?? [])("%j", async (error) => {
      const body = [JSON.stringify(way.whole(error))];
      for (const how of ["complete", "stream"] as const) {
        await expectCallers({ status: 400, body: [JSON.stringify({ error })] }, how);
      }
      await expectCallers({ body }, "complete");
      const { body: events } = ALL_FORMS[way.kind].stream(ANSWER);
      const texts = ALL_FORMS[way.kind].textEvents(events);
      for (const eventOf of Object.values<(error: WrittenError) => string>(way.events)) {
        for (const before of [[], events.slice(0, texts)]) {
          await expectCallers({ headers: SSE, body: [...before, eventOf(error)] }, "stream");
        }
      }
    });
  });
}

test.each(["amazon-bedrock", "cohere"] as const)(
  "%s refuses an image by the status alone, and it is the caller's fault",
  async (kind) => {
    const reply = ALL_FORMS[kind].refusal(400, "The image is broken");
    for (const how of ["complete", "stream"] as const) {
      const thrown = await failureOf({ kind }, reply, how, { request: IMAGE_REQUEST });
      expect(thrown).toBeInstanceOf(ApiError);
      expect(thrown).toMatchObject(REQUEST_FAULT);
    }
  },
);

test("an unknown code beside a known type is the caller's fault", async () => {
  const error = openAi("a_new_code_2", "Never", "invalid_request_error");
  const reply = { headers: SSE, body: [typedEvent("error", { error })] };
  const way = { kind: "openai-responses", own: "responses" } as const;
  expect(await failureOf(way, reply, "stream")).toMatchObject(REQUEST_FAULT);
});

test("a full context is the caller's fault, as llama.cpp tells it in a field", async () => {
  const told = { code: 400, message: "the request exceeds the available context size" };
  const line = `error: ${JSON.stringify({ ...told, type: "invalid_request_error" })}\n\n`;
  const reply = { headers: SSE, body: [line, "data: [DONE]\n\n"] };
  expect(await failureOf({ kind: "openai" }, reply, "stream")).toMatchObject(CONTEXT);
});

test.each([
  ["throttlingException", { blames: "nobody" }],
  ["validationException", { code: "invalid_parameter" }],
  ["modelStreamErrorException", { blames: "server" }],
] as const)("an exception of Bedrock has its meaning, too: %s", async (name, meaning) => {
  const { body, ...reply } = ALL_FORMS["amazon-bedrock"].stream(ANSWER);
  const texts = ALL_FORMS["amazon-bedrock"].textEvents(body);
  const exception = bedrockException(name, { message: "Not now" });
  const way = { kind: "amazon-bedrock" } as const;
  const cut = { ...reply, body: [...body.slice(0, texts), exception] };
  expect(await failureOf(way, cut, "stream")).toMatchObject(meaning);
});

test.each(OPENAI_FAULTS)("in place of vectors it is %s: %j", async (whose, error, meaning) => {
  server.queue({ body: [JSON.stringify({ error })] });
  const { provider, model, publicId, account, signal, fetch } = callTo("openai", server.url);
  const route = { provider, model, publicId, account, signal, fetch };
  const read = () => {
    throw new Error("An error is no reply");
  };
  const call = { use: "embedding", body: { input: "Hello" }, read } as const;
  expectMeaning(await rejection(askOther(route, call)), [whose, error, meaning]);
});

describe("once a stream has begun, an error in it", () => {
  const texts = ALL_FORMS.openai.stream(ANSWER).body.slice(0, 2);
  const MEANINGS: readonly (readonly [number, UpstreamResult, object])[] = [
    [401, "access", { code: "upstream_unreachable" }],
    [429, "refused", { code: "upstream_unreachable" }],
    [502, "failed", { code: "upstream_unreachable" }],
    [400, "refused", { code: "invalid_parameter" }],
  ];

  test.each(MEANINGS)("with the number %i is counted as %s", async (number, result, told) => {
    const counted: string[] = [];
    const provider = providerAt(server.url, { name: "main" });
    const routes = routesOver([provider], {
      attempted: (_, first) => counted.push(first),
      brokeOff: (name, last) => counted.push(`${name} ${last}`),
    });
    const failure = sse({ error: { code: number, message: `Not with ${KEY}` } });
    server.queue({ headers: SSE, body: [...texts, failure] });
    const error = await rejection(ask(routes, modelOf(["main", "m"]), { stream: true }));
    expect(error).toMatchObject(told);
    expect(String(error)).not.toContain(KEY);
    expect(counted).toEqual(["ok", `main ${result}`]);
  });

  test.each([
    [400, true],
    [429, true],
    [502, false],
  ])("with the number %i leaves its server to others: %p", async (number, isAsked) => {
    const routes = routesOver([providerAt(server.url, { name: "main" })]);
    const model = modelOf(["main", "m"]);
    const failure = sse({ error: { code: number, message: "Not now" } });
    const accounts = [1, 2, 3, 4, 5].map((one) => `acct_${one}`);
    for (const account of accounts) {
      server.queue({ headers: SSE, body: [...texts, failure] });
      await rejection(ask(routes, model, { stream: true, account }));
    }
    expect(routes.chat.isHealthy(model, "acct_1")).toBe(isAsked);
  });
});

test("a content refusal in the middle of a stream is told as one", async () => {
  const { chat } = routesOver([providerAt(server.url, { name: "main" })]);
  const { body } = ALL_FORMS.openai.stream(ANSWER);
  const failure = sse({ error: { code: "content_filter", message: "Filtered" } });
  server.queue({ headers: SSE, body: [...body.slice(0, 2), failure] });
  const options = { account: "acct_1", signal: idle() };
  const stream = await chat.stream(modelOf(["main", "m"]), REQUEST, options);
  expect(await rejection(Array.fromAsync(stream))).toMatchObject(CONTENT);
});
