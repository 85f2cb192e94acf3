// Sends the request of a streamed call, and turns each read of the reply into a batch.

import type { CancelSignal } from "../../../core/cancellation.ts";
import { OK } from "../../../core/errors.ts";
import type { Taker } from "../../../core/taker.ts";
import { RouteFailure } from "../../../upstream/route-failure.ts";
import {
  brokenReply,
  exchange,
  readText,
  type UpstreamRequest,
} from "../../../upstream/upstream-http.ts";
import {
  type BodyReader,
  type BytesTaker,
  pullBytes,
  type UpstreamResponse,
} from "../../../upstream/upstream-response.ts";
import { Batches } from "./batches.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { failureFor, refuse } from "./openai/refuse-call.ts";
import type { UpstreamCall } from "./protocol.ts";
import type { ChatBatch } from "./provider.ts";

/** More than any whole reply with the highest output limit of chat completions has. */
export const REPLY_BYTES_MAX = 8 * 1024 * 1024;
/** The most bytes of a reply with images, which are base64. */
export const IMAGES_BYTES_MAX = 64 * 1024 * 1024;
/** The most time and reads to wait for the end of a stream's body after its last event. */
const REST_MS = 1_000;
const REST_READS_MAX = 8;
/** Completes an event. Some servers leave out the blank line after the last event of a stream. */
export const BLANK_LINE = Buffer.from("\n\n");

/** The state of a streamed reply, which reads its bytes. */
export interface ReplyStream {
  /** The batch in the bytes from `from` to `to`; null if there is none. */
  read(bytes: Buffer, from: number, to: number): ChatBatch | null;
  /** The batch with the end of a complete reply; null if it came before. */
  end(): ChatBatch | null;
  /** The error in the bytes after the last batch; null if there is none. */
  readonly failure: RouteFailure | null;
  /** True if the last read had a part of the reply, hidden reasoning included. */
  readonly hasContent: boolean;
  /** True once the reply is complete, and only its usage may follow. */
  readonly isFinished: boolean;
  /** True if the stream may end now. */
  readonly isComplete: boolean;
  /** True once nothing may follow. */
  readonly isDone: boolean;
}

/** The form of a streamed request and its reply. */
export interface StreamForm {
  readonly reply: ReplyStream;
  readonly requestOf: (call: UpstreamCall, signal: CancelSignal) => UpstreamRequest;
  /** The stream with a reply that came whole. Throws a RouteFailure if the reply is unreadable. */
  readonly streamOf: (wholeReply: string) => Buffer;
}

/** Sends the request of a call when its first batch is pulled. */
export class UpstreamStream extends Batches implements BytesTaker {
  readonly #call: UpstreamCall;
  readonly #form: StreamForm;
  readonly #timeout: IdleTimeout;
  readonly #reply: ReplyStream;
  #body: BodyReader | null = null;
  #taker: Taker<ChatBatch> | null = null;
  #isBodyRead = false;
  #isOver = false;

  constructor(call: UpstreamCall, form: StreamForm) {
    super();
    this.#call = call;
    this.#form = form;
    this.#reply = form.reply;
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
    const { requestOf, streamOf } = this.#form;
    exchange(requestOf(call, this.#timeout.signal), (response) => {
      if (response.status !== OK) return refuse(response, call);
      if (response.body === null) throw new RouteFailure("The stream has no body");
      return isWholeReply(response) ? readerOf(response, streamOf) : response.body.getReader();
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
    else this.#taker?.fail(failureFor(error, this.#call));
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
async function readerOf(
  response: UpstreamResponse,
  streamOf: StreamForm["streamOf"],
): Promise<BodyReader> {
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
