// Plays a model server that makes the scripted calls of tools one after the other, and then says
// that it is done.

import type { Step } from "./agents.ts";

interface ChatRequest {
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly unknown[];
  readonly stream?: boolean;
}

/** Of each reply. */
export const AGENT_USAGE = { prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050 };
/** In USD for a million tokens. */
export const AGENT_PRICES = { input: "3", output: "15" };
/** $0.003 for the prompt, $0.00075 for the reply. */
export const REPLY_USD = 0.00375;

export interface AgentModel extends AsyncDisposable {
  readonly baseUrl: string;
  /** The replies since the last script. */
  readonly replies: number;
  /** From now on the model works at this file. */
  script(steps: readonly Step[], file: string): void;
}

/** Starts the server on a free port. */
export function startAgentModel(): AgentModel {
  let steps: readonly Step[] = [];
  let file = "";
  let replies = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { messages, tools = [], stream } = (await request.json()) as ChatRequest;
      replies += 1;
      // A request without tools is for a title or a summary.
      const done = messages.filter(({ role }) => role === "tool").length;
      const step = tools.length === 0 ? undefined : steps[done];
      const message = step === undefined ? { content: "Done." } : callOf(step, done, file);
      const finish_reason = step === undefined ? "stop" : "tool_calls";
      return stream === true ? streamOf(message, finish_reason) : wholeOf(message, finish_reason);
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    get replies() {
      return replies;
    },
    script(next, at) {
      [steps, file, replies] = [next, at, 0];
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop(true);
    },
  };
}

function callOf({ tool, given }: Step, index: number, file: string): object {
  const called = { name: tool, arguments: JSON.stringify(given(file)) };
  const call = { index: 0, id: `call_${index}`, type: "function", function: called };
  return { content: null, tool_calls: [call] };
}

function wholeOf(message: object, finish_reason: string): Response {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason }];
  return Response.json({ id: "up-1", choices, usage: AGENT_USAGE });
}

function streamOf(delta: object, finish_reason: string): Response {
  const chunk = (choices: readonly object[], more: object = {}) =>
    JSON.stringify({ id: "up-1", object: "chat.completion.chunk", choices, ...more });
  const data = [
    chunk([{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason }]),
    chunk([], { usage: AGENT_USAGE }),
    "[DONE]",
  ];
  const body = data.map((one) => `data: ${one}\n\n`).join("");
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
