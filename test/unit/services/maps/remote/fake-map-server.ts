// Serves maps on 127.0.0.1: returns the test's answer, or misbehaves as a mood says.

import { createServer, type Server, type Socket } from "node:net";
import { UPSTREAM_SECRET } from "../../../../support/fakes/fake-upstream.ts";

export interface Asked {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** True once the other side has hung up. */
  isGone: boolean;
}

/** The answer to the next request. */
export type Behaviour =
  | { readonly status: number; readonly body: string | Uint8Array; readonly headers?: object }
  | { readonly mood: Mood };

/** Failures that no server library shows on demand. */
export type Mood = "hang" | "hang in body" | "reset" | "reset in body" | "flood";

export class FakeMapServer implements AsyncDisposable {
  readonly asked: Asked[] = [];
  behaviour: Behaviour = { status: 200, body: "{}" };
  /** The address that it listens on. */
  baseUrl = "";
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => this.#sockets.delete(socket));
      this.#serve(socket);
    });
  }

  static async start(): Promise<FakeMapServer> {
    const fake = new FakeMapServer();
    const { promise, resolve } = Promise.withResolvers<void>();
    fake.#server.listen(0, "127.0.0.1", resolve);
    await promise;
    const address = fake.#server.address();
    if (address === null || typeof address === "string") throw new Error("It has no port");
    fake.baseUrl = `http://127.0.0.1:${address.port}`;
    return fake;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  /** The last request. */
  last(): Asked {
    const asked = this.asked.at(-1);
    if (asked === undefined) throw new Error("Nothing was asked");
    return asked;
  }

  #serve(socket: Socket): void {
    let text = "";
    let last: Asked | null = null;
    socket.on("close", () => {
      if (last !== null) last.isGone = true;
    });
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      const asked = readRequest(text);
      if (asked === null) return;
      text = "";
      this.asked.push(asked);
      last = asked;
      if ("mood" in this.behaviour) misbehave(socket, this.behaviour.mood);
      else answer(socket, this.behaviour);
    });
  }
}

/** Returns a whole request, or null until it is complete. */
function readRequest(text: string): Asked | null {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  if (body.length < Number(headers["content-length"] ?? 0)) return null;
  const [method = "", target = ""] = first.split(" ");
  return { method, target, headers, body, isGone: false };
}

function head(socket: Socket, status: number, headers: object): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} Mood\r\n${lines.join("")}\r\n`);
}

function answer(
  socket: Socket,
  { status, body, headers = {} }: Exclude<Behaviour, { mood: Mood }>,
): void {
  const bytes = Buffer.from(body);
  head(socket, status, { "content-length": bytes.byteLength, ...headers });
  socket.write(bytes);
}

function misbehave(socket: Socket, mood: Mood): void {
  if (mood === "hang") return;
  if (mood === "reset") {
    socket.destroy();
    return;
  }
  head(socket, 200, { "content-type": "application/json", "transfer-encoding": "chunked" });
  const part = (text: string, then?: () => void) => {
    socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`, then);
  };
  const isReset = mood === "reset in body";
  part(`{"${UPSTREAM_SECRET}":[`, isReset ? () => void socket.destroy() : undefined);
  if (mood === "flood") {
    const block = " ".repeat(256 * 1024);
    const pour = () => {
      while (!socket.destroyed) {
        part(block);
        if (socket.writableNeedDrain) {
          socket.once("drain", pour);
          return;
        }
      }
    };
    pour();
  }
}
