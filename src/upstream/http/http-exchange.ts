// Carries one request and its response, on a second connection if the first was stale.

import type { CancelSignal } from "../../core/cancellation.ts";
import type {
  BodyRead,
  BodyReader,
  BytesTaker,
  ResponseBody,
  ResponseHeaders,
  UpstreamResponse,
} from "../upstream-response.ts";
import { HttpError, hungUp, malformed } from "./http-error.ts";
import { type Framing, framingOf } from "./http-framing.ts";
import { endOfHead, HEAD_BYTES_MAX, parseHead } from "./http-head.ts";
import { unpacked } from "./unpacked.ts";
import { WaitingBytes } from "./waiting-bytes.ts";

/** The part of a connection that an exchange uses. */
export interface ExchangeConnection {
  /** Stops reading, so that the server must wait; `resume` ends that. */
  pause(): void;
  resume(): void;
  /** The response is complete. Another request can follow within `keepMs`; 0: none can. */
  release(keepMs: number): void;
  /** The exchange no longer needs the connection; bytes that still arrive are dropped. */
  abandon(): void;
}

/** With more bytes than this waiting for the reader, the server must wait. */
const WAITING_BYTES_MAX = 256 * 1024;
const INFORMATIONAL_MAX = 199;
const SWITCHING_PROTOCOLS = 101;

const END: BodyRead = Object.freeze({ done: true });

interface ResponseReceiver {
  resolve(response: UpstreamResponse): void;
  reject(reason: unknown): void;
}

export class HttpExchange implements UpstreamResponse, ResponseBody, BodyReader {
  status = 0;
  #headers: ResponseHeaders | null = null;
  #connection: ExchangeConnection | null = null;
  #signal: CancelSignal | null;
  #response: ResponseReceiver | null;
  /** The beginning of a head whose end has not come yet. */
  #head: Buffer | null = null;
  #framing: Framing | null = null;
  #keepMs = 0;
  readonly #waiting = new WaitingBytes();
  #isPaused = false;
  /** The taker that waits for the next bytes. */
  #taker: BytesTaker | null = null;
  #isOver = false;
  #failure: { readonly reason: unknown } | null = null;

  constructor(signal: CancelSignal | null, response: ResponseReceiver) {
    this.#signal = signal;
    this.#response = response;
    signal?.addEventListener("abort", this);
  }

  get headers(): ResponseHeaders {
    if (this.#headers === null) throw new Error("The headers are not there yet, or not any more");
    return this.#headers;
  }

  get body(): ResponseBody {
    return this;
  }

  /** True if no byte of the response has come. */
  get isUnanswered(): boolean {
    return this.#head === null && this.status === 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The signal was aborted. */
  handleEvent(): void {
    this.fail(this.#signal?.reason);
  }

  /** The request is sent on this connection, once that is open. */
  sentOn(connection: ExchangeConnection): void {
    this.#connection = connection;
  }

  /** Bytes from the server. */
  receive(bytes: Buffer): void {
    try {
      if (this.#framing === null) this.#receiveHead(bytes);
      else this.#receiveBody(this.#framing, bytes, 0);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The connection was closed in order; `isForgeable`: see Framing. */
  close(isForgeable = false): void {
    try {
      if (this.#framing === null) throw hungUp();
      this.#framing.end(isForgeable);
      this.#complete(0);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the exchange; whatever waits for the response, or for its body, gets the reason. */
  fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#failure = { reason };
    this.#end()?.abandon();
    this.#response?.reject(reason);
    this.#response = null;
    const taker = this.#taker;
    this.#taker = null;
    if (taker !== null) queueMicrotask(() => taker.fail(reason));
  }

  /** Drops the headers, which a stream would otherwise keep until it ends. */
  getReader(): BodyReader {
    this.#headers = null;
    return this;
  }

  pull(taker: BytesTaker): void {
    const failure = this.#failure;
    if (this.#waiting.length > 0) {
      const bytes = this.#waiting.take();
      if (this.#isPaused) this.#resume();
      this.#give(taker, bytes, 0, bytes.length);
    } else if (failure !== null) queueMicrotask(() => taker.fail(failure.reason));
    else if (this.#isOver) queueMicrotask(() => taker.end());
    else this.#taker = taker;
  }

  read(): Promise<BodyRead> {
    return new Promise((resolve, reject) => {
      this.pull({
        take: (bytes, from, to) => resolve({ done: false, value: bytes.subarray(from, to) }),
        end: () => resolve(END),
        fail: reject,
      });
    });
  }

  /** Costs no more than one promise if the whole response is there. */
  text(): Promise<string> {
    if (!this.#isOver || this.#failure !== null) return this.#textToCome();
    return Promise.resolve(this.#waiting.takeText());
  }

  async #textToCome(): Promise<string> {
    const text = new WaitingBytes();
    for await (const { buffer, byteOffset, length } of this) {
      text.add(Buffer.from(buffer, byteOffset, length), 0, length);
    }
    return text.takeText();
  }

  cancel(): Promise<void> {
    this.#waiting.clear();
    this.fail(new HttpError("ABORTED", "The response was given up"));
    return Promise.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    let isRead = false;
    try {
      for (let next = await this.read(); !next.done; next = await this.read()) yield next.value;
      isRead = true;
    } finally {
      if (!isRead) await this.cancel();
    }
  }

  #receiveHead(bytes: Buffer): void {
    let all = this.#head === null ? bytes : Buffer.concat([this.#head, bytes]);
    let seen = all.length - bytes.length;
    for (;;) {
      const end = endOfHead(all, seen);
      if ((end < 0 ? all.length : end) > HEAD_BYTES_MAX) {
        throw malformed("The head of the response is too long");
      }
      if (end < 0) {
        this.#head = all;
        return;
      }
      const head = parseHead(all.toString("latin1", 0, end));
      if (head.status > INFORMATIONAL_MAX) {
        this.#begin(head, all, end);
        return;
      }
      if (head.status === SWITCHING_PROTOCOLS) throw malformed("The server changes the protocol");
      // An informational response was read; the real response follows it.
      all = all.subarray(end);
      seen = 0;
    }
  }

  #begin(head: ReturnType<typeof parseHead>, bytes: Buffer, start: number): void {
    const framing = framingOf(head);
    this.#head = null;
    this.#framing = framing;
    this.#keepMs = head.keepMs;
    this.status = head.status;
    this.#headers = head.headers;
    this.#response?.resolve(unpacked(this));
    this.#response = null;
    // The body is there before any reader asks, because readers run in a later microtask.
    this.#receiveBody(framing, bytes, start);
  }

  #receiveBody(framing: Framing, bytes: Buffer, start: number): void {
    framing.push(bytes, start);
    if (framing.to > framing.from) this.#deliver(bytes, framing.from, framing.to);
    if (framing.isDone) this.#complete(framing.isReusable ? this.#keepMs : 0);
  }

  #deliver(bytes: Buffer, from: number, to: number): void {
    const taker = this.#taker;
    if (taker !== null) {
      this.#taker = null;
      this.#give(taker, bytes, from, to);
      return;
    }
    this.#waiting.add(bytes, from, to);
    if (this.#waiting.length <= WAITING_BYTES_MAX || this.#isPaused) return;
    this.#isPaused = true;
    this.#connection?.pause();
  }

  /** A taker that throws is at fault: its error is logged, and ends the exchange. */
  // biome-ignore lint/complexity/useMaxParams: every piece of a reply runs it
  #give(taker: BytesTaker, bytes: Buffer, from: number, to: number): void {
    try {
      taker.take(bytes, from, to);
    } catch (error) {
      void Promise.reject(error);
      if (!this.#isOver) this.#taker = taker;
      this.fail(error);
    }
  }

  #resume(): void {
    this.#isPaused = false;
    this.#connection?.resume();
  }

  #complete(keepMs: number): void {
    if (this.#isOver) return;
    this.#end()?.release(keepMs);
    const taker = this.#taker;
    this.#taker = null;
    if (taker !== null) queueMicrotask(() => taker.end());
  }

  #end(): ExchangeConnection | null {
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this);
    this.#signal = null;
    const connection = this.#connection;
    this.#connection = null;
    if (this.#isPaused) connection?.resume();
    return connection;
  }
}
