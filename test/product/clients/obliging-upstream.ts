// Plays a model server over real HTTP that obeys: it calls the offered tool, fills in the given
// schema, and otherwise answers with one sentence. The test suites of client libraries need a model
// that obeys; fake-upstream.ts has the servers that misbehave.

const WORDS = ["Fares", " are", " paid", " before", " the", " ride", " begins", "."];

/** The answer to a plain question. */
export const SENTENCE = WORDS.join("");

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Tool {
  readonly function: { readonly name: string; readonly parameters?: Schema };
}

interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly tools?: readonly Tool[];
  readonly tool_choice?: string | { readonly function: { readonly name: string } };
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly schema?: Schema };
  };
}

/** The answer that the model decided on. */
type Decision =
  | { readonly kind: "text"; readonly parts: readonly string[] }
  | { readonly kind: "call"; readonly name: string; readonly given: string };

export interface ObligingUpstream extends AsyncDisposable {
  /** With /v1 and without a slash at its end, as a provider's `base_url`. */
  readonly baseUrl: string;
  /** The tokens of all replies of a model until now. */
  tokensOf(model: string): Tokens;
}

export interface Tokens {
  readonly prompt: number;
  readonly completion: number;
}

/** Starts the server on a free port; disposing it closes every connection. */
export function startObligingUpstream(): ObligingUpstream {
  const sums = new Map<string, Tokens>();
  const tokensOf = (model: string) => sums.get(model) ?? { prompt: 0, completion: 0 };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (!request.url.endsWith("/v1/chat/completions")) {
        return Response.json({ error: { message: "No such path" } }, { status: 404 });
      }
      const asked = (await request.json()) as ChatRequest;
      const decision = decide(asked);
      const usage = usageOf(asked, decision);
      const { prompt, completion } = tokensOf(asked.model);
      sums.set(asked.model, {
        prompt: prompt + usage.prompt_tokens,
        completion: completion + usage.completion_tokens,
      });
      return answer(asked, decision, usage);
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    tokensOf,
    [Symbol.asyncDispose]: async () => {
      await server.stop(true);
    },
  };
}

function answer(request: ChatRequest, decision: Decision, usage: object): Response {
  if (request.stream !== true) return Response.json(wholeReply(decision, usage));
  const withUsage = request.stream_options?.include_usage === true;
  const chunks = [...chunksOf(decision), ...(withUsage ? [chunk([], { usage })] : [])];
  const frames = [...chunks.map((one) => JSON.stringify(one)), "[DONE]"];
  const body = frames.map((frame) => `data: ${frame}\n\n`).join("");
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function decide(request: ChatRequest): Decision {
  const { messages, tools = [], tool_choice: choice = "auto", response_format: format } = request;
  const prompt = promptOf(messages);
  const isAnswered = messages.at(-1)?.role === "tool";
  const chosen = typeof choice === "object" ? choice.function.name : tools[0]?.function.name;
  const tool = tools.find((one) => one.function.name === chosen);
  if (tool !== undefined && choice !== "none" && (!isAnswered || choice !== "auto")) {
    const given = sampleOf(tool.function.parameters ?? {}, prompt);
    return { kind: "call", name: tool.function.name, given: JSON.stringify(given) };
  }
  if (format?.type === "json_schema") {
    return text(JSON.stringify(sampleOf(format.json_schema?.schema ?? {}, prompt)));
  }
  if (format?.type === "json_object") return text(JSON.stringify(keysNamedIn(prompt)));
  return { kind: "text", parts: WORDS };
}

function text(whole: string): Decision {
  const half = Math.ceil(whole.length / 2);
  return { kind: "text", parts: [whole.slice(0, half), whole.slice(half)] };
}

/** The text of a person's last message. */
function promptOf(messages: readonly Message[]): string {
  const content = messages.findLast(({ role }) => role === "user")?.content ?? "";
  return typeof content === "string" ? content : JSON.stringify(content);
}

/** A value that fits the schema, with the number and the name that the prompt has. */
function sampleOf(schema: Schema, prompt: string): unknown {
  const [choice] = schema.enum ?? [];
  if (choice !== undefined) return choice;
  const [first] = schema.anyOf ?? [];
  if (first !== undefined) return sampleOf(first, prompt);
  switch (schema.type) {
    case "integer":
    case "number":
      return Number(/\d+/.exec(prompt)?.[0] ?? 1);
    case "boolean":
      return true;
    case "array":
      return [sampleOf(schema.items ?? {}, prompt)];
    case "string":
      return /['"]([^'"]+)['"]/.exec(prompt)?.[1] ?? "a fare";
    default:
      return Object.fromEntries(
        (schema.required ?? []).map((name) => {
          return [name, sampleOf(schema.properties?.[name] ?? {}, prompt)];
        }),
      );
  }
}

/** An object with the keys that the prompt names in quotes or backticks. */
function keysNamedIn(prompt: string): Record<string, string> {
  const names = [...prompt.matchAll(/['"`](\w+)['"`]/g)].map(([, name = ""]) => name);
  return Object.fromEntries(names.map((name) => [name, "a fare"]));
}

function usageOf({ messages }: ChatRequest, decision: Decision) {
  const prompt_tokens = 4 + messages.length * 8;
  const completion_tokens = decision.kind === "text" ? decision.parts.length : 6;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function finishOf({ kind }: Decision): string {
  return kind === "call" ? "tool_calls" : "stop";
}

function toolCall(name: string, given: string): object {
  return { id: "call_1", type: "function", function: { name, arguments: given } };
}

function wholeReply(decision: Decision, usage: object): object {
  const message =
    decision.kind === "text"
      ? { role: "assistant", content: decision.parts.join("") }
      : {
          role: "assistant",
          content: null,
          tool_calls: [toolCall(decision.name, decision.given)],
        };
  const choices = [{ index: 0, message, finish_reason: finishOf(decision) }];
  return { id: "up-1", object: "chat.completion", created: 1, model: "m", choices, usage };
}

function chunksOf(decision: Decision): object[] {
  const deltas =
    decision.kind === "text"
      ? decision.parts.map((content) => ({ content }))
      : callDeltas(decision.name, decision.given);
  const last = { index: 0, delta: {}, finish_reason: finishOf(decision) };
  return [
    delta({ role: "assistant", content: decision.kind === "text" ? "" : null }),
    ...deltas.map(delta),
    chunk([last]),
  ];
}

/** A call in three parts, as models stream them: its name, then its arguments in two halves. */
function callDeltas(name: string, given: string): object[] {
  const half = Math.ceil(given.length / 2);
  const more = (part: string) => ({ tool_calls: [{ index: 0, function: { arguments: part } }] });
  return [
    { tool_calls: [{ index: 0, ...toolCall(name, "") }] },
    more(given.slice(0, half)),
    more(given.slice(half)),
  ];
}

function delta(fields: object): object {
  return chunk([{ index: 0, delta: fields, finish_reason: null }]);
}

function chunk(choices: readonly object[], more: object = {}): object {
  return { id: "up-1", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more };
}
