// Answers as the upstream of every target: at once, with as little CPU as possible. The name of the
// model selects the answer: "plain", "slow" (after 200 ms), "chunks-200" (a stream of 200 chunks)
// or "held" (a stream that never ends). The stub answers searches like SearXNG, Messages like
// Anthropic, and Responses like OpenAI.

import type { Socket } from "bun";
import { MESSAGE_REPLIES, MESSAGE_SCRIPTS } from "./stub-messages.ts";
import { CHAT_REPLIES, SEARCH_REPLIES, STREAM_SCRIPTS, type StreamScript } from "./stub-replies.ts";
import { RESPONSE_REPLIES, RESPONSE_SCRIPTS } from "./stub-responses.ts";

/** The time between two chunks of a stream. */
const TICK_MS = 5;
const HELD_TICK_MS = 2_000;
const SLOW_MS = 200;

/**
 * A connection, with the received part of the next request, and the bytes that the socket did not
 * take yet.
 */
interface Connection {
  readonly socket: Socket<Connection | undefined>;
  received: Buffer;
  unsent: Buffer;
  stream: OpenStream | null;
}

interface OpenStream {
  readonly connection: Connection;
  readonly script: StreamScript;
  readonly chunks: number;
  sent: number;
}

const running = new Set<OpenStream>();
const held = new Set<OpenStream>();

// One timer for all streams, because a timer for each stream would cost more than the chunks.
setInterval(() => running.forEach(advance), TICK_MS);
setInterval(() => held.forEach(advance), HELD_TICK_MS);

const NOTHING = Buffer.alloc(0);

// Written by hand, because a server of the platform takes a third more CPU for a call.
const server = Bun.listen<Connection | undefined>({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  socket: {
    open(socket) {
      socket.data = { socket, received: NOTHING, unsent: NOTHING, stream: null };
    },
    data(socket, bytes) {
      if (socket.data !== undefined) receive(socket.data, bytes);
    },
    drain(socket) {
      if (socket.data !== undefined) send(socket.data, NOTHING);
    },
    close: ({ data }) => {
      if (data?.stream) forget(data.stream);
    },
    error: (_socket, error) => console.error(error),
  },
});
console.log(`The upstream listens on ${server.port}`);

function receive(connection: Connection, bytes: Buffer): void {
  const { received } = connection;
  const all = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
  const headEnd = all.indexOf("\r\n\r\n");
  const head = headEnd < 0 ? "" : all.toString("latin1", 0, headEnd);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const end = headEnd + 4 + length;
  if (headEnd < 0 || all.length < end) {
    connection.received = Buffer.from(all);
    return;
  }
  connection.received = all.length === end ? NOTHING : Buffer.from(all.subarray(end));
  answer(connection, head, all.toString("latin1", end - length, end));
}

let answers = 0;

/** Requests come one after the other on a connection: each client waits for its answer. */
function answer(connection: Connection, head: string, body: string): void {
  answers += 1;
  const { replies, scripts } = formOf(head);
  if (head.includes("/search HTTP/1.1\r\n")) send(connection, anyOf(SEARCH_REPLIES));
  else if (body.includes('"stream":true')) {
    beginStream(connection, body, anyOf(scripts));
  } else if (!body.includes('"model":"slow')) send(connection, anyOf(replies));
  else setTimeout(() => send(connection, anyOf(replies)), SLOW_MS);
}

const CHAT = { replies: CHAT_REPLIES, scripts: STREAM_SCRIPTS };
const MESSAGES = { replies: MESSAGE_REPLIES, scripts: MESSAGE_SCRIPTS };
const RESPONSES = { replies: RESPONSE_REPLIES, scripts: RESPONSE_SCRIPTS };

function formOf(head: string) {
  if (head.includes("/messages HTTP/1.1\r\n")) return MESSAGES;
  return head.includes("/responses HTTP/1.1\r\n") ? RESPONSES : CHAT;
}

function anyOf<One>(all: readonly [One, ...One[]]): One {
  return all[answers % all.length] ?? all[0];
}

function beginStream(connection: Connection, body: string, script: StreamScript): void {
  const chunks = /"model":"chunks-(\d+)/.exec(body)?.[1];
  const count = chunks === undefined ? Number.POSITIVE_INFINITY : Number(chunks);
  connection.stream = { connection, script, chunks: count, sent: 1 };
  (chunks === undefined ? held : running).add(connection.stream);
  send(connection, script.beginning);
}

function send(connection: Connection, bytes: Buffer): void {
  const { socket, unsent } = connection;
  const all = unsent.length === 0 ? bytes : Buffer.concat([unsent, bytes]);
  const sent = Math.max(0, socket.write(all));
  connection.unsent = sent === all.length ? NOTHING : Buffer.from(all.subarray(sent));
}

function forget(stream: OpenStream): void {
  running.delete(stream);
  held.delete(stream);
}

function advance(stream: OpenStream): void {
  const { connection, script, chunks } = stream;
  if (stream.sent < chunks) {
    send(connection, script.chunks[stream.sent % script.chunks.length] ?? NOTHING);
    stream.sent += 1;
    return;
  }
  forget(stream);
  connection.stream = null;
  send(connection, script.end(chunks));
}
