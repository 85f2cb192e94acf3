// Checks LangChain's chat model for OpenAI in JavaScript, as an application uses it.

import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import {
  expectEqual,
  failureOf,
  QUESTION,
  runChecks,
  SETTINGS,
  TOOL_ABOUT,
  TOOL_NAME,
  TOOL_QUESTION,
  UNKNOWN_MODEL,
} from "./checks.ts";

const { baseURL, key, model: usual, sentence } = SETTINGS;

function modelOf(apiKey = key, model: string = usual): ChatOpenAI {
  return new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0 });
}

async function chat(): Promise<void> {
  expectEqual((await modelOf().invoke(QUESTION)).text, sentence);
}

async function stream(): Promise<void> {
  let text = "";
  for await (const chunk of await modelOf().stream(QUESTION)) text += chunk.text;
  expectEqual(text, sentence);
}

async function tool(): Promise<void> {
  const schema = z.object({ stops: z.number().int() });
  const model = modelOf().bindTools([{ name: TOOL_NAME, description: TOOL_ABOUT, schema }]);
  const reply = await model.invoke(TOOL_QUESTION);
  const calls = (reply.tool_calls ?? []).map(({ name, args }) => [name, args]);
  expectEqual(calls, [[TOOL_NAME, { stops: 3 }]]);
}

/** The error of the underlying SDK, of which LangChain has its own copy. */
async function expectError(model: ChatOpenAI, status: number, code: string): Promise<void> {
  const error = await failureOf(model.invoke(QUESTION));
  if (!(error instanceof Error && "status" in error && "code" in error)) throw error;
  expectEqual([error.status, error.code], [status, code]);
}

await runChecks({
  chat,
  stream,
  tool,
  "401": () => expectError(modelOf(SETTINGS.revokedKey), 401, "invalid_api_key"),
  "402": () =>
    expectError(modelOf(SETTINGS.poorKey, SETTINGS.expensiveModel), 402, "insufficient_credits"),
  "404": () => expectError(modelOf(key, UNKNOWN_MODEL), 404, "model_not_found"),
});
