// A server of models for the walk, in the protocol of OpenAI: it takes one key, as the providers of
// an operator do.

import { randomBytes } from "node:crypto";

const MODEL = "kettle-large";
const USAGE = { prompt_tokens: 12, completion_tokens: 30, total_tokens: 42 };

export interface ModelServer extends Disposable {
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
}

export function startModelServer(): ModelServer {
  const key = `sk-${randomBytes(16).toString("hex")}`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ headers, url }) {
      if (headers.get("authorization") !== `Bearer ${key}`) {
        return Response.json({ error: { message: "Wrong key" } }, { status: 401 });
      }
      return Response.json(url.endsWith("/models") ? { data: [{ id: MODEL }] } : reply());
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    key,
    model: MODEL,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

function reply(): object {
  const message = { role: "assistant", content: "Water boils at 100 degrees at sea level." };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return { id: "1", object: "chat.completion", created: 1, model: MODEL, choices, usage: USAGE };
}
