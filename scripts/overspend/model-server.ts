// A model server for overspend tests: it answers after a while, and reports exactly as many output
// tokens as the caller allowed. So the price of a call is known before it (D-800).

const DELAY_MS = 300;
const PROMPT_TOKENS = 10;

/** The model of the server. Gateways must sell input at $0, and an output token at $0.001. */
export const MODEL = "overspend";
/** The price of an output token times this is a cent. */
export const TOKENS_PER_CENT = 10;

export interface ModelServer extends AsyncDisposable {
  /** With /v1, as the base URL of a provider. */
  readonly baseUrl: string;
}

interface ChatRequest {
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stream?: boolean;
}

/** Starts the server; a port of 0 is any free one, and only this machine reaches it. */
export function startModelServer(port = 0): ModelServer {
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/models")) {
        return Response.json({ object: "list", data: [{ id: MODEL, object: "model" }] });
      }
      if (!pathname.endsWith("/chat/completions")) {
        return Response.json({ error: { message: `No path ${pathname}` } }, { status: 404 });
      }
      const asked = (await request.json()) as ChatRequest;
      // Long enough that parallel calls are open at the same time.
      await Bun.sleep(DELAY_MS);
      return asked.stream === true ? streamed(asked) : Response.json(wholeReply(asked));
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function usageOf({ max_completion_tokens, max_tokens = 1 }: ChatRequest): object {
  const completion_tokens = max_completion_tokens ?? max_tokens;
  const total_tokens = PROMPT_TOKENS + completion_tokens;
  return { prompt_tokens: PROMPT_TOKENS, completion_tokens, total_tokens };
}

const HEAD = { id: "chatcmpl-overspend", created: 1, model: MODEL };
const TEXT = "Paid.";

function wholeReply(asked: ChatRequest): object {
  const message = { role: "assistant", content: TEXT };
  return {
    ...HEAD,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: usageOf(asked),
  };
}

/** Gateways that always ask their provider for a stream get one. */
function streamed(asked: ChatRequest): Response {
  const chunk = { ...HEAD, object: "chat.completion.chunk" };
  const delta = { role: "assistant", content: TEXT };
  const frames = [
    { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { ...chunk, choices: [], usage: usageOf(asked) },
  ];
  const lines = [...frames.map((frame) => JSON.stringify(frame)), "[DONE]"];
  return new Response(lines.map((line) => `data: ${line}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
}
