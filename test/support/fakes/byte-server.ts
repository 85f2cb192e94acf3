// Serves answers that a test writes byte by byte.

import { createServer, type Socket } from "node:net";
import { HttpClient } from "../../../src/upstream/http/http-client.ts";
import type { UpstreamInit } from "../../../src/upstream/upstream-http.ts";

/** A request that has arrived whole. */
export interface ByteRequest {
  readonly socket: Socket;
  /** Counts from 1 over all connections. */
  readonly number: number;
  /** Counts from 1 on its connection. */
  readonly turn: number;
  /** Head and body as they came, in latin1. */
  readonly text: string;
}

export class ByteServer {
  readonly requests: string[] = [];
  /** The number of connections so far. */
  opened = 0;
  readonly sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#accept(socket));

  private constructor(readonly onConnection: (socket: Socket, server: ByteServer) => void) {}

  /** Calls `answer` for each request. */
  static start(answer: (request: ByteRequest) => void, host?: string): Promise<ByteServer> {
    return ByteServer.startRaw((socket, server) => {
      let received = "";
      let turn = 0;
      socket.on("data", (bytes) => {
        received += bytes.toString("latin1");
        const text = wholeRequest(received);
        if (text === null) return;
        received = received.slice(text.length);
        turn += 1;
        server.requests.push(text);
        answer({ socket, number: server.requests.length, turn, text });
      });
    }, host);
  }

  /** Leaves everything on a connection to `onConnection`. */
  static async startRaw(
    onConnection: (socket: Socket, server: ByteServer) => void,
    host = "127.0.0.1",
  ): Promise<ByteServer> {
    const server = new ByteServer(onConnection);
    await new Promise<void>((resolve) => server.#server.listen(0, host, resolve));
    return server;
  }

  /** The number of open connections. */
  get open(): number {
    return this.sockets.size;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("It does not listen");
    return address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.opened += 1;
    this.sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("close", () => this.sockets.delete(socket));
    // Tests check the client's side of a broken connection.
    socket.on("error", () => {});
    this.onConnection(socket, this);
  }
}

function wholeRequest(received: string): string | null {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? "0";
  const end = headEnd + 4 + Number(length);
  return received.length < end ? null : received.slice(0, end);
}

/** A response of status 200 with this body. */
export function reply(body: string, headers = ""): string {
  return `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A request as the callers of `fetch` make it; by default a GET without headers and body. */
export function upstreamInit(more: Partial<UpstreamInit> = {}): UpstreamInit {
  const fixed = { redirect: "manual", timeout: false } as const;
  return { method: "GET", headers: {}, body: null, signal: null, ...fixed, ...more };
}

/** A client without any connection. */
export function newClient(monotonicMs = () => performance.now()): HttpClient {
  return new HttpClient({ monotonicMs });
}
