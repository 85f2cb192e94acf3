// Connects to a server and sends requests over the connection, one after the other.

import type { Socket } from "bun";
import { type Deadline, deadlines, type Expiring } from "../../core/deadlines.ts";
import { HttpError } from "./http-error.ts";
import type { ExchangeConnection, HttpExchange } from "./http-exchange.ts";
import { STATUS } from "./http-head.ts";

/** The status 408 in ASCII. */
const TIMEOUT_DIGITS = [52, 48, 56] as const;

export interface ServerAddress {
  readonly hostname: string;
  readonly port: number;
  readonly isTls: boolean;
  /** The name that the certificate must be for. */
  readonly serverName: string;
}

/** A request, and the exchange that receives its response. */
export interface SentRequest {
  /** The account of the request; empty for a request of our own. */
  readonly account: string;
  readonly text: string;
  readonly exchange: HttpExchange;
}

/** Keeps a connection for its next request. */
export interface ConnectionOwner {
  /** A connection that is not open after this time is given up. */
  readonly connectMs: number;
  monotonicMs(): number;
  /** The connection can take another request for `keepMs`. */
  idle(connection: HttpConnection, keepMs: number): void;
  /** The connection is closed. */
  closed(connection: HttpConnection): void;
  /** The connection was closed before any byte of the response arrived. */
  lost(request: SentRequest): void;
}

type OpenSocket = Socket<HttpConnection>;

/** The network is probed after this time without a byte, to notice that a server vanished. */
const PROBE_MS = 30_000;
/** A server that has closed an idle connection resets the next request within a round trip. */
const STALE_MS = 1_000;

const HANDLERS = {
  open: (socket: OpenSocket) => socket.data.opened(socket),
  handshake(socket: OpenSocket, isTrusted: boolean, error: Error | null) {
    if (isTrusted) socket.data.ready();
    else socket.data.close(error ?? new HttpError("ETLS", "The TLS handshake failed"));
  },
  data: (socket: OpenSocket, bytes: Buffer) => socket.data.receive(bytes),
  drain: (socket: OpenSocket) => socket.data.flush(),
  error: (socket: OpenSocket, error: Error) => socket.data.close(error),
  close: (socket: OpenSocket, error?: Error) => socket.data.close(error ?? null),
};

export class HttpConnection implements ExchangeConnection, Expiring {
  readonly #owner: ConnectionOwner;
  readonly #connectLimit: Deadline;
  readonly #isTls: boolean;
  #socket: OpenSocket | null = null;
  /** The exchange that is in progress, or that waits for the connection. */
  #exchange: HttpExchange | null;
  /** The exchange's request, as long as it may have to be sent, or sent again. */
  #text: string;
  /** True once requests can be sent. */
  #isReady = false;
  #sentMs = 0;
  /** The part of the request that the socket has not taken yet. */
  #unsent: Buffer | null = null;
  /** True once the connection carried a whole response. */
  #hasServed = false;
  #isClosed = false;
  /** The owner closes the connection if it is still idle at this time. */
  idleUntilMs = 0;
  /**
   * Only requests of this account use the connection. A server that answers a request twice could
   * otherwise give the second answer to another account, unnoticed (D-481).
   */
  readonly account: string;

  /** Connects, then sends the request. */
  constructor(owner: ConnectionOwner, address: ServerAddress, request: SentRequest) {
    const { hostname, port, isTls, serverName } = address;
    this.#owner = owner;
    this.account = request.account;
    this.#isTls = isTls;
    this.#exchange = request.exchange;
    this.#text = request.text;
    request.exchange.sentOn(this);
    this.#connectLimit = deadlines.begin(owner.connectMs, this);
    const target = { hostname, port, data: this, socket: HANDLERS };
    const connecting = isTls
      ? Bun.connect({ ...target, tls: { serverName } })
      : Bun.connect(target);
    connecting.catch((error) => this.close(error));
  }

  opened(socket: OpenSocket): void {
    this.#socket = socket;
    if (this.#isClosed) {
      socket.terminate();
      return;
    }
    socket.setKeepAlive(true, PROBE_MS);
    if (!this.#isTls) this.ready();
  }

  /** Gives up a connection that the server did not accept in time. */
  expire(): void {
    this.close(new HttpError("ETIMEDOUT", "The connection took too long"));
  }

  /** The connection can be used. A server may ask for another handshake later (TLS 1.2). */
  ready(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    this.#connectLimit.end();
    if (this.#exchange !== null) this.send({ text: this.#text, exchange: this.#exchange });
  }

  /** Sends a request. The connection must be idle. */
  send({ text, exchange }: Pick<SentRequest, "text" | "exchange">): void {
    this.#text = text;
    this.#exchange = exchange;
    this.#sentMs = this.#owner.monotonicMs();
    this.#socket?.ref();
    exchange.sentOn(this);
    this.#writeText(text);
  }

  receive(bytes: Buffer): void {
    // No request asked for these bytes: no response can follow them, whatever they are.
    if (this.#exchange === null || !this.#isReady) {
      this.close(null);
      return;
    }
    // The server closed the idle connection while the request was on its way.
    if (isTimeout(bytes) && this.#isStaleFor(this.#exchange)) {
      this.close(null);
      return;
    }
    // The response may take long, and the request is not needed again.
    this.#text = "";
    this.#exchange.receive(bytes);
  }

  flush(): void {
    if (this.#unsent !== null) this.#write(this.#unsent);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  release(keepMs: number): void {
    this.#hasServed = true;
    if (this.#unsent === null) this.#exchange = null;
    if (keepMs > 0 && this.#exchange === null && !this.#isClosed) this.#rest(keepMs);
    else this.close(null);
  }

  abandon(): void {
    this.close(null);
  }

  /**
   * Closes the connection, or cleans up after the server closed it. `error` is null for an orderly
   * close.
   */
  close(error: Error | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connectLimit.end();
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#unsent = null;
    // A reset tells the server at once that its response is not needed.
    if (exchange === null) this.#socket?.close();
    else this.#socket?.terminate();
    if (exchange !== null) this.#fail(exchange, error);
    // A connect cannot be cancelled: it may keep this object for minutes.
    this.#text = "";
    this.#owner.closed(this);
  }

  #fail(exchange: HttpExchange, error: Error | null): void {
    if (exchange.isOver) return;
    if (this.#isStaleFor(exchange))
      this.#owner.lost({ account: this.account, text: this.#text, exchange });
    // Bun reports the server's end of TLS and a cut by a third party in the same way (D-481).
    else if (error === null && this.#isReady) exchange.close(this.#isTls);
    else exchange.fail(new HttpError(closeCode(error), "The connection failed", !this.#isReady));
  }

  /** True if the request met a connection that the server was closing, and must be sent again. */
  #isStaleFor(exchange: HttpExchange): boolean {
    if (!(this.#hasServed && exchange.isUnanswered)) return false;
    return this.#owner.monotonicMs() - this.#sentMs < STALE_MS;
  }

  #rest(keepMs: number): void {
    this.#text = "";
    // An idle connection does not keep a program from ending.
    this.#socket?.unref();
    this.#owner.idle(this, keepMs);
  }

  /** Encodes the text only if the socket does not take all of it. */
  #writeText(text: string): void {
    const written = Math.max(0, this.#socket?.write(text) ?? 0);
    const isWhole = written === Buffer.byteLength(text);
    this.#unsent = isWhole ? null : Buffer.from(text).subarray(written);
    // A request on a new connection is never sent again.
    if (!this.#hasServed) this.#text = "";
  }

  #write(bytes: Buffer): void {
    const written = Math.max(0, this.#socket?.write(bytes) ?? 0);
    // A closed socket takes nothing; its close event handles that.
    this.#unsent = written < bytes.length ? bytes.subarray(written) : null;
  }
}

/** True for a response that says that no request came in time (RFC 9110, section 15.5.9). */
function isTimeout(bytes: Buffer): boolean {
  // Comparing a text made of the bytes would cost each reply five times as much.
  const [first, second, third] = TIMEOUT_DIGITS;
  const at = STATUS.start;
  return bytes[at] === first && bytes[at + 1] === second && bytes[at + 2] === third;
}

function closeCode(error: Error | null): string {
  if (error === null) return "ECONNRESET";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
