// Checks OpenAI's Agents SDK by its defaults: Responses, and a run that ends with an answer.

import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as toolOf } from "@openai/agents";
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

// Traces would go to OpenAI.
setTracingDisabled(true);

function runnerOf(apiKey = key): Runner {
  return new Runner({ modelProvider: new OpenAIProvider({ apiKey, baseURL }) });
}

function agentOf(model: string = usual): Agent {
  return new Agent({ name: "Conductor", instructions: "Answer briefly.", model });
}

async function chat(): Promise<void> {
  expectEqual((await runnerOf().run(agentOf(), QUESTION)).finalOutput, sentence);
}

async function stream(): Promise<void> {
  const result = await runnerOf().run(agentOf(), QUESTION, { stream: true });
  let text = "";
  for await (const part of result.toTextStream()) text += part;
  await result.completed;
  expectEqual([text, result.finalOutput], [sentence, sentence]);
}

async function tool(): Promise<void> {
  const given: unknown[] = [];
  const fare = toolOf({
    name: TOOL_NAME,
    description: TOOL_ABOUT,
    parameters: z.object({ stops: z.number().int() }),
    execute: (input) => {
      given.push(input);
      return "3 dollars";
    },
  });
  const agent = new Agent({ name: "Conductor", model: usual, tools: [fare] });
  const { finalOutput } = await runnerOf().run(agent, TOOL_QUESTION);
  expectEqual([finalOutput, given], [sentence, [{ stops: 3 }]]);
}

async function schema(): Promise<void> {
  const outputType = z.object({ stops: z.number().int() });
  const agent = new Agent({ name: "Conductor", model: usual, outputType });
  const { finalOutput } = await runnerOf().run(agent, TOOL_QUESTION);
  expectEqual(finalOutput, { stops: 3 });
}

async function expectError(apiKey: string, model: string, status: number, code: string) {
  const error = await failureOf(runnerOf(apiKey).run(agentOf(model), QUESTION));
  if (!(error instanceof Error && "status" in error && "code" in error)) throw error;
  expectEqual([error.status, error.code], [status, code]);
}

await runChecks({
  chat,
  stream,
  tool,
  schema,
  "401": () => expectError(SETTINGS.revokedKey, usual, 401, "invalid_api_key"),
  "402": () => expectError(SETTINGS.poorKey, SETTINGS.expensiveModel, 402, "insufficient_credits"),
  "404": () => expectError(key, UNKNOWN_MODEL, 404, "model_not_found"),
});
