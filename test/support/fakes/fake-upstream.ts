// Serves OpenAI's chat completions according to a mood, which is the name of the model. Responses
// and Messages are served too, with the moods that only speak or fail before the reply, and with
// those of wire/form-moods.ts; embeddings and ranks have one reply.
// The fake writes HTTP/1.1 by hand to sockets, because no server library can violate the protocol.
// As a process: `bun test/support/fakes/fake-upstream.ts --port N`; it prints its address as JSON.

import { createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { type Received, readRequests } from "../api/read-requests.ts";
import { replyDetails } from "./fake-details.ts";
import { moderationOf, replyTo } from "./fake-vectors.ts";
import { anthropicWire } from "./wire/anthropic-wire.ts";
import { FORM_MOODS } from "./wire/form-moods.ts";
import { responsesWire } from "./wire/responses-wire.ts";
import type { WireForm } from "./wire/wire-answer.ts";

export interface FakeRequest extends Received {
  readonly mood: string;
  /** True if the client closed the connection before the answer was complete. */
  isAborted: boolean;
  /** The number of deltas of a stream written so far. */
  deltas: number;
  /** True once the whole answer was written. */
  isAnswered: boolean;
}

export interface FakeUpstreamOptions {
  readonly port?: number;
  readonly hostname?: string;
  /** The pause between two tokens in the mood `slow`. */
  readonly slowMs?: number;
  /** False for long runs, because keeping every request would fill the memory. */
  readonly record?: boolean;
}

export interface FakeUpstream extends AsyncDisposable {
  readonly port: number;
  /** With /v1 and without a slash at the end, like the `baseUrl` of a provider. */
  readonly baseUrl: string;
  readonly requests: FakeRequest[];
  /** The number of connections opened so far. */
  readonly connections: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Moods for the next requests, which replace the moods of their models. */
  queue(...moods: string[]): void;
  stop(): Promise<void>;
}

/** Secrets in the errors of this server, which must not reach a caller. */
export const UPSTREAM_SECRET = "org-4f2a secret-zone.example";

const VECTOR_PATHS: ReadonlySet<string> = new Set(["/v1/embeddings", "/v1/rerank"]);
const MODERATIONS = "/v1/moderations";
const WORDS = ["Fares", " are", " paid", " before", " the", " ride", " begins", "."];
/** A client has read the sent bytes within this time: a reset throws away unread ones. */
const READ_MS = 100;
const USAGE = { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 };

/** Writes one answer. */
class Answer {
  readonly isStream: boolean;
  #hasHead = false;

  constructor(
    readonly socket: Socket,
    readonly request: FakeRequest,
    readonly slowMs: number,
  ) {
    this.isStream = request.body.stream === true;
  }

  get isGone(): boolean {
    return this.socket.destroyed || this.request.isAborted;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#hasHead = true;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`HTTP/1.1 ${status} Mood\r\n${lines.join("")}\r\n`);
  }

  /** A whole answer. */
  send(status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
    const length = String(Buffer.byteLength(text));
    this.head(status, { "content-type": "application/json", "content-length": length, ...headers });
    this.request.isAnswered = true;
    this.socket.write(text);
  }

  json(status: number, body: unknown): void {
    this.send(status, JSON.stringify(body));
  }

  /** Writes a part of a body, and the head before the first part. */
  part(text: string | Uint8Array): void {
    if (!this.#hasHead) {
      const type = this.isStream ? "text/event-stream" : "application/json";
      this.head(200, { "content-type": type, "transfer-encoding": "chunked" });
    }
    const bytes = Buffer.from(text);
    const size = `${bytes.byteLength.toString(16)}\r\n`;
    this.socket.write(Buffer.concat([Buffer.from(size), bytes, Buffer.from("\r\n")]));
  }

  event(data: unknown): void {
    this.part(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }

  delta(delta: unknown, finish: string | null = null): void {
    this.request.deltas += 1;
    this.event(chunk([{ index: 0, delta, finish_reason: finish }]));
  }

  end(): void {
    this.request.isAnswered = true;
    this.socket.write("0\r\n\r\n");
  }

  /** Closes the connection without an end of the answer. */
  cut(): void {
    this.request.isAnswered = true;
    this.socket.destroy();
  }
}

function chunk(choices: unknown[], more: object = {}): object {
  return { id: "up-1", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more };
}

function wholeReply(message: object, more: object = {}): object {
  return {
    id: "up-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    system_fingerprint: UPSTREAM_SECRET,
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }],
    usage: USAGE,
    ...more,
  };
}

type Mood = (answer: Answer) => void | Promise<void>;

/** Text with a usage that may be wrong, with or without streaming. */
async function speak(
  answer: Answer,
  words: readonly string[],
  { usage = USAGE as unknown, pauseMs = 0, done = true, rawUsage = "" } = {},
): Promise<void> {
  const form = OWN_FORMS[answer.request.path];
  if (form !== undefined) return await speakIn(form, answer, { words, pauseMs });
  if (!answer.isStream) {
    const reply = wholeReply({ content: words.join("") }, { usage: usage ?? undefined });
    const text = JSON.stringify(reply);
    return answer.send(200, rawUsage === "" ? text : withRaw(text, rawUsage));
  }
  answer.delta({ role: "assistant", content: "" });
  for (const word of words) {
    await pause(pauseMs);
    if (answer.isGone) return;
    answer.delta({ content: word });
  }
  answer.delta({}, "stop");
  if (usage !== null) {
    const text = JSON.stringify(chunk([], { usage }));
    answer.event(rawUsage === "" ? text : withRaw(text, rawUsage));
  }
  if (done) answer.event("[DONE]");
  answer.end();
}

const OWN_FORMS: Readonly<Record<string, WireForm>> = {
  "/v1/responses": responsesWire,
  "/v1/responses/compact": responsesWire,
  "/v1/messages": anthropicWire,
};

/** Text in another form, with the usage that it has in chat completions. */
async function speakIn(
  form: WireForm,
  answer: Answer,
  { words, pauseMs }: { readonly words: readonly string[]; readonly pauseMs: number },
): Promise<void> {
  const input = { uncached: USAGE.prompt_tokens, cacheRead: 0, cacheWrite: 0 };
  const usage = { ...input, output: words.length, reasoning: 0 };
  const said = { text: words, end: "stop", usage } as const;
  if (!answer.isStream) return answer.send(200, form.whole(said).body.join(""));
  for (const event of form.stream(said).body) {
    if (String(event).includes("delta")) await pause(pauseMs);
    if (answer.isGone) return;
    answer.part(event);
  }
  answer.end();
}

/** JSON whose prompt_tokens are replaced by any text, even invalid JSON. */
function withRaw(text: string, rawUsage: string): string {
  return text.replace(/"prompt_tokens":\d+/, `"prompt_tokens":${rawUsage}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => (ms > 0 ? setTimeout(resolve, ms) : setImmediate(resolve)));
}

function refuse(status: number, error: object, headers: Record<string, string> = {}): Mood {
  return (answer) => answer.send(status, JSON.stringify({ error }), headers);
}

function withUsage(usage: unknown): Mood {
  return (answer) => speak(answer, WORDS, { usage });
}

/** A stream that sends its usage too early: before all of its text. */
function usageBefore(choices: object[], end = (answer: Answer) => answer.delta({}, "stop")): Mood {
  return async (answer) => {
    answer.event(chunk(choices, { usage: { ...USAGE, completion_tokens: 0 } }));
    await pause(10);
    for (const content of WORDS) answer.delta({ content });
    await pause(10);
    end(answer);
    answer.end();
  };
}

function begin(answer: Answer): void {
  if (answer.isStream) answer.delta({ content: WORDS[0] });
  else answer.part('{"choices":[');
}

const TOOL_CALL = { name: "get_fare", arguments: '{"from":"A","to":"B"}' };

const MOODS: Readonly<Record<string, Mood>> = {
  ok: (answer) => speak(answer, WORDS),
  slow: (answer) => speak(answer, WORDS, { pauseMs: answer.slowMs }),
  "no-done": (answer) => speak(answer, WORDS, { done: false }),
  "no-usage": withUsage(null),
  "negative-usage": withUsage({ ...USAGE, completion_tokens: -5 }),
  "nan-usage": withUsage({ ...USAGE, prompt_tokens: "NaN", completion_tokens: null }),
  // NaN is not JSON, but some servers send it.
  "nan-literal": (answer) => speak(answer, WORDS, { rawUsage: "NaN" }),
  "fraction-usage": withUsage({ ...USAGE, prompt_tokens: 1.5 }),
  "huge-usage": (answer) => speak(answer, WORDS, { rawUsage: "1e999" }),
  "absurd-usage": withUsage({ ...USAGE, completion_tokens: 90_000_000 }),
  "zero-usage": withUsage({ prompt_tokens: 12, completion_tokens: 0, total_tokens: 12 }),
  "over-cached-usage": withUsage({ ...USAGE, prompt_tokens_details: { cached_tokens: 13 } }),
  "cached-usage": withUsage({ ...USAGE, prompt_tokens_details: { cached_tokens: 10 } }),
  "usage-in-front": usageBefore([]),
  "usage-beside-delta": usageBefore([{ index: 0, delta: { content: "" } }]),
  "usage-then-reset": usageBefore([], (answer) => answer.cut()),
  "hang-before-headers": () => {},
  "hang-in-error": (answer) => {
    answer.head(500, { "content-type": "application/json", "content-length": "500" });
    answer.socket.write('{"error":');
  },
  "hang-mid-stream": (answer) => begin(answer),
  "hang-after-finish": (answer) => {
    answer.delta({ content: WORDS[0] });
    answer.delta({}, "stop");
  },
  "reset-before-headers": (answer) => answer.cut(),
  "reset-mid-stream": async (answer) => {
    begin(answer);
    await pause(READ_MS);
    answer.cut();
  },
  "reset-after-finish": async (answer) => {
    answer.delta({ content: WORDS[0] });
    answer.delta({}, "stop");
    await pause(READ_MS);
    answer.cut();
  },
  "end-mid-stream": (answer) => {
    answer.delta({ content: WORDS[0] });
    answer.end();
  },
  "error-mid-stream": async (answer) => {
    if (!answer.isStream) return answer.json(200, { error: { message: UPSTREAM_SECRET } });
    answer.delta({ content: WORDS[0] });
    await pause(10);
    answer.event({ error: { message: `it broke at ${UPSTREAM_SECRET}`, code: 500 } });
    answer.end();
  },
  "junk-mid-stream": async (answer) => {
    answer.delta({ content: WORDS[0] });
    await pause(10);
    answer.event("<html>");
  },
  "error-200": (answer) => {
    const error = { error: { message: `overloaded ${UPSTREAM_SECRET}`, type: "server_error" } };
    if (!answer.isStream) return answer.json(200, error);
    answer.event(error);
    answer.end();
  },
  "context-length": refuse(400, {
    message: "This model's maximum context length is 8192 tokens, you asked for 9000.",
    code: "context_length_exceeded",
  }),
  "content-policy": refuse(400, {
    message: "The prompt was refused by the content policy.",
    code: "content_policy_violation",
  }),
  "403-flagged": refuse(403, {
    message: "Your input was flagged by the moderation of this model.",
    code: "403",
  }),
  "content-filter": (answer) => {
    if (!answer.isStream) {
      const message = { role: "assistant", content: "Fares" };
      const choices = [{ index: 0, message, finish_reason: "content_filter" }];
      return answer.json(200, { ...wholeReply({}), choices });
    }
    answer.delta({ role: "assistant", content: "Fares" });
    answer.delta({}, "content_filter");
    answer.event("[DONE]");
    answer.end();
  },
  "400-html": (answer) => answer.send(400, `<h1>${UPSTREAM_SECRET}</h1>`),
  "400-huge": (answer) => answer.send(400, `{"error":{"message":"${"x".repeat(200_000)}"}}`),
  "400-balance": refuse(400, {
    message: "Your credit balance is too low to access the API. Please purchase credits.",
    type: "invalid_request_error",
  }),
  "400-key": (answer) =>
    answer.json(400, [
      { error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } },
    ]),
  "400-arrears": refuse(400, {
    message: "Access denied, please make sure your account is in good standing.",
    code: "Arrearage",
  }),
  "400-model": refuse(400, { message: "x/y is not a valid model ID", code: 400 }),
  "413-rate": refuse(413, {
    message: "Request too large on tokens per minute (TPM): Limit 6000, Requested 8000",
    code: "rate_limit_exceeded",
  }),
  "401": refuse(401, { message: "Incorrect API key", code: "invalid_api_key" }),
  "403": refuse(403, { message: "Not your model" }),
  "404": refuse(404, { message: "The model does not exist", code: "model_not_found" }),
  "408": refuse(408, { message: "Too slow" }),
  "413": refuse(413, { message: "Too large" }),
  "422": refuse(422, { message: "temperature must be at most 1" }),
  "429": refuse(429, { message: "Slow down" }, { "retry-after": "7" }),
  "500": refuse(500, { message: `crash at ${UPSTREAM_SECRET}` }),
  "503": (answer) => answer.send(503, "upstream connect error"),
  "bad-json": (answer) => {
    if (!answer.isStream) return answer.send(200, '{"choices": [{');
    answer.event('{"choices": [{');
    answer.end();
  },
  empty: (answer) => {
    if (!answer.isStream) return answer.send(200, "");
    answer.part(": nothing\n\n");
    answer.end();
  },
  "no-choices": (answer) => {
    if (!answer.isStream) return answer.json(200, { choices: [], usage: USAGE });
    answer.event(chunk([], { usage: USAGE }));
    answer.event("[DONE]");
    answer.end();
  },
  "no-message": (answer) => {
    if (!answer.isStream) return answer.json(200, { choices: [{ index: 0 }] });
    answer.event("[DONE]");
    answer.end();
  },
  "usage-flood": async (answer) => {
    while (!answer.isGone) {
      answer.event(chunk([], { usage: USAGE }));
      await pause(1);
    }
  },
  flood: async (answer) => {
    const text = "x".repeat(16_384);
    while (!answer.isGone) {
      answer.delta({ content: text });
      if (answer.socket.writableNeedDrain) await pause(1);
    }
  },
  "oversize-event": async (answer) => {
    answer.part("data: ");
    for (let sent = 0; sent < 4 && !answer.isGone; sent += 1) {
      answer.part("x".repeat(600_000));
      await pause(5);
    }
  },
  huge: async (answer) => {
    answer.part('{"choices":[{"message":{"content":"');
    const text = "x".repeat(1024 * 1024);
    for (let sent = 0; sent < 48 && !answer.isGone; sent += 1) {
      answer.part(text);
      await pause(1);
    }
  },
  "gzip-bomb": (answer) => {
    const zipped = gzipSync(Buffer.alloc(48 * 1024 * 1024));
    const encoding = { "content-encoding": "gzip", "content-length": String(zipped.length) };
    answer.head(200, { "content-type": "application/json", ...encoding });
    answer.socket.write(zipped);
  },
  redirect: (answer) => answer.send(302, "", { location: "/v1/elsewhere" }),
  "redirect-kept": (answer) => answer.send(307, "", { location: "/v1/elsewhere" }),
  "tool-call": (answer) => {
    if (answer.isStream) return streamToolCalls(answer);
    const tool_calls = [
      { id: "call_a", type: "function", function: TOOL_CALL, secret: UPSTREAM_SECRET },
      { id: "call_b", type: "function", function: { ...TOOL_CALL, arguments: { from: "C" } } },
    ];
    const message = { role: "assistant", content: null, tool_calls };
    answer.json(200, {
      ...wholeReply({}),
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
    });
  },
  reasoning: async (answer) => {
    if (!answer.isStream) {
      return answer.json(200, wholeReply({ content: "42", reasoning_content: UPSTREAM_SECRET }));
    }
    for (let thought = 0; thought < 6; thought += 1) {
      answer.delta({ content: null, reasoning_content: UPSTREAM_SECRET });
      await pause(answer.slowMs);
    }
    await speak(answer, ["42"]);
  },
  "reasoning-only": (answer) => {
    const message = { role: "assistant", content: null, reasoning_content: "hm" };
    if (!answer.isStream) {
      const choices = [{ index: 0, message, finish_reason: "length" }];
      return answer.json(200, { ...wholeReply({}), choices });
    }
    answer.delta(message);
    answer.delta({}, "length");
    answer.event("[DONE]");
    answer.end();
  },
  refusal: (answer) => {
    const message = { content: null, refusal: "I will not do that" };
    if (!answer.isStream) return answer.json(200, wholeReply(message));
    answer.delta({ role: "assistant", ...message });
    answer.delta({}, "stop");
    answer.end();
  },
  details: (answer) => {
    const { head, choice, last } = replyDetails(USAGE, UPSTREAM_SECRET);
    if (!answer.isStream) return answer.json(200, { ...last, choices: [choice] });
    answer.event(chunk([choice], head));
    answer.event(chunk([{ index: 0, delta: {}, finish_reason: "stop" }], last));
    answer.end();
  },
  "crlf-sse": (answer) => {
    if (!answer.isStream) return speak(answer, WORDS);
    for (const content of WORDS) {
      const data = JSON.stringify(chunk([{ index: 0, delta: { content } }]));
      answer.part(`: ping\r\nevent: chunk\r\nid: 7\r\ndata:${data}\r\n\r\n`);
    }
    const last = chunk([{ index: 0, delta: {}, finish_reason: "stop" }], { usage: USAGE });
    answer.part(`data: ${JSON.stringify(last)}\r\n\r\ndata: [DONE]\r\n\r\n`);
    answer.end();
  },
};

function streamToolCalls(answer: Answer): void {
  const { name, arguments: given } = TOOL_CALL;
  const half = given.length / 2;
  const call = (index: number, fields: object) => ({ tool_calls: [{ index, ...fields }] });
  answer.delta({ role: "assistant", content: null, secret: UPSTREAM_SECRET });
  answer.delta(call(0, { id: "call_a", type: "function", function: { name, arguments: "" } }));
  answer.delta(call(0, { function: { arguments: given.slice(0, half) } }));
  answer.delta(call(0, { function: { arguments: given.slice(half) }, secret: UPSTREAM_SECRET }));
  // Two tool calls in one chunk and without an index, as some servers send them.
  answer.delta({
    tool_calls: ["b", "c"].map((id) => ({
      id,
      type: "function",
      function: { name, arguments: given },
    })),
  });
  answer.delta({}, "tool_calls");
  answer.event(chunk([], { usage: USAGE }));
  answer.event("[DONE]");
  answer.end();
}

/** The moods, to which `tokens-N` and `tokens-N-every-MS` are added. */
function moodOf(name: string): Mood {
  const many = /^tokens-(\d+)(?:-every-(\d+))?$/.exec(name);
  if (many === null) return MOODS[name] ?? ((answer) => speak(answer, WORDS));
  const tokens = Number(many[1]);
  const words = Array.from({ length: tokens }, (_, at) => WORDS[at % WORDS.length] ?? "");
  const usage = { ...USAGE, completion_tokens: tokens, total_tokens: tokens + 12 };
  return (answer) => speak(answer, words, { usage, pauseMs: Number(many[2] ?? 0) });
}

function behave(answer: Answer, mood: string): void | Promise<void> {
  const form = OWN_FORMS[answer.request.path];
  const own = form === undefined ? undefined : FORM_MOODS[mood];
  return form === undefined || own === undefined ? moodOf(mood)(answer) : own(form, answer);
}

/** Starts a server; `stop()` closes every connection. */
export async function startFakeUpstream(options: FakeUpstreamOptions = {}): Promise<FakeUpstream> {
  const { port = 0, hostname = "127.0.0.1", slowMs = 20, record = true } = options;
  const requests: FakeRequest[] = [];
  const queued: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  function serve(socket: Socket): void {
    connections += 1;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    let current: FakeRequest | null = null;
    socket.on("close", () => {
      sockets.delete(socket);
      if (current !== null && !current.isAnswered) current.isAborted = true;
    });
    readRequests(socket, (request) => {
      const asked = request.body.model;
      const mood = queued.shift() ?? (typeof asked === "string" ? asked : "ok");
      current = { ...request, mood, isAborted: false, deltas: 0, isAnswered: false };
      if (record) requests.push(current);
      const answer = new Answer(socket, current, slowMs);
      if (current.path === "/v1/models") return answer.json(200, modelList());
      if (VECTOR_PATHS.has(current.path)) return answer.json(200, replyTo(current.body));
      if (current.path === MODERATIONS) return answer.json(200, moderationOf());
      void Promise.resolve(behave(answer, mood)).catch(() => socket.destroy());
    });
  }

  const server = createServer(serve);
  const bound = await listen(server, port, hostname);
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return {
    port: bound,
    baseUrl: `http://${hostname}:${bound}/v1`,
    requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    queue: (...moods) => void queued.push(...moods),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function modelList(): object {
  return { object: "list", data: [{ id: "ok", object: "model", owned_by: "fake" }] };
}

function listen(server: Server, port: number, hostname: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

if (import.meta.main) {
  const at = process.argv.indexOf("--port");
  const port = at < 0 ? 0 : Number(process.argv[at + 1]);
  const { port: bound, baseUrl } = await startFakeUpstream({ port, record: false });
  console.log(JSON.stringify({ port: bound, base_url: baseUrl }));
}
