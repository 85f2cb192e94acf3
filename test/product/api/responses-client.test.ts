// Official clients of Responses against the door, by their defaults, for two turns each.

import { beforeEach, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import type {
  LanguageModelV4Content,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { Agent, applyPatchTool, OpenAIProvider, Runner, shellTool } from "@openai/agents";
import OpenAI, { APIError } from "openai";
import { COST, chatStream, chatWhole } from "../../support/api/messages-world.ts";
import { sharedResponses } from "../../support/api/responses-world.ts";

const world = await sharedResponses();
const { api, chat } = world;
const account = await api.account({ contract: "enterprise", paid: "100" });
const baseURL = `${api.parts.url}/v1`;
const client = new OpenAI({ baseURL, apiKey: account.key, maxRetries: 0 });
const model = "chat-test";

beforeEach(() => chat.reset());

const FARE = {
  type: "function",
  name: "fare",
  description: "The fare",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
} as const;
const CALL = {
  id: "call_1",
  type: "function",
  function: { name: "fare", arguments: '{"city":"Bern"}' },
} as const;
const callStream = () =>
  chatStream([{ content: "I look." }, { tool_calls: [{ index: 0, ...CALL }] }], "tool_calls");
const TURNS = [
  { role: "user", content: "Fare?" },
  { role: "assistant", content: "I look.", tool_calls: [CALL] },
  { role: "tool", tool_call_id: "call_1", content: "42" },
];

describe("the official client of OpenAI", () => {
  for (const how of ["whole", "streamed"] as const) {
    test(`calls a tool and gets its answer, ${how}`, async () => {
      const ask = async (input: OpenAI.Responses.ResponseInput) => {
        const body = { model, input, tools: [FARE] };
        if (how === "whole") return await client.responses.create(body);
        return await client.responses.stream(body).finalResponse();
      };
      chat.queue(
        how === "whole" ? chatWhole({ content: "I look.", tool_calls: [CALL] }) : callStream(),
      );
      const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Fare?" }];
      const first = await ask(input);
      expect(first.output_text).toBe("I look.");
      expect(first).toMatchObject({ status: "completed", usage: { total_tokens: 36 } });
      expect(first).toMatchObject({ svc: { cost_usd: COST } });
      const output = { type: "function_call_output", call_id: "call_1", output: "42" } as const;
      input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]), output);
      const said = { content: "It is 42." };
      chat.queue(how === "whole" ? chatWhole(said) : chatStream([said]));
      expect((await ask(input)).output_text).toBe("It is 42.");
      expect(chat.requests.at(-1)?.body.messages).toEqual(TURNS);
    });
  }

  test("reads structured output and a refusal", async () => {
    const schema = { type: "object", properties: { fare: { type: "number" } } };
    const format = { type: "json_schema", name: "fare", schema } as const;
    chat.queue(chatWhole({ content: '{"fare":42}' }));
    const reply = await client.responses.parse({ model, input: "Fare?", text: { format } });
    expect(reply.output_parsed).toEqual({ fare: 42 });
    const failed = client.responses.create({ model: "unheard-of", input: "Fare?" });
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 404, code: "model_not_found" });
  });

  test("counts the tokens of an input", async () => {
    const { input_tokens } = await client.responses.inputTokens.count({ model, input: "Fare?" });
    expect(input_tokens).toBeGreaterThan(0);
  });
});

type AssistantPart = Extract<
  LanguageModelV4Prompt[number],
  { readonly role: "assistant" }
>["content"][number];

describe("the AI SDK refers to items of the reply by default, and gets an answer", () => {
  const sdk = createOpenAI({ baseURL, apiKey: account.key })(model);
  const tools = [{ type: "function", name: "fare", inputSchema: FARE.parameters } as const];
  const user: LanguageModelV4Prompt[number] = {
    role: "user",
    content: [{ type: "text", text: "Fare?" }],
  };

  /** The second turn, with the content of the first as the SDK sends it back. */
  function secondTurn(content: readonly LanguageModelV4Content[]): LanguageModelV4Prompt {
    const said = content.flatMap((part): AssistantPart[] => {
      const { providerMetadata: providerOptions } = part;
      const own = providerOptions === undefined ? {} : { providerOptions };
      if (part.type === "text" || part.type === "reasoning") {
        return [{ type: part.type, text: part.text, ...own }];
      }
      if (part.type !== "tool-call") return [];
      const { toolCallId, toolName, input } = part;
      return [{ type: part.type, toolCallId, toolName, input: JSON.parse(input), ...own }];
    });
    const result = {
      type: "tool-result",
      toolCallId: "call_1",
      toolName: "fare",
      output: { type: "text", value: "42" },
    } as const;
    return [user, { role: "assistant", content: said }, { role: "tool", content: [result] }];
  }

  test("whole", async () => {
    chat.queue(chatWhole({ content: "I look.", tool_calls: [CALL] }));
    const { content } = await sdk.doGenerate({ prompt: [user], tools });
    chat.queue(chatWhole({ content: "It is 42." }));
    const second = await sdk.doGenerate({ prompt: secondTurn(content), tools });
    expect(JSON.stringify(second.request)).toContain("item_reference");
    expect(second.content).toMatchObject([{ type: "text", text: "It is 42." }]);
    expect(second.usage).toMatchObject({ inputTokens: { total: 26, cacheRead: 16 } });
    expect(chat.requests.at(-1)?.body.messages).toEqual(TURNS);
  });

  test("streamed", async () => {
    chat.queue(callStream());
    const first = await sdk.doStream({ prompt: [user], tools });
    const content = await contentOf(first.stream);
    chat.queue(chatStream([{ content: "It is 42." }]));
    const second = await sdk.doStream({ prompt: secondTurn(content), tools });
    expect(JSON.stringify(second.request)).toContain("item_reference");
    expect(await contentOf(second.stream)).toMatchObject([
      { type: "text", text: "It is 42." },
      { type: "reasoning", text: "" },
    ]);
    expect(chat.requests.at(-1)?.body.messages).toEqual(TURNS);
  });

  /** The parts of a stream put together, each of which must begin and end. */
  async function contentOf(
    stream: ReadableStream<LanguageModelV4StreamPart>,
  ): Promise<LanguageModelV4Content[]> {
    const content: LanguageModelV4Content[] = [];
    const open = new Map<string, string>();
    for await (const part of stream) {
      switch (part.type) {
        case "text-start":
        case "reasoning-start":
          open.set(part.id, "");
          break;
        case "text-delta":
        case "reasoning-delta":
          expect(open.has(part.id)).toBe(true);
          open.set(part.id, (open.get(part.id) ?? "") + part.delta);
          break;
        case "text-end":
        case "reasoning-end": {
          const text = open.get(part.id) ?? "";
          expect(open.delete(part.id)).toBe(true);
          const { providerMetadata } = part;
          const type = part.type === "text-end" ? "text" : "reasoning";
          content.push({ type, text, ...(providerMetadata && { providerMetadata }) });
          break;
        }
        case "tool-call":
          content.push(part);
          break;
        case "error":
          throw part.error;
        default:
      }
    }
    expect(open.size).toBe(0);
    return content;
  }
});

describe("the agents SDK runs a shell and patches by a model of another form", () => {
  const provider = new OpenAIProvider({ apiKey: account.key, baseURL });
  const runner = new Runner({ modelProvider: provider, tracingDisabled: true });

  test.each([false, true])("streamed: %p", async (stream) => {
    const done: unknown[] = [];
    const patched = async (operation: object) => {
      done.push(operation);
      return { status: "completed", output: "Done" } as const;
    };
    const outcome = { type: "exit", exitCode: 0 } as const;
    const agent = new Agent({
      name: "Conductor",
      model,
      tools: [
        shellTool({
          shell: {
            run: async ({ commands }) => {
              done.push(commands);
              return { output: [{ stdout: "4217", stderr: "", outcome }] };
            },
          },
        }),
        applyPatchTool({
          editor: { createFile: patched, updateFile: patched, deleteFile: patched },
        }),
      ],
    });
    const operation = { type: "create_file", path: "fare.txt", diff: "+4217" };
    const calls = [
      { name: "shell", arguments: JSON.stringify({ commands: ["fare Bern"] }) },
      { name: "apply_patch", arguments: JSON.stringify(operation) },
    ].map((called, at) => ({ id: `call_${at}`, type: "function", function: called }));
    for (const call of calls) {
      chat.queue(
        stream
          ? chatStream([{ tool_calls: [{ index: 0, ...call }] }], "tool_calls")
          : chatWhole({ content: null, tool_calls: [call] }, "tool_calls"),
      );
    }
    chat.queue(
      stream ? chatStream([{ content: "It is 42." }]) : chatWhole({ content: "It is 42." }),
    );
    if (stream) {
      const result = await runner.run(agent, "Fare?", { stream: true });
      await result.completed;
      expect(result.finalOutput).toBe("It is 42.");
    } else expect((await runner.run(agent, "Fare?")).finalOutput).toBe("It is 42.");
    expect(done).toMatchObject([["fare Bern"], operation]);
    const messages = chat.requests.at(-1)?.body.messages as readonly object[];
    expect(messages.slice(1)).toMatchObject([
      { role: "assistant", tool_calls: [calls[0]] },
      { role: "tool", content: expect.stringContaining("4217") },
      { role: "assistant", tool_calls: [calls[1]] },
      { role: "tool", content: expect.stringContaining("completed") },
    ]);
  });
});
