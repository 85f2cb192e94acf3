// Tries each part of a request at each door with each form of server, and compares the outcome with
// the table of docs/providers.md, which this file wrote.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import { chatOver } from "../../support/api/chat-routes.ts";
import { pdfUrl, pngUrl } from "../../support/api/images.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { CHAT_WIRES } from "../../support/fakes/wire/chat-wire.ts";
import type { WireForm } from "../../support/fakes/wire/wire-answer.ts";
import { WIRE_FORMS } from "../../support/fakes/wire/wire-forms.ts";
import { startWireServer } from "../../support/fakes/wire/wire-server.ts";
import { shared } from "../../support/shared.ts";

interface Server {
  /** The name of the provider in the configuration. */
  readonly provider: string;
  readonly model: string;
  readonly wire: WireForm;
  readonly more?: object;
}

/** By the heading of the column. */
const SERVERS: Readonly<Record<string, Server>> = {
  Chat: { provider: "openai-compatible", model: "model-x", wire: CHAT_WIRES.openai },
  Responses: {
    provider: "openai-responses",
    model: "gpt-5.6-sol",
    wire: WIRE_FORMS["openai-responses"],
  },
  Anthropic: { provider: "anthropic", model: "claude-opus-5", wire: WIRE_FORMS.anthropic },
  Gemini: { provider: "google", model: "gemini-2.5-pro", wire: WIRE_FORMS.google },
  Bedrock: {
    provider: "amazon-bedrock",
    model: "us.anthropic.claude-opus-4-8-v1:0",
    wire: WIRE_FORMS["amazon-bedrock"],
    more: { region: "eu-central-1" },
  },
  Cohere: {
    provider: "cohere",
    model: "command-a-reasoning-08-2025",
    wire: WIRE_FORMS.cohere,
  },
};

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const CALLED = { name: "fare", parameters: SCHEMA };
const CHAT_TOOL = { type: "function", function: CALLED };
const RESPONSES_TOOL = { type: "function", ...CALLED };
const MESSAGES_TOOL = { name: "fare", input_schema: SCHEMA };
const ASKED = { role: "user", content: "Fare?" };
const PNG = pngUrl(64, 64);
const PDF = pdfUrl();
const base64Of = (url: string) => url.slice(url.indexOf(",") + 1);
const RESULT = "4217 cents";
/** A tool that OpenAI runs, and bills for each image. */
const IMAGES_OF_OPENAI = "image_generation of OpenAI";
const SHELL = { type: "shell", environment: { type: "local" } };
const CALLED_THERE = { server_label: "fares", name: "fare", arguments: "{}" };
const GRAMMAR = { type: "grammar", syntax: "lark", definition: "start: /.+/" };

const THOUGHT = "It is far.";

/** A call of a tool that a thought led to, at Messages. */
function thoughtful(more: object): object[] {
  const call = { type: "tool_use", id: "c1", name: "fare", input: {} };
  const result = { type: "tool_result", tool_use_id: "c1", content: RESULT };
  const thought = { type: "thinking", thinking: THOUGHT, ...more };
  return [
    ASKED,
    { role: "assistant", content: [thought, call] },
    { role: "user", content: [result] },
  ];
}

interface Door {
  readonly path: string;
  /** The fields of every body. */
  readonly base: object;
  /** By the name of the row: the fields that are added to the body. */
  readonly features: Readonly<Record<string, object>>;
}

const DOORS: Readonly<Record<string, Door>> = {
  Chat: {
    path: "/v1/chat/completions",
    base: { messages: [ASKED] },
    features: {
      text: {},
      stream: { stream: true },
      "functions, forced": { tools: [CHAT_TOOL], tool_choice: "required" },
      "output of a function": {
        tools: [CHAT_TOOL],
        messages: [
          ASKED,
          {
            role: "assistant",
            content: null,
            tool_calls: [
              { id: "call_1", type: "function", function: { name: "fare", arguments: "{}" } },
            ],
          },
          { role: "tool", tool_call_id: "call_1", content: RESULT },
        ],
      },
      image: {
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: PNG } }] }],
      },
      PDF: {
        messages: [
          {
            role: "user",
            content: [{ type: "file", file: { filename: "a.pdf", file_data: PDF } }],
          },
        ],
      },
      "JSON by a schema": {
        response_format: { type: "json_schema", json_schema: { name: "fare", schema: SCHEMA } },
      },
      effort: { reasoning_effort: "low" },
      "log probabilities": { logprobs: true },
      [IMAGES_OF_OPENAI]: { tools: [{ type: "image_generation" }] },
    },
  },
  Responses: {
    path: "/v1/responses",
    base: { input: [ASKED] },
    features: {
      text: {},
      stream: { stream: true },
      "functions, forced": { tools: [RESPONSES_TOOL], tool_choice: "required" },
      "output of a function": {
        tools: [RESPONSES_TOOL],
        input: [
          ASKED,
          { type: "function_call", call_id: "call_1", name: "fare", arguments: "{}" },
          { type: "function_call_output", call_id: "call_1", output: RESULT },
        ],
      },
      "custom tool with a grammar": { tools: [{ type: "custom", name: "edit", format: GRAMMAR }] },
      namespace: { tools: [{ type: "namespace", name: "fares", tools: [RESPONSES_TOOL] }] },
      image: { input: [{ role: "user", content: [{ type: "input_image", image_url: PNG }] }] },
      PDF: {
        input: [
          {
            role: "user",
            content: [{ type: "input_file", filename: "a.pdf", file_data: PDF }],
          },
        ],
      },
      "JSON by a schema": {
        text: { format: { type: "json_schema", name: "fare", schema: SCHEMA } },
      },
      effort: { reasoning: { effort: "low" } },
      "sealed thought": {
        include: ["reasoning.encrypted_content"],
        input: [ASKED, { type: "reasoning", summary: [], encrypted_content: "c2VhbGVk" }, ASKED],
      },
      "thought in words": {
        input: [
          ASKED,
          { type: "reasoning", summary: [{ type: "summary_text", text: THOUGHT }] },
          { role: "assistant", content: "One." },
          ASKED,
        ],
      },
      "shell of the caller": { tools: [SHELL] },
      "local_shell of the caller": { tools: [{ type: "local_shell" }] },
      "apply_patch of the caller": { tools: [{ type: "apply_patch" }] },
      "computer of the caller": { tools: [{ type: "computer" }] },
      "output of a shell": {
        tools: [SHELL],
        input: [
          ASKED,
          { type: "shell_call", call_id: "call_1", action: { commands: ["fare"] } },
          { type: "shell_call_output", call_id: "call_1", output: [{ stdout: RESULT }] },
        ],
      },
      "screen of a computer": {
        tools: [RESPONSES_TOOL],
        input: [
          ASKED,
          { type: "computer_call", call_id: "call_1", action: { type: "screenshot" } },
          { type: "computer_call_output", call_id: "call_1", output: { image_url: PNG } },
        ],
      },
      "call of an MCP server": {
        tools: [RESPONSES_TOOL],
        input: [ASKED, { type: "mcp_call", ...CALLED_THERE, output: RESULT }],
      },
      "run of code": {
        tools: [RESPONSES_TOOL],
        input: [
          ASKED,
          { type: "code_interpreter_call", code: "fare()", outputs: [{ logs: RESULT }] },
        ],
      },
      "search in files": {
        tools: [RESPONSES_TOOL],
        input: [
          ASKED,
          { type: "file_search_call", queries: ["fare"], results: [{ text: RESULT }] },
        ],
      },
      "tools that were found": {
        input: [ASKED, { type: "tool_search_output", tools: [RESPONSES_TOOL] }],
      },
      "shell of a provider": {
        tools: [{ type: "shell", environment: { type: "container_auto" } }],
      },
      "web_search of a provider": { tools: [{ type: "web_search" }] },
      [IMAGES_OF_OPENAI]: { tools: [{ type: "image_generation" }] },
    },
  },
  Messages: {
    path: "/v1/messages",
    base: { max_tokens: 100, messages: [ASKED] },
    features: {
      text: {},
      stream: { stream: true },
      "functions, forced": { tools: [MESSAGES_TOOL], tool_choice: { type: "any" } },
      "output of a function": {
        tools: [MESSAGES_TOOL],
        messages: [
          ASKED,
          { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "fare", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: RESULT }] },
        ],
      },
      image: {
        messages: [
          {
            role: "user",
            content: [
              {
                type: "image",
                source: { type: "base64", media_type: "image/png", data: base64Of(PNG) },
              },
            ],
          },
        ],
      },
      PDF: {
        messages: [
          {
            role: "user",
            content: [
              {
                type: "document",
                source: { type: "base64", media_type: "application/pdf", data: base64Of(PDF) },
              },
            ],
          },
        ],
      },
      thinking: { max_tokens: 4_000, thinking: { type: "enabled", budget_tokens: 1_024 } },
      "signed thought": { tools: [MESSAGES_TOOL], messages: thoughtful({ signature: "c2VhbGVk" }) },
      "thought in words": { tools: [MESSAGES_TOOL], messages: thoughtful({}) },
      "cache marks": {
        system: [{ type: "text", text: "Be brief", cache_control: { type: "ephemeral" } }],
      },
      "system among the messages": { messages: [ASKED, { role: "system", content: "Be brief" }] },
      "call of an MCP server": {
        tools: [MESSAGES_TOOL],
        messages: [
          ASKED,
          {
            role: "assistant",
            content: [
              { type: "mcp_tool_use", id: "c1", name: "fare", server_name: "fares", input: {} },
              { type: "mcp_tool_result", tool_use_id: "c1", content: RESULT },
            ],
          },
          ASKED,
        ],
      },
      [IMAGES_OF_OPENAI]: { tools: [{ type: "image_generation", name: "image_generation" }] },
    },
  },
};

/** The form of each part in the request of a server, by the name of the row. */
const MARKS: Readonly<Record<string, RegExp>> = {
  text: /Fare\?/,
  stream: /"stream":true|\/converse-stream|:streamGenerateContent/,
  "functions, forced": /"(toolC|tool_c)(hoice|onfig).*("required"|"REQUIRED"|"ANY"|"any")/,
  "output of a function": /4217 cents/,
  image: new RegExp(RegExp.escape(base64Of(PNG))),
  PDF: new RegExp(RegExp.escape(base64Of(PDF))),
  "JSON by a schema": /"city"/,
  effort: /effort":"low"|thinking|budget/i,
  "log probabilities": /"logprobs":true/,
  "custom tool with a grammar": /start: \/\.\+\//,
  namespace: /"city"/,
  "sealed thought": /c2VhbGVk/,
  "signed thought": /c2VhbGVk/,
  "thought in words": /It is far\./,
  "shell of the caller": /"type":"shell"|"commands"/,
  "local_shell of the caller": /local_shell/,
  "apply_patch of the caller": /apply_patch/,
  "computer of the caller": /"computer"/,
  "output of a shell": /4217 cents/,
  "screen of a computer": new RegExp(RegExp.escape(base64Of(PNG))),
  "call of an MCP server": /4217 cents/,
  "run of code": /4217 cents/,
  "search in files": /4217 cents/,
  "tools that were found": /"city"/,
  "shell of a provider": /container_auto/,
  "web_search of a provider": /web_search/,
  thinking: /1024/,
  "cache marks": /"cache_control"|"cachePoint"/,
  "system among the messages": /Be brief/,
  [IMAGES_OF_OPENAI]: /image_generation/,
};

const ANSWER = {
  text: ["Paid ", "before"],
  end: "stop",
  usage: { uncached: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 },
} as const;

const server = await shared(startWireServer());
const catalogue = parseCatalogue(
  JSON.stringify({
    providers: Object.fromEntries(
      Object.values(SERVERS).map(({ provider, more }) => [
        provider,
        { provider, base_url: server.url, api_key_env: "KEY", ...more },
      ]),
    ),
    models: Object.entries(SERVERS).map(([id, { provider, model }]) => ({
      id,
      label: id,
      family: "fake",
      owned_by: "fake",
      context_length: 100_000,
      free_credit_eligible: false,
      takes: provider === "cohere" ? ["image"] : ["image", "pdf"],
      image_tokens: 1_000,
      ...(provider !== "cohere" && { pdf_tokens: 1_000 }),
      pricing: [{ input_usd_per_m: "1", output_usd_per_m: "2" }],
      routes: [{ provider, model }],
    })),
  }),
  { KEY: "sk-canary" },
);
const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });
const account = await api.account({ contract: "enterprise", paid: "100" });

/** The words of the table. */
const SERVED = "yes";

function markOf(name: string): RegExp {
  const mark = MARKS[name];
  if (mark === undefined) throw new Error(`There is no mark of ${name}`);
  return mark;
}

/** The fate of a part of a request. Throws if it is said to be served, but was not sent. */
async function fateOf(door: Door, name: string, to: string): Promise<string> {
  const { wire } = SERVERS[to] ?? SERVERS.Chat ?? {};
  if (wire === undefined) throw new Error(`There is no server ${to}`);
  const feature = door.features[name] ?? {};
  server.reset();
  server.queue("stream" in feature ? wire.stream(ANSWER) : wire.whole(ANSWER));
  const response = await api.postTo(door.path, account, { model: to, ...door.base, ...feature });
  const text = await response.text();
  if (response.status === 400) return "400";
  expect([response.status, response.status === 200 ? "" : text]).toEqual([200, ""]);
  if ("stream" in feature) expect(text).toContain("before");
  const [, ignored = ""] = /"ignored":\[([^\]]*)\]/.exec(text) ?? [];
  const { path = "", body } = server.requests.at(-1) ?? {};
  const sent = `${path} ${JSON.stringify(body)}`;
  if (ignored !== "") {
    expect({ name, to, sent }).toEqual({ name, to, sent: expect.not.stringMatching(markOf(name)) });
    return "ignored";
  }
  expect({ name, to, sent }).toEqual({ name, to, sent: expect.stringMatching(markOf(name)) });
  return SERVED;
}

async function tableOf(door: Door): Promise<string[][]> {
  const rows: string[][] = [];
  for (const name of Object.keys(door.features)) {
    const fates: string[] = [];
    for (const to of Object.keys(SERVERS)) fates.push(await fateOf(door, name, to));
    rows.push([name, ...fates]);
  }
  return rows;
}

function written(rows: readonly (readonly string[])[]): string {
  const widths =
    rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const [head = [], ...others] = rows;
  return [line(head), rule, ...others.map(line)].join("\n");
}

describe("the table of docs/providers.md names the fate of each part of a request", () => {
  const page = readFileSync(join(PROJECT, "docs/providers.md"), "utf8");

  test.each(Object.keys(DOORS))("at the door for %s", async (name) => {
    const door = DOORS[name];
    if (door === undefined) throw new Error(`There is no door for ${name}`);
    const head = [`\`${door.path}\``, ...Object.keys(SERVERS)];
    const table = written([head, ...(await tableOf(door))]);
    expect(page).toContain(table);
  });
});

test("a picture in the result of a tool comes after it, in a message of the user", async () => {
  const source = { type: "base64", media_type: "image/png", data: base64Of(PNG) };
  const messages = [
    ASKED,
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "fare", input: {} }] },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: [{ type: "image", source }] },
        { type: "text", text: "What is it?" },
      ],
    },
  ];
  server.reset();
  server.queue(CHAT_WIRES.openai.whole(ANSWER));
  const body = { model: "Chat", max_tokens: 100, tools: [MESSAGES_TOOL], messages };
  expect((await api.postTo("/v1/messages", account, body)).status).toBe(200);
  const sent = server.requests.at(-1)?.body.messages as readonly object[];
  expect(sent.slice(-2)).toEqual([
    { role: "tool", tool_call_id: "c1", content: "The result is shown below." },
    {
      role: "user",
      content: [
        { type: "image_url", image_url: expect.objectContaining({ url: PNG }) },
        { type: "text", text: "What is it?" },
      ],
    },
  ]);
});
