// Tests three clients that many programs are built on, against both surfaces: only the base address
// and the key change.

import { describe, expect, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { APICallError, generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import { rejection } from "../../support/api/rejection.ts";
import { startProduct } from "../../support/product/product.ts";
import { shared } from "../../support/shared.ts";

const SAID = "Fares are paid before the ride begins.";
const ASKED = "When do I pay?";
const FARE = z.object({ from: z.string().optional(), to: z.string().optional() });
const DESCRIPTION = "What a ride costs";

interface SurfaceAddress {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly model: string;
}

/** The steps of each client; `tools` returns the arguments of the tool call. */
interface Client {
  plain(place: SurfaceAddress): Promise<{ text: string; tokens: number | undefined }>;
  stream(place: SurfaceAddress): Promise<{ text: string; tokens: number | undefined }>;
  loop(place: SurfaceAddress): Promise<{ text: string; tools: object[] }>;
  /** The status, and the client's description of the error. */
  failure(place: SurfaceAddress): Promise<{ status: unknown; message: string }>;
}

const openai: Client = {
  async plain({ model, ...place }) {
    const client = new OpenAI({ ...place, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: ASKED }];
    const reply = await client.chat.completions.create({ model, messages });
    const text = reply.choices[0]?.message.content ?? "";
    return { text, tokens: reply.usage?.completion_tokens };
  },
  async stream({ model, ...place }) {
    const client = new OpenAI({ ...place, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: ASKED }];
    const stream = client.chat.completions.stream({ model, messages });
    const text = (await stream.finalContent()) ?? "";
    return { text, tokens: (await stream.totalUsage()).completion_tokens };
  },
  async loop({ model, ...place }) {
    const tools: object[] = [];
    const client = new OpenAI({ ...place, maxRetries: 0 });
    const runner = client.chat.completions.runTools({
      model,
      messages: [{ role: "user", content: ASKED }],
      tools: [
        {
          type: "function",
          function: {
            name: "get_fare",
            description: DESCRIPTION,
            parameters: {
              type: "object",
              properties: { from: { type: "string" }, to: { type: "string" } },
            },
            function: (given: string) => {
              tools.push(FARE.parse(JSON.parse(given)));
              return "3 dollars";
            },
          },
        },
      ],
    });
    return { text: (await runner.finalContent()) ?? "", tools };
  },
  async failure(place) {
    const error = await rejection(this.plain(place));
    if (!(error instanceof OpenAI.APIError)) throw error;
    return { status: error.status, message: `${error.code} ${error.message}` };
  },
};

function aiModel({ model, ...place }: SurfaceAddress) {
  return createOpenAICompatible({ name: "farebox", ...place, includeUsage: true })(model);
}

const aiSdk: Client = {
  async plain(place) {
    const asked = { model: aiModel(place), prompt: ASKED, maxRetries: 0 };
    const { text, usage } = await generateText(asked);
    return { text, tokens: usage.outputTokens };
  },
  async stream(place) {
    const { textStream, usage } = streamText({ model: aiModel(place), prompt: ASKED });
    let text = "";
    for await (const part of textStream) text += part;
    return { text, tokens: (await usage).outputTokens };
  },
  async loop(place) {
    const tools: object[] = [];
    const { text } = await generateText({
      model: aiModel(place),
      prompt: ASKED,
      stopWhen: stepCountIs(3),
      tools: {
        get_fare: tool({
          description: DESCRIPTION,
          inputSchema: FARE,
          execute: (given) => {
            tools.push(given);
            return "3 dollars";
          },
        }),
      },
    });
    return { text, tools };
  },
  async failure(place) {
    const error = await rejection(this.plain(place));
    if (!APICallError.isInstance(error)) throw error;
    return { status: error.statusCode, message: `${error.responseBody} ${error.message}` };
  },
};

function langchainModel({ baseURL, ...place }: SurfaceAddress): ChatOpenAI {
  return new ChatOpenAI({ ...place, configuration: { baseURL }, maxRetries: 0 });
}

/** The type is lost in the generics of the library. */
function outputTokens(message: { readonly usage_metadata?: unknown }): number | undefined {
  return (message.usage_metadata as { output_tokens: number } | undefined)?.output_tokens;
}

const langchain: Client = {
  async plain(place) {
    const reply = await langchainModel(place).invoke(ASKED);
    return { text: reply.text, tokens: outputTokens(reply) };
  },
  async stream(place) {
    let text = "";
    let tokens: number | undefined;
    for await (const chunk of await langchainModel(place).stream(ASKED)) {
      text += chunk.text;
      tokens = outputTokens(chunk) ?? tokens;
    }
    return { text, tokens };
  },
  async loop(place) {
    const tools: object[] = [];
    const getFare = langchainTool(
      (given) => {
        tools.push(given);
        return "3 dollars";
      },
      { name: "get_fare", description: DESCRIPTION, schema: FARE },
    );
    const model = langchainModel(place).bindTools([getFare]);
    const question = new HumanMessage(ASKED);
    const first = await model.invoke([question]);
    const results: ToolMessage[] = [];
    for (const call of first.tool_calls ?? []) results.push(await getFare.invoke(call as never));
    return { text: (await model.invoke([question, first, ...results])).text, tools };
  },
  async failure(place) {
    const error = (await rejection(this.plain(place))) as { status?: unknown; error?: object };
    return { status: error.status, message: JSON.stringify(error.error) };
  },
};

const CLIENTS = { openai, "AI SDK": aiSdk, LangChain: langchain };
const SURFACES = {
  gateway: { path: "/v1", model: "ok" },
  application: { path: "/api/v1", model: "auto" },
} as const;

const product = await shared(startProduct({ apis: 1, models: [{ id: "ok" }] }));

async function addressOf(surface: keyof typeof SURFACES, model?: string): Promise<SurfaceAddress> {
  const { path, model: usual } = SURFACES[surface];
  const { key: apiKey } = await product.account({ surface });
  return { baseURL: product.api(0).url + path, apiKey, model: model ?? usual };
}

for (const [name, client] of Object.entries(CLIENTS)) {
  describe.each(["gateway", "application"] as const)(`${name} on the %s surface`, (surface) => {
    test("gets a reply", async () => {
      expect(await client.plain(await addressOf(surface))).toEqual({ text: SAID, tokens: 8 });
    });

    test("gets a stream", async () => {
      expect(await client.stream(await addressOf(surface))).toEqual({ text: SAID, tokens: 8 });
    });

    test("goes through a tool loop", async () => {
      product.upstream.queue("tool-call", "ok");
      const { text, tools } = await client.loop(await addressOf(surface));
      expect(text).toBe(SAID);
      expect(tools).toContainEqual({ from: "A", to: "B" });
      const [first, second] = product.upstream.requests.slice(-2);
      expect(first?.body.tools).toMatchObject([{ function: { name: "get_fare" } }]);
      const roles = ["user", "assistant", "tool", "tool"].map((role) => ({ role }));
      expect(second?.body.messages).toMatchObject(roles);
    });

    test("gets an error", async () => {
      const { status, message } = await client.failure(await addressOf(surface, "none"));
      expect(status).toBe(404);
      expect(message).toContain("model must be an id from the list of models");
    });
  });
}

test("after all of them the books are right", async () => {
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
});
