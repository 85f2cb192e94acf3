// The upstream of every target. It answers at once with as little CPU as possible. The name of the
// model selects the answer: "plain", "chunks-200" (a stream of 200 chunks) or "held" (a stream that
// never ends). It answers searches like SearXNG.

const CONTENT =
  "The quick brown fox jumps over the lazy dog, and then it rests for a while. ".repeat(3);
const PROMPT_TOKENS = 60;
const PLAIN_TOKENS = 50;
/** The time between two chunks of a stream. */
const TICK_MS = 5;
const HELD_TICK_MS = 2_000;

const encode = new TextEncoder();

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
const JSON_HEADERS = { "content-type": "application/json" };
const STREAM_HEADERS = { "content-type": "text/event-stream" };

const FIRST = event({ delta: { role: "assistant", content: "Well" }, finish_reason: null });
const NEXT = event({ delta: { content: " quickly" }, finish_reason: null });
const LAST = event({ delta: {}, finish_reason: "stop" });

interface OpenStream {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly chunks: number;
  left: number;
}

const running = new Set<OpenStream>();
const held = new Set<OpenStream>();

// One timer for all streams, because a timer for each stream would cost more than the chunks.
setInterval(() => running.forEach(advance), TICK_MS);
setInterval(() => held.forEach(advance), HELD_TICK_MS);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  idleTimeout: 0,
  async fetch(request) {
    const body = await request.text();
    if (request.url.endsWith("/search")) return new Response(FOUND, { headers: JSON_HEADERS });
    if (!body.includes('"stream":true')) return new Response(PLAIN, { headers: JSON_HEADERS });
    const chunks = /"model":"chunks-(\d+)"/.exec(body)?.[1];
    return chunks === undefined
      ? stream(held, Number.POSITIVE_INFINITY)
      : stream(running, Number(chunks));
  },
});
console.log(`The upstream listens on ${server.port}`);

function stream(group: Set<OpenStream>, chunks: number): Response {
  let opened: OpenStream | null = null;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(FIRST);
      opened = { controller, chunks, left: chunks - 1 };
      group.add(opened);
    },
    cancel() {
      if (opened !== null) group.delete(opened);
    },
  });
  return new Response(body, { headers: STREAM_HEADERS });
}

function advance(open: OpenStream, _same: OpenStream, group: Set<OpenStream>): void {
  if (open.left > 0) {
    open.left -= 1;
    open.controller.enqueue(NEXT);
    return;
  }
  group.delete(open);
  open.controller.enqueue(LAST);
  open.controller.enqueue(
    encode.encode(`data: ${chunk({ choices: [], usage: usage(open.chunks) })}\n\ndata: [DONE]\n\n`),
  );
  open.controller.close();
}

function event(choice: object): Uint8Array {
  return encode.encode(`data: ${chunk({ choices: [{ index: 0, ...choice }] })}\n\n`);
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
