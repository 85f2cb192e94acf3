// A client for one Redis server that does little more than run scripts, at half of a general
// client's CPU cost. The client never resends a command: after the loss of a connection the caller
// decides.

import type { Socket, TLSOptions } from "bun";
import { isRedisSocket, parseRedisSocket } from "../../src/core/redis-socket.ts";
import { FixedParts } from "./fixed-parts.ts";
import { ConnectionLost, type Part, RespConnection } from "./resp-connection.ts";
import type { Argument, Keys, Reply, ReplyReceiver, ScriptClient } from "./script-client.ts";

export type Command = (...parts: readonly Part[]) => Promise<Reply>;

export interface RespClientOptions {
  /** `redis://`, `rediss://` for TLS, or `unix://`; with user, password and database. */
  readonly url: string;
  /** A command without a reply is rejected after this time, or up to a quarter later. */
  readonly commandTimeoutMs: number;
  /** The time limit for connecting, AUTH included. */
  readonly connectTimeoutMs: number;
  /** Certificates to trust for TLS. */
  readonly tls?: TLSOptions;
  /**
   * Runs on every new connection before any other command, for example to check that the address
   * still leads to the same server. If the function throws, the connection is closed.
   */
  readonly onConnect?: (command: Command) => Promise<void>;
  /** Called when a connection was lost or could not be made. */
  readonly onError?: (error: Error) => void;
}

interface Head {
  readonly keyCount: number;
  readonly parts: FixedParts;
}

/** A command that was not sent yet. */
interface Unsent {
  readonly parts: readonly Part[];
  /** The tick at which the command was given. */
  readonly tick: number;
  readonly receiver: ReplyReceiver;
}

/** A command's time limit in ticks. All commands share one clock. */
const TICKS = 4;
const CLOSED = "The Redis client is closed";
const KEEP_ALIVE_MS = 30_000;
const RECONNECT_STEP_MS = 50;
const REDIS_PORT = 6379;
const RECONNECT_MAX_MS = 1_000;

export class RespClient implements ScriptClient {
  readonly sendsTwice = false;
  readonly #options: RespClientOptions;
  readonly #server: RedisServer;
  /** The heads of commands, by function. */
  readonly #heads = new Map<string, Head>();
  readonly #clock: Timer;
  #tick = 0;
  /** The connection that takes commands; null until one is ready. */
  #ready: RespConnection | null = null;
  /** The open connection, ready or not. */
  #open: RespConnection | null = null;
  /** Commands that came while no connection was ready; none was sent. */
  #unsent: Unsent[] = [];
  #failures = 0;
  #retry: Timer | null = null;
  #isClosed = false;

  constructor(options: RespClientOptions) {
    this.#options = options;
    this.#server = parseServer(options.url);
    this.#clock = setInterval(() => this.#onTick(), options.commandTimeoutMs / TICKS);
    this.#clock.unref();
    this.#connect();
  }

  // biome-ignore lint/complexity/useMaxParams: every script runs it
  fcall(
    name: string,
    keys: readonly Keys[],
    args: readonly Argument[],
    receiver: ReplyReceiver,
  ): void {
    let count = 0;
    for (const key of keys) count += typeof key === "string" ? 1 : key.parts.length;
    const parts: Part[] = [this.#headOf(name, count)];
    for (const key of keys) parts.push(key);
    for (const arg of args) parts.push(typeof arg === "number" ? String(arg) : arg);
    this.#send(parts, receiver);
  }

  /** The first parts of a command. A function mostly has the same number of keys. */
  #headOf(name: string, keyCount: number): FixedParts {
    const known = this.#heads.get(name);
    if (known?.keyCount === keyCount) return known.parts;
    const parts = new FixedParts(["FCALL", name, String(keyCount)]);
    this.#heads.set(name, { keyCount, parts });
    return parts;
  }

  /** Sends any command that has one reply. */
  command(...parts: readonly Part[]): Promise<Reply> {
    return new Promise((resolve, reject) => this.#send(parts, { resolve, reject }));
  }

  #send(parts: readonly Part[], receiver: ReplyReceiver): void {
    const tick = this.#tick;
    if (this.#ready !== null) this.#ready.send(parts, tick, receiver);
    else if (this.#isClosed) receiver.reject(new ConnectionLost(CLOSED, false));
    else this.#unsent.push({ parts, tick, receiver });
  }

  /** Ends the connection at once; open commands are rejected. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#clock);
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#ready = null;
    this.#open?.end(CLOSED);
    this.#rejectUnsent(CLOSED);
  }

  #connect(): void {
    this.#retry = null;
    let connection: RespConnection | null = null;
    /** The connection during its handshake, when no other command may be sent. */
    let opening: Socket<undefined> | null = null;
    let isOver = false;
    const end = (error: Error) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      if (connection === null) opening?.terminate();
      this.#end(connection, error);
    };
    const deadline = setTimeout(
      () => end(new Error("Redis took too long to accept the connection")),
      this.#options.connectTimeoutMs,
    );
    const begin = (socket: Socket<undefined>) => {
      if (isOver || this.#isClosed) return void socket.terminate();
      // Detects an idle connection that a router has dropped before a call needs it.
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      connection = new RespConnection(socket, this.#tick);
      this.#open = connection;
      this.#greet(connection, () => clearTimeout(deadline)).catch(end);
    };
    const { address, usesTls } = this.#server;
    const socket = {
      open: (opened: Socket<undefined>) => {
        opening = opened;
        if (!usesTls || isOver) begin(opened);
      },
      handshake: (opened: Socket<undefined>, isTrusted: boolean, error: Error | null) => {
        if (isTrusted) begin(opened);
        else end(error ?? new Error("The TLS handshake with Redis failed"));
      },
      data: (_: Socket<undefined>, bytes: Buffer) => {
        try {
          connection?.receive(bytes, this.#tick);
        } catch (error) {
          end(error as Error);
        }
      },
      drain: () => connection?.drain(),
      error: (_: Socket<undefined>, error: Error) => end(error),
      close: (_: Socket<undefined>, error?: Error) => end(error ?? new Error("Redis hung up")),
      connectError: (_: Socket<undefined>, error: Error) => end(error),
    };
    const options = { socket, ...(usesTls && { tls: this.#options.tls ?? true }) };
    const connecting =
      "unix" in address
        ? Bun.connect({ ...options, ...address })
        : Bun.connect({ ...options, ...address });
    // `connectError` receives the same error; `end` handles it once.
    connecting.catch(end);
  }

  /**
   * Logs in and selects the database; then the connection is ready, and waiting commands are sent.
   */
  async #greet(connection: RespConnection, accepted: () => void): Promise<void> {
    const { user, password, database } = this.#server;
    const command: Command = (...parts) =>
      new Promise((resolve, reject) => {
        connection.send(parts, this.#tick, { resolve, reject });
      });
    if (password !== "") await command("AUTH", ...(user === "" ? [] : [user]), password);
    if (database !== "") await command("SELECT", database);
    // A server that needs a password replies with an error if none was configured.
    await command("PING");
    accepted();
    await this.#options.onConnect?.(command);
    if (this.#open !== connection) return;
    this.#failures = 0;
    this.#ready = connection;
    for (const { parts, tick, receiver } of this.#unsent.splice(0)) {
      connection.send(parts, tick, receiver);
    }
  }

  /** Handles a connection that ended or failed: another attempt follows after a delay. */
  #end(connection: RespConnection | null, error: Error): void {
    const wasReady = connection !== null && connection === this.#ready;
    if (connection === this.#open) this.#open = null;
    if (wasReady) this.#ready = null;
    connection?.end("The connection to Redis was lost", error);
    if (this.#isClosed) return;
    // A command may wait for one more connection attempt, but not forever.
    if (!wasReady) this.#rejectUnsent("Redis is not reachable", error);
    this.#failures += 1;
    const delayMs = Math.min(RECONNECT_STEP_MS * this.#failures, RECONNECT_MAX_MS);
    this.#retry = setTimeout(() => this.#connect(), delayMs);
    this.#options.onError?.(error);
  }

  #rejectUnsent(message: string, cause?: Error): void {
    for (const { receiver } of this.#unsent.splice(0)) {
      receiver.reject(new ConnectionLost(message, false, cause));
    }
  }

  #onTick(): void {
    this.#tick += 1;
    this.#open?.expire(this.#tick, TICKS);
    const tooEarly = this.#unsent.findIndex(({ tick }) => this.#tick - tick <= TICKS);
    const late = tooEarly < 0 ? this.#unsent.length : tooEarly;
    for (const { receiver } of this.#unsent.splice(0, late)) {
      receiver.reject(new ConnectionLost("Redis was not reachable in time", false));
    }
  }
}

interface RedisServer {
  readonly address: { hostname: string; port: number } | { unix: string };
  readonly usesTls: boolean;
  readonly user: string;
  readonly password: string;
  /** Empty for database 0. */
  readonly database: string;
}

function parseServer(text: string): RedisServer {
  if (isRedisSocket(text)) {
    const { path, ...login } = parseRedisSocket(text);
    return { address: { unix: path }, usesTls: false, ...login };
  }
  const url = new URL(text);
  const { protocol, pathname, searchParams } = url;
  if (protocol !== "redis:" && protocol !== "rediss:") {
    throw new Error(`A Redis URL begins with redis:, rediss: or unix:, not with '${protocol}'`);
  }
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    address: { hostname, port: Number(url.port || REDIS_PORT) },
    usesTls: protocol === "rediss:",
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: pathname.slice(1) || (searchParams.get("db") ?? ""),
  };
}
