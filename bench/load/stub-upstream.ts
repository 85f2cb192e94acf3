// Answers as the upstream of every target: at once, with as little CPU as possible. The name of the
// model selects the answer: "plain", "chunks-200" (a stream of 200 chunks) or "held" (a stream that
// never ends). It answers searches like SearXNG.

import type { Socket } from "bun";

const CONTENT =
  "The quick brown fox jumps over the lazy dog, and then it rests for a while. ".repeat(3);
const PROMPT_TOKENS = 60;
const PLAIN_TOKENS = 50;
/** The time between two chunks of a stream. */
const TICK_MS = 5;
const HELD_TICK_MS = 2_000;

const PLAIN = JSON.stringify({
  id: "chatcmpl-stub",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "plain",
  choices: [{ index: 0, message: { role: "assistant", content: CONTENT }, finish_reason: "stop" }],
  usage: usage(PLAIN_TOKENS),
});
const FOUND = JSON.stringify({
  query: "prepaid gateway",
  results: Array.from({ length: 10 }, (_, index) => ({
    url: `https://docs.example.org/pages/${index}`,
    title: `Prepaid gateways &amp; page ${index}`,
    content: CONTENT,
    publishedDate: "2026-03-05T00:00:00",
    score: 1 / (index + 1),
  })),
});
const PLAIN_REPLY = reply(PLAIN);
const FOUND_REPLY = reply(FOUND);
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const STREAM_END = Buffer.from("0\r\n\r\n");

const FIRST = event({ delta: { role: "assistant", content: "Well" }, finish_reason: null });
const STREAM_BEGINNING = Buffer.concat([Buffer.from(STREAM_HEAD), FIRST]);
const NEXT = event({ delta: { content: " quickly" }, finish_reason: null });
const LAST = event({ delta: {}, finish_reason: "stop" });

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
  readonly chunks: number;
  left: number;
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

/** Requests come one after the other on a connection: each client waits for its answer. */
function answer(connection: Connection, head: string, body: string): void {
  if (head.includes("/search HTTP/1.1\r\n")) send(connection, FOUND_REPLY);
  else if (body.includes('"stream":true')) beginStream(connection, body);
  else send(connection, PLAIN_REPLY);
}

function beginStream(connection: Connection, body: string): void {
  const chunks = /"model":"chunks-(\d+)"/.exec(body)?.[1];
  const count = chunks === undefined ? Number.POSITIVE_INFINITY : Number(chunks);
  connection.stream = { connection, chunks: count, left: count - 1 };
  (chunks === undefined ? held : running).add(connection.stream);
  send(connection, STREAM_BEGINNING);
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
  const { connection, chunks } = stream;
  if (stream.left > 0) {
    stream.left -= 1;
    send(connection, NEXT);
    return;
  }
  forget(stream);
  connection.stream = null;
  const last = `data: ${chunk({ choices: [], usage: usage(chunks) })}\n\ndata: [DONE]\n\n`;
  send(connection, Buffer.concat([LAST, chunked(last), STREAM_END]));
}

/** A reply of JSON, head and body. */
function reply(json: string): Buffer {
  const length = Buffer.byteLength(json);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}`;
  return Buffer.from(`${head}\r\ndate: ${new Date().toUTCString()}\r\n\r\n${json}`);
}

/** One piece of a body of unknown length. */
function chunked(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

function event(choice: object): Buffer {
  return chunked(`data: ${chunk({ choices: [{ index: 0, ...choice }] })}\n\n`);
}

function chunk(fields: object): string {
  const head = { id: "chatcmpl-stub", object: "chat.completion.chunk", created: 1_700_000_000 };
  return JSON.stringify({ ...head, model: "stub", ...fields });
}

function usage(completionTokens: number): object {
  return {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: completionTokens,
    total_tokens: PROMPT_TOKENS + completionTokens,
  };
}
