// One route's request to an OpenAI-compatible server, by plain fetch: a client library costs five to
// twenty-five times as much for each chunk.

import type { ProviderEntry } from "../../core/catalogue.ts";
import { ApiError } from "../../core/errors.ts";
import type { ChatBatch, ChatReply, ChatRequest } from "./provider.ts";
import { SseReader } from "./sse-reader.ts";
import { isObject, readChoices, readDeltas, readErrorMessage, readUsage } from "./upstream-json.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A route that did not serve; the next one may. The message is for the operator's log. */
export class RouteFailure extends Error {
  override readonly name = "RouteFailure";
}

export interface UpstreamCall {
  readonly provider: ProviderEntry;
  /** The model's name there. */
  readonly model: string;
  readonly request: ChatRequest;
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
}

const REPLY_BYTES_MAX = 32 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;
const ERROR_MESSAGE_MAX = 500;
/** Statuses by which an upstream blames the request itself: no other route would do better. */
const CALLER_FAULTS: ReadonlySet<number> = new Set([400, 413, 422]);

/** A whole reply. Throws a RouteFailure, or an ApiError where the request is at fault. */
export async function completeUpstream(call: UpstreamCall): Promise<ChatReply> {
  const timeout = AbortSignal.timeout(call.provider.replyTimeoutMs);
  const response = await send(call, false, AbortSignal.any([call.signal, timeout]));
  const body = parse(await readText(response, REPLY_BYTES_MAX));
  const message = readErrorMessage(body);
  if (message !== null) throw new RouteFailure(`The reply is an error: ${message}`);
  const choices = isObject(body) ? readChoices(body.choices) : null;
  if (!isObject(body) || choices === null) throw new RouteFailure("The reply has no message");
  return { choices, usage: readUsage(body.usage) };
}

/** The batches of a stream, one for each read that brought something. */
export async function* streamUpstream(call: UpstreamCall): AsyncGenerator<ChatBatch> {
  const silence = new Silence(call.signal, call.provider.firstByteTimeoutMs);
  try {
    const response = await send(call, true, silence.signal);
    if (response.body === null) throw new RouteFailure("The stream has no body");
    const reader = new SseReader();
    let finished = false;
    for await (const bytes of response.body) {
      const batch = readBatch(reader.push(bytes));
      if (batch.deltas.length > 0 || batch.usage !== null) {
        silence.heard(call.provider.idleTimeoutMs);
        finished ||= batch.deltas.some((delta) => delta.finish_reason !== null);
        yield batch;
      }
      if (batch.done) return;
    }
    // Some servers leave the [DONE] out; a reply without an end was cut off.
    if (!finished) throw new RouteFailure("The stream ended before the reply did");
  } finally {
    silence.end();
  }
}

interface ReadBatch extends ChatBatch {
  readonly done: boolean;
}

function readBatch(events: readonly string[]): ReadBatch {
  const batch = { deltas: [] as ChatBatch["deltas"][number][], usage: null as ChatBatch["usage"] };
  for (const event of events) {
    if (event === "[DONE]") return { ...batch, done: true };
    const chunk = parse(event);
    const message = readErrorMessage(chunk);
    if (message !== null) throw new RouteFailure(`The stream brought an error: ${message}`);
    if (!isObject(chunk)) throw new RouteFailure("A chunk is no object");
    for (const delta of readDeltas(chunk.choices)) batch.deltas.push(delta);
    batch.usage = readUsage(chunk.usage) ?? batch.usage;
  }
  return { ...batch, done: false };
}

async function send(call: UpstreamCall, stream: boolean, signal: AbortSignal): Promise<Response> {
  const { provider } = call;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: stream ? "text/event-stream" : "application/json",
  };
  if (provider.apiKey !== null) headers.authorization = `Bearer ${provider.apiKey}`;
  const response = await call.fetch(`${provider.baseUrl}/chat/completions`, {
    method: "POST",
    headers,
    body: bodyOf(call, stream),
    signal,
    // A redirect could lead to an address that no operator configured.
    redirect: "manual",
  });
  if (response.status === 200) return response;
  const text = await readText(response, ERROR_BYTES_MAX).catch(() => "");
  if (CALLER_FAULTS.has(response.status)) throw callerFault(text, provider);
  throw new RouteFailure(`The server answered ${response.status}: ${text.slice(0, 200)}`);
}

function bodyOf({ provider, model, request }: UpstreamCall, stream: boolean): string {
  const usage = stream ? { stream_options: { include_usage: true } } : {};
  return JSON.stringify({
    ...request.parameters,
    model,
    messages: request.messages,
    [provider.maxTokensField]: request.maxTokens,
    stream,
    ...usage,
  });
}

/** The upstream's words on a bad request, without anything that tells which upstream it is. */
function callerFault(text: string, provider: ProviderEntry): ApiError {
  const message = messageOf(text);
  const host = URL.canParse(provider.baseUrl) ? new URL(provider.baseUrl).host : provider.baseUrl;
  const isTelling = [provider.apiKey, provider.baseUrl, host, provider.name].some(
    (secret) => secret !== null && secret !== "" && message.includes(secret),
  );
  const said = message === "" || isTelling ? "" : `: ${message}`;
  return new ApiError("invalid_parameter", `The model did not accept this request${said}`);
}

function messageOf(text: string): string {
  try {
    const message = readErrorMessage(JSON.parse(text)) ?? "";
    return message.replace(/\s+/g, " ").trim().slice(0, ERROR_MESSAGE_MAX);
  } catch {
    return "";
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RouteFailure("The server sent something that is not JSON");
  }
}

async function readText(response: Response, bytesMax: number): Promise<string> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytesRead = 0;
  for await (const bytes of response.body) {
    bytesRead += bytes.byteLength;
    if (bytesRead > bytesMax) throw new RouteFailure("The reply is larger than any reply may be");
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** Ends a request whose upstream is silent for too long, or whose caller is gone. */
class Silence {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #onAbort = () => this.#controller.abort(this.#caller.reason);
  #timer: Timer;
  #wasHeard = false;
  #isStreaming = false;

  constructor(caller: AbortSignal, firstMs: number) {
    this.#caller = caller;
    this.#timer = setTimeout(() => this.#giveUp(firstMs), firstMs);
    caller.addEventListener("abort", this.#onAbort);
    if (caller.aborted) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something came. From the first time on the time between two of them counts. */
  heard(idleMs: number): void {
    this.#wasHeard = true;
    if (this.#isStreaming) return;
    this.#isStreaming = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(idleMs), idleMs);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener("abort", this.#onAbort);
    // Leaving early, for whatever reason, must end the request as well.
    this.#controller.abort();
  }

  /** Setting a timer for each chunk would cost more than the chunk: this one looks back instead. */
  #check(idleMs: number): void {
    if (this.#wasHeard) this.#timer = setTimeout(() => this.#check(idleMs), idleMs);
    else this.#giveUp(idleMs);
    this.#wasHeard = false;
  }

  #giveUp(ms: number): void {
    this.#controller.abort(new RouteFailure(`The server was silent for ${ms} ms`));
  }
}
