// Checks the AI SDK, with its provider for servers that are compatible with OpenAI.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, stepCountIs, streamText, tool as toolOf } from "ai";
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
} from "./checks.ts";

const { baseURL, key, model: usual, sentence } = SETTINGS;

function modelOf(apiKey = key, model: string = usual) {
  return createOpenAICompatible({ name: "farebox", baseURL, apiKey })(model);
}

async function chat(): Promise<void> {
  expectEqual((await generateText({ model: modelOf(), prompt: QUESTION })).text, sentence);
}

async function stream(): Promise<void> {
  let text = "";
  for await (const part of streamText({ model: modelOf(), prompt: QUESTION }).textStream) {
    text += part;
  }
  expectEqual(text, sentence);
}

async function tool(): Promise<void> {
  const given: unknown[] = [];
  const { text } = await generateText({
    model: modelOf(),
    prompt: TOOL_QUESTION,
    stopWhen: stepCountIs(3),
    tools: {
      [TOOL_NAME]: toolOf({
        description: TOOL_ABOUT,
        inputSchema: z.object({ stops: z.number().int() }),
        execute: (input) => {
          given.push(input);
          return "3 dollars";
        },
      }),
    },
  });
  expectEqual([text, given], [sentence, [{ stops: 3 }]]);
}

async function expectError(apiKey: string, model: string, status: number, code: string) {
  const asked = { model: modelOf(apiKey, model), prompt: QUESTION, maxRetries: 0 };
  const error = await failureOf(generateText(asked));
  if (!APICallError.isInstance(error)) throw error;
  expectEqual([error.statusCode, error.responseBody?.includes(code)], [status, true]);
}

await runChecks({
  chat,
  stream,
  tool,
  "401": () => expectError(SETTINGS.wrongKey, usual, 401, "invalid_api_key"),
  "402": () => expectError(SETTINGS.poorKey, SETTINGS.expensiveModel, 402, "insufficient_credits"),
});
