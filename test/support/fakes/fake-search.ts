// Serves searches on 127.0.0.1 according to a mood, and records the requests.

import { REPLIES, replyWith, type ServiceName } from "./search-replies.ts";

export interface SearchQuestion {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  /** The parameters of the query string, or of the form in the body. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The JSON of the body; null without one. */
  readonly json: Readonly<Record<string, unknown>> | null;
}

export interface FakeSearch extends AsyncDisposable {
  readonly baseUrl: string;
  readonly questions: SearchQuestion[];
  /** The mood for the next requests. */
  mood: string;
  /** If set, answers requests by their number instead of a mood. */
  answer: ((question: SearchQuestion, index: number) => Response | Promise<Response>) | null;
}

/** Secrets in the replies of a service, which must not reach a caller. */
export const SERVICE_SECRET = "internal-7c1d quota of ops@secret.example";

/** Moods in which every request to a service fails. */
export const BAD_MOODS =
  "400 401 403 404 408 422 429 500 503 redirect bad-json not-json wrong-shape null list huge " +
  "stall hang";

const HUGE_BYTES = 6 * 1024 * 1024;

export function startFakeSearch(kind: ServiceName): FakeSearch {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const question = await questionOf(request);
      fake.questions.push(question);
      if (fake.answer !== null) return await fake.answer(question, fake.questions.length - 1);
      return await answerIn(fake.mood, kind);
    },
  });
  const fake: FakeSearch = {
    baseUrl: `http://127.0.0.1:${server.port}`,
    questions: [],
    mood: "ok",
    answer: null,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return fake;
}

async function questionOf(request: Request): Promise<SearchQuestion> {
  const url = new URL(request.url);
  const text = await request.text();
  const isJson = request.headers.get("content-type") === "application/json";
  const parameters = text !== "" && !isJson ? new URLSearchParams(text) : url.searchParams;
  return {
    method: request.method,
    path: url.pathname,
    headers: request.headers,
    parameters: Object.fromEntries(parameters),
    json: isJson ? (JSON.parse(text) as Record<string, unknown>) : null,
  };
}

async function answerIn(mood: string, kind: ServiceName): Promise<Response> {
  if (/^\d{3}$/.test(mood)) {
    return Response.json({ error: { message: SERVICE_SECRET } }, { status: Number(mood) });
  }
  switch (mood) {
    case "none":
      return Response.json(replyWith(kind, []));
    case "redirect":
      return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
    case "bad-json":
      return new Response('{"results": [{');
    case "not-json":
      return new Response(`<html>${SERVICE_SECRET}</html>`);
    case "wrong-shape":
      return Response.json({ results: { 0: "x" }, organic: "x", web: [] });
    case "null":
      return new Response("null");
    case "list":
      return Response.json([]);
    case "huge":
      return new Response(hugeBody());
    case "stall":
      return new Response(endlessBody());
    case "hang":
      return await new Promise<never>(() => {});
    default:
      return Response.json(REPLIES[kind]);
  }
}

function hugeBody(): ReadableStream<Uint8Array> {
  const piece = new TextEncoder().encode(" ".repeat(64 * 1024));
  let left = HUGE_BYTES / piece.byteLength;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(piece);
      left -= 1;
      if (left <= 0) controller.close();
    },
  });
}

function endlessBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"results": [')),
  });
}
