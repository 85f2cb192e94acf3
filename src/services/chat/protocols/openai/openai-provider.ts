// Sends the request of one route to an OpenAI-compatible server. Reads the reply itself: a client
// library costs 5 to 25 times as much for each chunk.

import { OK } from "../../../../core/errors.ts";
import type { Taker } from "../../../../core/taker.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../../upstream/time-limit.ts";
import {
  brokenReply,
  exchange,
  readText,
  type UpstreamRequest,
} from "../../../../upstream/upstream-http.ts";
import {
  type BodyReader,
  type BytesTaker,
  pullBytes,
  type UpstreamResponse,
} from "../../../../upstream/upstream-response.ts";
import type { ProviderEntry } from "../../models/catalogue.ts";
import { tierOf } from "../../request-tier.ts";
import { SENT_PLAINLY } from "../../usage/reply-usage.ts";
import { Batches } from "../batches.ts";
import { IdleTimeout } from "../idle-timeout.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { ChatBatch, ChatReply } from "../provider.ts";
import { fitted } from "./quirks.ts";
import { refuse } from "./refuse-call.ts";
import type { ReplyParts } from "./reply-reader.ts";
import { BLANK_LINE, StreamedReply, streamBytesMax } from "./streamed-reply.ts";
import { readWholeReply, streamOf } from "./whole-reply.ts";

/** More than any reply with the highest output limit has. */
export const REPLY_BYTES_MAX = 8 * 1024 * 1024;
/** With log probabilities, of which a whole reply has a limited number (D-516). */
const LOGPROBS_BYTES_MAX = 16 * 1024 * 1024;
/** The most time and reads to wait for the end of a stream's body after its [DONE]. */
const REST_MS = 1_000;
const REST_READS_MAX = 8;

/** Requests a whole reply. Throws a RouteFailure, or an ApiError if the request is invalid. */
export async function completeUpstream(given: UpstreamCall): Promise<ChatReply> {
  const call = fitted(given);
  const parts = partsOf(call);
  const bytesMax = parts.logprobs ? LOGPROBS_BYTES_MAX : REPLY_BYTES_MAX;
  const limit = new TimeLimit(call.provider.replyTimeoutMs, call.signal);
  const text = await exchange(requestOf(call, false, { limit }), (response) =>
    response.status === OK ? readText(response, bytesMax) : refuse(response, call),
  );
  const reply = readWholeReply(text, parts);
  const { ignored } = call;
  return ignored === undefined ? reply : { ...reply, ignored };
}

function partsOf({ request, showsReasoning }: UpstreamCall): ReplyParts {
  const parts = { logprobs: request.parameters.logprobs === true, reasoning: showsReasoning };
  const tier = tierOf(request);
  return tier === "standard" ? parts : { ...parts, sent: { ...SENT_PLAINLY, tier } };
}

/** Requests a stream. Each read of its body that has content becomes a batch. */
export function streamUpstream(call: UpstreamCall): Batches {
  return new UpstreamStream(call);
}

class UpstreamStream extends Batches implements BytesTaker {
  readonly #call: UpstreamCall;
  readonly #timeout: IdleTimeout;
  readonly #reply: StreamedReply;
  #body: BodyReader | null = null;
  #taker: Taker<ChatBatch> | null = null;
  #isBodyRead = false;
  #isOver = false;

  constructor(given: UpstreamCall) {
    super();
    const call = fitted(given);
    this.#call = call;
    this.#reply = new StreamedReply({
      parts: partsOf(call),
      bytesMax: streamBytesMax(call.request.maxTokens),
    });
    this.#timeout = new IdleTimeout(call.signal, call.provider);
  }

  override pull(taker: Taker<ChatBatch>): void {
    this.#taker = taker;
    this.#timeout.isWaiting = true;
    if (this.#isOver) taker.end();
    else if (this.#body !== null) this.#readFrom(this.#body);
    else this.#open();
  }

  override cancel(): void {
    this.#close();
  }

  #open(): void {
    const call = this.#call;
    exchange(requestOf(call, true, { signal: this.#timeout.signal }), (response) => {
      if (response.status !== OK) return refuse(response, call);
      if (response.body === null) throw new RouteFailure("The stream has no body");
      return isWholeReply(response) ? readerOf(response) : response.body.getReader();
    }).then(
      (body) => {
        this.#body = body;
        this.#readFrom(body);
      },
      (error) => this.#breakOff(error),
    );
  }

  #readFrom(body: BodyReader): void {
    const { isDone, failure } = this.#reply;
    if (failure !== null && !isDone) this.#breakOff(failure);
    else if (isDone || this.#isBodyRead) this.end();
    else pullBytes(body, this);
  }

  take(bytes: Buffer, from: number, to: number): void {
    try {
      this.#parse(bytes, from, to);
    } catch (fault) {
      // The taker of the batches has a fault, and the reply did not arrive whole.
      this.#close();
      this.#taker?.fail(fault);
    }
  }

  #parse(bytes: Buffer, from: number, to: number): void {
    const wasFinished = this.#reply.isFinished;
    const batch = this.#reply.read(bytes, from, to);
    if (batch !== null) this.#timeout.isWaiting = false;
    // After the end of the reply, a server could go on to send empty chunks without end.
    const isAlive = wasFinished ? (batch?.deltas.length ?? 0) > 0 : this.#reply.hasContent;
    if (isAlive) this.#timeout.onData();
    if (!wasFinished && this.#reply.isFinished) this.#timeout.onReplyEnd();
    if (batch !== null) this.#hand(batch);
    else if (this.#body !== null) this.#readFrom(this.#body);
  }

  #hand(batch: ChatBatch): void {
    const { ignored } = this.#call;
    this.#taker?.take(ignored === undefined ? batch : { ...batch, ignored });
  }

  end(): void {
    if (this.#reply.isComplete) this.#conclude();
    else if (!this.#isBodyRead) {
      this.#isBodyRead = true;
      // The last event may lack the blank line that completes it.
      this.take(BLANK_LINE, 0, BLANK_LINE.length);
    } else this.#breakOff(new RouteFailure("The stream ended before the reply did"));
  }

  /** Ends the stream of a reply that came whole. */
  #conclude(): void {
    this.#timeout.isWaiting = false;
    this.#close();
    const last = this.#reply.end();
    if (last === null) this.#taker?.end();
    else this.#taker?.take(last);
  }

  fail(error: unknown): void {
    const { signal } = this.#timeout;
    this.#breakOff(signal.aborted ? signal.reason : brokenReply(error));
  }

  #breakOff(error: unknown): void {
    this.#close();
    // After the finish_reason only the usage can be missing, and we can count that ourselves.
    if (this.#reply.isFinished && !this.#call.signal.aborted) this.#conclude();
    else this.#taker?.fail(error);
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#body !== null && this.#reply.isDone) void readToEnd(this.#body, this.#timeout);
    else this.#timeout.end();
  }
}

function isWholeReply({ headers }: UpstreamResponse): boolean {
  return headers.get("content-type")?.startsWith("application/json") === true;
}

/** Reads a whole reply, which some servers send although a stream was requested, as a stream. */
async function readerOf(response: UpstreamResponse): Promise<BodyReader> {
  const reads = [streamOf(await readText(response, REPLY_BYTES_MAX))];
  return {
    read: async () => {
      const value = reads.shift();
      return value === undefined ? { done: true } : { done: false, value };
    },
  };
}

/**
 * Reads the body to its end, which follows soon after the [DONE]. Aborting the request before that
 * would close the connection, which could otherwise be reused.
 */
async function readToEnd(body: BodyReader, timeout: IdleTimeout): Promise<void> {
  timeout.endWithin(REST_MS);
  try {
    for (let reads = 0; reads < REST_READS_MAX; reads += 1) {
      if ((await body.read()).done) break;
    }
  } catch {
    // The reply is complete anyway.
  } finally {
    timeout.end();
  }
}

function requestOf(
  call: UpstreamCall,
  stream: boolean,
  { limit, signal }: Pick<UpstreamRequest, "limit" | "signal">,
): UpstreamRequest {
  const { account, provider, fetch } = call;
  const { url, reply, events } = requestsTo(provider);
  const headers = stream ? events : reply;
  const body = bodyOf(call, stream);
  return { account, fetch, url, method: "POST", headers, body, limit, signal };
}

/** What all requests to a provider have in common. */
interface ProviderRequests {
  readonly url: string;
  /** The headers for a whole reply, and for a stream. */
  readonly reply: Readonly<Record<string, string>>;
  readonly events: Readonly<Record<string, string>>;
}

const requests = new WeakMap<ProviderEntry, ProviderRequests>();

/** Made once for each provider, because the client keeps what it makes of the headers. */
function requestsTo(provider: ProviderEntry): ProviderRequests {
  const known = requests.get(provider);
  if (known !== undefined) return known;
  const { baseUrl, apiKey } = provider;
  const headersFor = (accept: string) => ({
    "content-type": "application/json",
    accept,
    // Packing would hold a stream back, and a reply is short.
    "accept-encoding": "identity",
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
  });
  const made = {
    url: `${baseUrl}/chat/completions`,
    reply: headersFor("application/json"),
    events: headersFor("text/event-stream"),
  };
  requests.set(provider, made);
  return made;
}

function bodyOf({ provider, model, request, identifiers }: UpstreamCall, stream: boolean): string {
  const asksForUsage = stream && provider.quirks?.takesStreamOptions !== false;
  const extras = request.extras === undefined ? undefined : Object.fromEntries(request.extras);
  return JSON.stringify({
    ...extras,
    ...request.parameters,
    ...identifiers,
    model,
    messages: request.messages,
    [provider.maxTokensField]: request.maxTokens,
    stream,
    stream_options: asksForUsage ? { include_usage: true } : undefined,
  });
}
