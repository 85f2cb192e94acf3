// The checks of the AI SDK, which are the same with each of its providers.

import {
  APICallError,
  generateText,
  type LanguageModel,
  stepCountIs,
  streamText,
  tool as toolOf,
} from "ai";
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

const { key, model: usual, sentence } = SETTINGS;

/** The model of a provider that has this key. */
type ModelOf = (apiKey: string, model: string) => LanguageModel;

/** Runs the checks with the provider's models. */
export async function checkAiSdk(modelOf: ModelOf): Promise<void> {
  const model = modelOf(key, usual);
  await runChecks({
    chat: async () => {
      expectEqual((await generateText({ model, prompt: QUESTION })).text, sentence);
    },
    stream: async () => {
      let text = "";
      for await (const part of streamText({ model, prompt: QUESTION }).textStream) text += part;
      expectEqual(text, sentence);
    },
    tool: () => callTool(model),
    "401": () => expectError(modelOf(SETTINGS.revokedKey, usual), 401, "invalid_api_key"),
    "402": () =>
      expectError(modelOf(SETTINGS.poorKey, SETTINGS.expensiveModel), 402, "insufficient_credits"),
    "404": () => expectError(modelOf(key, UNKNOWN_MODEL), 404, "model_not_found"),
  });
}

async function callTool(model: LanguageModel): Promise<void> {
  const given: unknown[] = [];
  const { text } = await generateText({
    model,
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

/** The SDK tries again by itself where an answer does not forbid it. */
async function expectError(model: LanguageModel, status: number, code: string): Promise<void> {
  const error = await failureOf(generateText({ model, prompt: QUESTION }));
  if (!APICallError.isInstance(error)) throw error;
  expectEqual([error.statusCode, error.responseBody?.includes(code)], [status, true]);
}
