// One route's request to an OpenAI-compatible server, by plain fetch: a client library costs five
// to twenty-five times as much for each chunk.

import { ApiError, OK } from "../../../core/errors.ts";
import { RouteFailure } from "../../../upstream/route-failure.ts";
import {
  exchange,
  type Fetch,
  isObject,
  jsonOrNull,
  parseJson,
  readText,
  statusFailure,
  type UpstreamRequest,
} from "../../../upstream/upstream-http.ts";
import type { ProviderEntry } from "../catalogue.ts";
import { Batches, type BatchTaker } from "./batches.ts";
import type { ChatReply, ChatRequest } from "./provider.ts";
import { Silence } from "./silence.ts";
import { StreamedReply, streamBytesMax } from "./streamed-reply.ts";
import {
  codeOf,
  type ReplyParts,
  readChoices,
  readErrorMessage,
  readFingerprint,
  readUsage,
} from "./upstream-json.ts";

export interface UpstreamCall {
  readonly provider: ProviderEntry;
  /** The model's name there. */
  readonly model: string;
  readonly request: ChatRequest;
  /** Whether the caller gets the text of the model's reasoning. */
  readonly showsReasoning: boolean;
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
}

/** More than any reply of as many tokens as a caller may ask for. */
const REPLY_BYTES_MAX = 8 * 1024 * 1024;
/** With them each token has up to 20 others beside it. */
const LOGPROBS_BYTES_MAX = 64 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;
const ERROR_MESSAGE_MAX = 500;
/** Statuses by which an upstream blames the request itself: no other route would do better. */
const CALLER_FAULTS: ReadonlySet<number> = new Set([400, 413, 422]);
/** Some servers refuse single models by it. */
const FORBIDDEN = 403;
/** What no caller should be told: addresses, accounts, keys. */
const TELLING =
  /:\/\/|@|\b\d{1,3}(?:\.\d{1,3}){3}\b|\bsk-\w|\b(?:org|proj|key|acct)[-_](?=\w*\d)\w{6}/i;
/** How long the rest of a stream may take behind its [DONE], and in how many reads it must come. */
const REST_MS = 1_000;
const REST_READS_MAX = 8;

/** A whole reply. Throws a RouteFailure, or an ApiError where the request is at fault. */
export async function completeUpstream(call: UpstreamCall): Promise<ChatReply> {
  const timeout = AbortSignal.timeout(call.provider.replyTimeoutMs);
  const parts = partsOf(call);
  const bytesMax = parts.logprobs ? LOGPROBS_BYTES_MAX : REPLY_BYTES_MAX;
  const limits = { signal: call.signal, timeout };
  const text = await send(call, false, limits, (response) => readText(response, bytesMax));
  const body = parseJson(text);
  if (readErrorMessage(body) !== null) {
    throw new RouteFailure(`The reply is an error${codeOf(body)}`);
  }
  const choices = isObject(body) ? readChoices(body.choices, parts) : null;
  if (!isObject(body) || choices === null) throw new RouteFailure("The reply has no message");
  const hasText = choices.some(
    ({ message: { content, refusal, tool_calls, reasoning_content } }) =>
      content || refusal || tool_calls || reasoning_content,
  );
  return {
    choices,
    usage: readUsage(body.usage, hasText),
    fingerprint: readFingerprint(body.system_fingerprint),
  };
}

function partsOf({ request, showsReasoning }: UpstreamCall): ReplyParts {
  return { logprobs: request.parameters.logprobs === true, reasoning: showsReasoning };
}

/** The batches of a stream, one for each read that brought something. */
export function streamUpstream(call: UpstreamCall): Batches {
  return new UpstreamStream(call);
}

class UpstreamStream extends Batches {
  readonly #call: UpstreamCall;
  readonly #silence: Silence;
  readonly #reply: StreamedReply;
  #body: BodyReader | null = null;
  #taker: BatchTaker | null = null;
  #isOver = false;

  constructor(call: UpstreamCall) {
    super();
    this.#call = call;
    this.#reply = new StreamedReply({
      parts: partsOf(call),
      bytesMax: streamBytesMax(call.request.maxTokens),
    });
    this.#silence = new Silence(call.signal, call.provider);
  }

  override pull(taker: BatchTaker): void {
    this.#taker = taker;
    this.#silence.isWaiting = true;
    if (this.#isOver) taker.onEnd();
    else if (this.#body !== null) this.#read(this.#body);
    else this.#open().then((body) => this.#read(body), this.#onFailure);
  }

  override cancel(): void {
    this.#end();
  }

  async #open(): Promise<BodyReader> {
    const limits = { signal: this.#silence.signal };
    this.#body = await send(this.#call, true, limits, ({ body }) => {
      if (body === null) throw new RouteFailure("The stream has no body");
      return body.getReader();
    });
    return this.#body;
  }

  #read(body: BodyReader): void {
    const { isDone, failure } = this.#reply;
    if (isDone) this.#onBodyEnd();
    else if (failure !== null) this.#onFailure(failure);
    else body.read().then(this.#onRead, this.#onFailure);
  }

  readonly #onRead = ({ done, value }: Awaited<ReturnType<BodyReader["read"]>>): void => {
    const wasFinished = this.#reply.isFinished;
    const batch = done ? null : this.#reply.read(value);
    if (batch !== null) this.#silence.isWaiting = false;
    if (!done && this.#reply.hasSpoken) this.#silence.heard();
    if (!wasFinished && this.#reply.isFinished) this.#silence.heardEnd();
    if (batch !== null) this.#taker?.onBatch(batch);
    else if (done) this.#onBodyEnd();
    else if (this.#body !== null) this.#read(this.#body);
  };

  #onBodyEnd(): void {
    if (this.#reply.isDone || this.#reply.isFinished) {
      this.#silence.isWaiting = false;
      this.#end();
      this.#taker?.onEnd();
    } else {
      // Some servers leave the [DONE] out; a reply without an end was cut off.
      this.#onFailure(new RouteFailure("The stream ended before the reply did"));
    }
  }

  readonly #onFailure = (error: unknown): void => {
    this.#end();
    // After the end of a reply only its usage is missing, and we can count that ourselves.
    if (this.#reply.isFinished && !this.#call.signal.aborted) this.#taker?.onEnd();
    else this.#taker?.onFailure(error);
  };

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#body !== null && this.#reply.isDone) void endAfter(this.#body, this.#silence);
    else this.#silence.end();
  }
}

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

/**
 * Reads a body to its end, which comes right behind the [DONE]: a request that is aborted before
 * would take its connection along.
 */
async function endAfter(body: BodyReader, silence: Silence): Promise<void> {
  silence.endWithin(REST_MS);
  try {
    for (let reads = 0; reads < REST_READS_MAX; reads += 1) {
      if ((await body.read()).done) break;
    }
  } catch {
    // The reply is complete all the same.
  } finally {
    silence.end();
  }
}

async function send<T>(
  call: UpstreamCall,
  stream: boolean,
  limits: Pick<UpstreamRequest, "signal" | "timeout">,
  read: (response: Response) => Promise<T> | T,
): Promise<T> {
  const { provider, fetch } = call;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: stream ? "text/event-stream" : "application/json",
  };
  if (provider.apiKey !== null) headers.authorization = `Bearer ${provider.apiKey}`;
  const url = `${provider.baseUrl}/chat/completions`;
  const body = bodyOf(call, stream);
  return await exchange({ fetch, url, method: "POST", headers, body, ...limits }, (response) =>
    response.status === OK ? read(response) : refuse(response, provider),
  );
}

/** Throws what a status other than 200 means. */
async function refuse(response: Response, provider: ProviderEntry): Promise<never> {
  const text = await readText(response, ERROR_BYTES_MAX).catch(() => "");
  if (CALLER_FAULTS.has(response.status)) throw callerFault(text, provider);
  throw statusFailure(response, {
    isHealthy: response.status === FORBIDDEN,
    detail: codeOf(jsonOrNull(text)),
  });
}

function bodyOf({ provider, model, request }: UpstreamCall, stream: boolean): string {
  const usage = stream ? { stream_options: { include_usage: true } } : {};
  return JSON.stringify({
    ...(request.extras !== undefined && Object.fromEntries(request.extras)),
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
  const words = readErrorMessage(jsonOrNull(text)) ?? "";
  const message = words.replace(/\s+/g, " ").trim().slice(0, ERROR_MESSAGE_MAX);
  const said = message === "" || isTelling(message, provider) ? "" : `: ${message}`;
  return new ApiError("invalid_parameter", `The model did not accept this request${said}`);
}

function isTelling(message: string, { apiKey, baseUrl, name }: ProviderEntry): boolean {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : baseUrl;
  // "openai" of api.openai.com, for one, also tells who it is.
  const labels = host.split(".").slice(0, -1);
  const secrets = [apiKey ?? "", name, host, ...labels.filter((label) => label.length > 3)];
  const lower = message.toLowerCase();
  return (
    TELLING.test(message) ||
    secrets.some((secret) => secret !== "" && lower.includes(secret.toLowerCase()))
  );
}
