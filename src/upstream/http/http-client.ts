// Sends HTTP/1.1 requests to upstream servers, over Bun's sockets. For each request, Bun's `fetch`
// wakes a second thread and makes a stream with a buffer of its own: a tenth of the CPU of a call,
// and a third of the memory of an open stream (docs/performance.md).
//
// This client also knows more about its connections: it sends a request again only if the request
// was lost on a connection that the server may just have closed.

import type { Fetch, UpstreamInit } from "../upstream-http.ts";
import type { UpstreamResponse } from "../upstream-response.ts";
import {
  type ConnectionOwner,
  HttpConnection,
  type SentRequest,
  type ServerAddress,
} from "./http-connection.ts";
import { HttpExchange } from "./http-exchange.ts";

/** Connections of one server that are kept idle; with more, the oldest are closed. */
export const IDLE_MAX = 256;
/**
 * A longer request gets a new connection, in place of an idle one. On a used connection it might
 * have to be sent again, so its text would be kept until the server answers (D-481).
 */
const RESENT_LENGTH_MAX = 1024 * 1024;
/** Enough for two lost packets; a slower server is not worth waiting for. */
const CONNECT_MS = 5_000;
/** The time between two sweeps, which close idle connections that have expired. */
const SWEEP_MS = 1_000;
/** Stands for the account in requests of our own. */
const NO_ACCOUNT = "";
/** The most parsed addresses that are kept; few more than there are servers. */
export const TARGETS_MAX = 1_024;
const PORTS = { "http:": 80, "https:": 443 } as const;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LINE_BREAK = /[\r\n\0]/;

export interface HttpClientOptions {
  /** Milliseconds that never go back. */
  readonly monotonicMs: () => number;
  /** A server that takes no connection within this time cannot be reached. */
  readonly connectMs?: number;
}

export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #servers = new Map<string, Server>();
  /** Addresses without a query, which are the same in every request to a model. */
  readonly #targets = new Map<string, Target>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /**
   * Sends a request. Resolves with the response when its head is there. Rejects with the signal's
   * reason, a TypeError for an invalid request, or an HttpError.
   */
  readonly fetch: Fetch = (url, init) => {
    if (init.signal?.aborted) return Promise.reject(init.signal.reason);
    const waiting = Promise.withResolvers<UpstreamResponse>();
    try {
      const target = this.#targetOf(url);
      const text = requestText(target, init);
      const exchange = new HttpExchange(init.signal, waiting);
      const { tls, account = NO_ACCOUNT } = init;
      this.#serverOf(target, tls?.servername).send({ text, exchange, account });
    } catch (error) {
      waiting.reject(error);
    }
    return waiting.promise;
  };

  /** Closes the idle connections. Requests in progress continue to their end. */
  close(): void {
    for (const server of this.#servers.values()) server.closeIdle();
    this.#servers.clear();
  }

  #targetOf(url: string): Target {
    const known = this.#targets.get(url);
    if (known !== undefined) return known;
    const target = parseTarget(url);
    // A URL with a query is not cached: it holds a user's data and rarely repeats.
    if (target.hasQuery) return target;
    if (this.#targets.size >= TARGETS_MAX) this.#targets.clear();
    this.#targets.set(url, target);
    return target;
  }

  #serverOf({ address, name }: Target, serverName = address.serverName): Server {
    const key = serverName === address.serverName ? name : serverKey(address, serverName);
    return this.#servers.get(key) ?? this.#newServer(key, { ...address, serverName });
  }

  #newServer(key: string, address: ServerAddress): Server {
    const created = new Server(address, this.#options, () => {
      // After `close` a new server may have the key.
      if (this.#servers.get(key) === created) this.#servers.delete(key);
    });
    this.#servers.set(key, created);
    return created;
  }
}

interface Target {
  readonly address: ServerAddress;
  /** The name of the server in the table of servers. */
  readonly name: string;
  readonly host: string;
  /** Path and query. */
  readonly path: string;
  readonly hasQuery: boolean;
  /** The head of the last request, for the next request with the same headers. */
  last: Head | null;
}

/** The beginning of a request, up to the headers of its body. */
interface Head extends Pick<UpstreamInit, "method" | "headers"> {
  readonly text: string;
}

function serverKey({ hostname, port, isTls }: ServerAddress, serverName: string): string {
  return `${isTls ? "https" : "http"} ${hostname} ${port} ${serverName}`;
}

function parseTarget(text: string): Target {
  const url = new URL(text);
  const { protocol, hostname, port, host, pathname, search } = url;
  if (protocol !== "http:" && protocol !== "https:") {
    throw new TypeError("An address must begin with http: or https:");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("An address must not contain a name or a password");
  }
  const serverName = hostname.replace(/^\[(.*)\]$/, "$1");
  const address = {
    hostname: serverName,
    port: port === "" ? PORTS[protocol] : Number(port),
    isTls: protocol === "https:",
    serverName,
  };
  const name = serverKey(address, serverName);
  return { address, name, host, path: pathname + search, hasQuery: search !== "", last: null };
}

function requestText(target: Target, { method, headers, body }: UpstreamInit): string {
  let { last } = target;
  if (last === null || last.headers !== headers || last.method !== method) {
    last = { method, headers, text: headText(target, method, headers) };
    target.last = last;
  }
  if (method === "GET" && body === null) return `${last.text}\r\n`;
  const content = body ?? "";
  return `${last.text}content-length: ${Buffer.byteLength(content)}\r\n\r\n${content}`;
}

function headText(
  { host, path }: Target,
  method: UpstreamInit["method"],
  headers: UpstreamInit["headers"],
): string {
  let head = `${method} ${path} HTTP/1.1\r\n`;
  const add = (name: string, value: string) => {
    head += `${name}: ${value}\r\n`;
  };
  if (headers.host === undefined) add("host", host);
  if (headers["accept-encoding"] === undefined) add("accept-encoding", "gzip");
  if (headers.accept === undefined) add("accept", "*/*");
  if (headers["user-agent"] === undefined) add("user-agent", "Farebox");
  for (const name in headers) {
    const value = headers[name] ?? "";
    if (!TOKEN.test(name)) throw new TypeError("A header has an invalid name");
    if (LINE_BREAK.test(value)) throw new TypeError(`The header ${name} has a line break`);
    add(name, value);
  }
  return head;
}

/** The connections to one server. */
class Server implements ConnectionOwner {
  /** The connections without a request, the last used one at the end. */
  readonly #idle: HttpConnection[] = [];
  #connections = 0;
  #sweeping: Timer | null = null;
  readonly monotonicMs: () => number;
  readonly connectMs: number;

  constructor(
    readonly address: ServerAddress,
    { monotonicMs, connectMs = CONNECT_MS }: HttpClientOptions,
    /** Called when the last connection is closed. */
    readonly onEmpty: () => void,
  ) {
    this.monotonicMs = monotonicMs;
    this.connectMs = connectMs;
  }

  send(request: SentRequest): void {
    const at = this.#lastIdleOf(request.account);
    const connection = this.#idle[at];
    // Skips an expired connection: its server may be closing it. The sweep removes it.
    if (connection === undefined || connection.idleUntilMs <= this.monotonicMs()) {
      this.#connect(request);
    } else {
      this.#idle.splice(at, 1);
      if (request.text.length <= RESENT_LENGTH_MAX) connection.send(request);
      else {
        this.#connect(request);
        connection.close(null);
      }
    }
  }

  #lastIdleOf(account: SentRequest["account"]): number {
    let at = this.#idle.length - 1;
    while (at >= 0 && this.#idle[at]?.account !== account) at -= 1;
    return at;
  }

  idle(connection: HttpConnection, keepMs: number): void {
    connection.idleUntilMs = this.monotonicMs() + keepMs;
    this.#idle.push(connection);
    if (this.#idle.length > IDLE_MAX) this.#idle[0]?.close(null);
    if (this.#sweeping !== null) return;
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeping.unref();
  }

  closed(connection: HttpConnection): void {
    this.#connections -= 1;
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#connections > 0) return;
    this.#stopSweeping();
    this.onEmpty();
  }

  /** A new connection cannot be stale, so a request is not sent a third time. */
  lost(request: SentRequest): void {
    this.#connect(request);
  }

  closeIdle(): void {
    for (const connection of [...this.#idle]) connection.close(null);
  }

  #connect(request: SentRequest): void {
    this.#connections += 1;
    new HttpConnection(this, this.address, request);
  }

  #sweep(): void {
    const nowMs = this.monotonicMs();
    const over = this.#idle.filter(({ idleUntilMs }) => idleUntilMs <= nowMs);
    for (const connection of over) connection.close(null);
    if (this.#idle.length === 0) this.#stopSweeping();
  }

  #stopSweeping(): void {
    if (this.#sweeping !== null) clearInterval(this.#sweeping);
    this.#sweeping = null;
  }
}
