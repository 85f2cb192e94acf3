// Checks the official JavaScript SDK.

import OpenAI from "openai";
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

const { baseURL, key, model, sentence } = SETTINGS;

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0 });
}

const client = clientOf(key);
const messages = [{ role: "user" as const, content: QUESTION }];
const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: TOOL_NAME,
      description: TOOL_ABOUT,
      parameters: {
        type: "object",
        properties: { stops: { type: "integer" } },
        required: ["stops"],
      },
    },
  },
];

/** A choice or an object that must exist; naive programs take it for granted. */
function present<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("Cannot read a choice that is not there");
  return value;
}

async function chat(): Promise<void> {
  const reply = await client.chat.completions.create({ model, messages });
  expectEqual(present(reply.choices[0]).message.content, sentence);
}

async function stream(): Promise<void> {
  let text = "";
  for await (const chunk of await client.chat.completions.create({
    model,
    messages,
    stream: true,
  })) {
    text += present(chunk.choices[0]).delta.content ?? "";
  }
  expectEqual(text, sentence);
}

async function tool(): Promise<void> {
  const asked: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: TOOL_QUESTION }];
  const first = await client.chat.completions.create({ model, messages: asked, tools });
  const { message } = present(first.choices[0]);
  const [call] = message.tool_calls ?? [];
  if (call?.type !== "function") throw new Error("No function was called");
  expectEqual([call.function.name, JSON.parse(call.function.arguments)], [TOOL_NAME, { stops: 3 }]);
  asked.push(message, { role: "tool", tool_call_id: call.id, content: "3 dollars" });
  const second = await client.chat.completions.create({ model, messages: asked, tools });
  expectEqual(present(second.choices[0]).message.content, sentence);
}

async function list(): Promise<void> {
  const models: OpenAI.Model[] = [];
  for await (const one of client.models.list()) models.push(one);
  const listed = present(models.find(({ id }) => id === model));
  expectEqual([listed.object, typeof listed.created], ["model", "number"]);
}

async function retrieve(): Promise<void> {
  const one = await client.models.retrieve(model);
  expectEqual([one.id, one.object, typeof one.created], [model, "model", "number"]);
}

async function error401(): Promise<void> {
  const call = clientOf(SETTINGS.revokedKey).chat.completions.create({ model, messages });
  const error = await failureOf(call);
  if (!(error instanceof OpenAI.AuthenticationError)) throw error;
  expectEqual([error.status, error.code], [401, "invalid_api_key"]);
}

async function error402(): Promise<void> {
  const asked = { model: SETTINGS.expensiveModel, messages };
  const error = await failureOf(clientOf(SETTINGS.poorKey).chat.completions.create(asked));
  if (!(error instanceof OpenAI.APIError)) throw error;
  expectEqual([error.status, error.code], [402, "insufficient_credits"]);
}

async function error404(): Promise<void> {
  const error = await failureOf(client.chat.completions.create({ model: UNKNOWN_MODEL, messages }));
  if (!(error instanceof OpenAI.NotFoundError)) throw error;
  expectEqual(error.code, "model_not_found");
}

await runChecks({
  chat,
  stream,
  tool,
  list,
  retrieve,
  "401": error401,
  "402": error402,
  "404": error404,
});
