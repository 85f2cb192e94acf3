// A model server that sends the replies in a test's queue, byte by byte over a socket: the replies
// of any provider, and every way in which a reply can break off.

import { createServer, type Socket } from "node:net";
import { type Received, readRequests } from "../../api/read-requests.ts";

export interface WireReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, in the pieces in which it is sent. */
  readonly body: readonly (string | Uint8Array)[];
  /** `cut`: the connection breaks after the body; `hang`: nothing follows it. */
  readonly end?: "whole" | "cut" | "hang";
}

/** A reply, or a function that makes one of the request; a promise delays the reply. */
export type QueuedReply = WireReply | ((request: Received) => WireReply | Promise<WireReply>);

export interface WireServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: Received[];
  /** The requests whose client has closed the connection. */
  readonly left: Received[];
  queue(...replies: QueuedReply[]): void;
  /** Forgets the replies that no request has taken. */
  reset(): void;
}

/** Starts a server; without anything in its queue it never answers. */
export async function startWireServer(): Promise<WireServer> {
  const requests: Received[] = [];
  const left: Received[] = [];
  const replies: QueuedReply[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // Tests look at the client's side.
    socket.on("error", () => {});
    let last: Received | null = null;
    socket.on("close", () => {
      sockets.delete(socket);
      if (last !== null) left.push(last);
    });
    readRequests(socket, (request) => {
      last = request;
      requests.push(request);
      const reply = replies.shift();
      if (typeof reply === "function") {
        void Promise.resolve(reply(request)).then((made) => send(socket, made));
      } else if (reply !== undefined) send(socket, reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It does not listen");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    left,
    queue: (...more) => replies.push(...more),
    reset: () => replies.splice(0),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(socket: Socket, { status = 200, headers = {}, body, end = "whole" }: WireReply) {
  const all = { "content-type": "application/json", ...headers, "transfer-encoding": "chunked" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} Wire\r\n${lines.join("")}\r\n`);
  for (const piece of body) {
    const bytes = Buffer.from(piece);
    if (bytes.length === 0) continue;
    socket.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]));
  }
  if (end === "whole") socket.write("0\r\n\r\n");
  if (end === "cut") socket.end();
}

const CRLF = Buffer.from("\r\n");
