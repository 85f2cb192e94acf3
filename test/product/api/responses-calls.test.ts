// Tools that the caller's own machine runs, such as a shell, and calls that another provider ran:
// both come in the items of agents and SDKs that change the model in the middle of a conversation.

import { beforeEach, describe, expect, test } from "bun:test";
import { PROMPT } from "../../support/api/chat-routes.ts";
import { pngUrl } from "../../support/api/images.ts";
import { chatStream, chatWhole, eventsOf } from "../../support/api/messages-world.ts";
import {
  OWN_MESSAGE,
  ownEvents,
  ownResponse,
  ownStream,
  ownWhole,
  replyIn,
  sharedResponses,
} from "../../support/api/responses-world.ts";
import { typedEvent } from "../../support/fakes/wire/wire-answer.ts";

const world = await sharedResponses();
const { api, own, chat } = world;
const account = await api.account({ contract: "enterprise", paid: "100" });

beforeEach(() => {
  own.reset();
  chat.reset();
});

const replyTo = async (body: object) => replyIn(await world.post(account, body));
const refusal = (body: object) => world.refusal(account, body);

const ASKED = { role: "user", content: PROMPT };
const PNG = pngUrl(64, 64);

interface Tool {
  readonly tool: object;
  readonly name: string;
  /** The arguments that a model of another form writes, and the item of such a call. */
  readonly args: object;
  readonly item: Readonly<Record<string, unknown>> & { readonly type: string };
  readonly prefix: string;
  readonly output: object;
  /** The output as a model of another form reads it. */
  readonly content: string;
}

const OUTCOME = { stdout: "4217 cents", stderr: "", outcome: { type: "exit", exit_code: 0 } };
const TOOLS: Readonly<Record<string, Tool>> = {
  shell: {
    tool: { type: "shell", environment: { type: "local" } },
    name: "shell",
    args: { commands: ["fare Bern"], timeout_ms: 1_000 },
    item: {
      type: "shell_call",
      action: { commands: ["fare Bern"], timeout_ms: 1_000, max_output_length: null },
    },
    prefix: "sh",
    output: { type: "shell_call_output", call_id: "call_1", output: [OUTCOME] },
    content: JSON.stringify([OUTCOME]),
  },
  local_shell: {
    tool: { type: "local_shell" },
    name: "local_shell",
    args: { command: ["fare", "Bern"], env: {} },
    item: {
      type: "local_shell_call",
      action: {
        type: "exec",
        command: ["fare", "Bern"],
        env: {},
        timeout_ms: null,
        working_directory: null,
      },
    },
    prefix: "lsh",
    output: { type: "local_shell_call_output", call_id: "call_1", output: "4217 cents" },
    content: "4217 cents",
  },
  apply_patch: {
    tool: { type: "apply_patch" },
    name: "apply_patch",
    args: { type: "update_file", path: "fare.txt", diff: "@@\n-1\n+42" },
    item: {
      type: "apply_patch_call",
      operation: { type: "update_file", path: "fare.txt", diff: "@@\n-1\n+42" },
    },
    prefix: "apc",
    output: {
      type: "apply_patch_call_output",
      call_id: "call_1",
      status: "failed",
      output: "No such line",
    },
    content: "failed\nNo such line",
  },
};

describe.each(Object.entries(TOOLS))("%s of the caller's machine", (_, one) => {
  const { tool, name, args, item, prefix, output, content } = one;
  const ownItem = { id: `${prefix}_1`, status: "completed", call_id: "call_1", ...item };
  const called = {
    id: "call_1",
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  };

  test("reaches a server of the same form as it is, with its items", async () => {
    own.queue(ownWhole([ownItem]));
    const first = await replyTo({ model: "own-test", input: [ASKED], tools: [tool], store: false });
    expect(first.output).toEqual([ownItem]);
    expect(first.svc.ignored).toBeUndefined();
    expect(own.requests.at(-1)?.body.tools).toEqual([tool]);
    own.queue(ownWhole([OWN_MESSAGE]));
    const input = [ASKED, ...first.output, output];
    await replyTo({ model: "own-test", input, tools: [tool], tool_choice: { type: name } });
    expect(own.requests.at(-1)?.body).toMatchObject({ input, tool_choice: { type: name } });
  });

  test("is a function for any other server, whose calls are calls of the tool", async () => {
    const body = { model: "chat-test", input: [ASKED], tools: [tool], tool_choice: { type: name } };
    chat.queue(chatWhole({ content: null, tool_calls: [called] }, "tool_calls"));
    const { output: items, svc } = await replyTo(body);
    expect(svc.ignored).toBeUndefined();
    expect(chat.requests.at(-1)?.body).toMatchObject({
      tools: [{ type: "function", function: { name, parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name } },
    });
    expect(items).toEqual([
      { id: expect.any(String), status: "completed", call_id: "call_1", ...item },
    ]);
    chat.queue(chatWhole({ content: "42" }));
    await replyTo({ ...body, input: [ASKED, ...items, output], tool_choice: "auto" });
    const messages = chat.requests.at(-1)?.body.messages as readonly object[];
    expect(messages.slice(1)).toEqual([
      { role: "assistant", content: null, tool_calls: [called] },
      { role: "tool", tool_call_id: "call_1", content },
    ]);
  });

  test("comes in a stream as an item that is whole when it is done", async () => {
    const text = JSON.stringify(args);
    const pieces = [text.slice(0, 5), text.slice(5)].map((piece, at) => ({
      tool_calls: [
        {
          index: 0,
          ...(at === 0 && { id: "call_1", type: "function" }),
          function: { name: at === 0 ? name : undefined, arguments: piece },
        },
      ],
    }));
    chat.queue(chatStream(pieces));
    const body = { model: "chat-test", input: [ASKED], tools: [tool], store: false, stream: true };
    const response = await world.post(account, body);
    const events = eventsOf(await response.text());
    const ofItem = events.filter(
      ({ name: of }) => of.includes("output_item") || /arguments|input\./.test(of),
    );
    const id = expect.stringMatching(new RegExp(`^${prefix}_`));
    expect(ofItem.map(({ name: of, data }) => [of, data.item])).toEqual([
      ["response.output_item.added", expect.objectContaining({ id, status: "in_progress" })],
      ["response.output_item.done", { id, status: "completed", call_id: "call_1", ...item }],
    ]);
  });

  test("is brought back by a reference to the item of its call", async () => {
    own.queue(ownWhole([ownItem]));
    const { output: items } = await replyTo({ model: "own-test", input: [ASKED], tools: [tool] });
    expect(items[0]?.id).toStartWith(`${prefix}_sealed1-`);
    own.queue(ownWhole([OWN_MESSAGE]));
    const input = [ASKED, { type: "item_reference", id: items[0]?.id }, output];
    await replyTo({ model: "own-test", input, tools: [tool] });
    expect(own.requests.at(-1)?.body.input).toEqual([ASKED, ownItem, output]);
  });
});

test("a shell in an environment of the provider is left out, and named", async () => {
  own.queue(ownWhole([OWN_MESSAGE]));
  const tools = [{ type: "shell", environment: { type: "container_auto" } }];
  const { svc } = await replyTo({ model: "own-test", input: [ASKED], tools });
  expect(svc.ignored).toEqual(["tools: shell"]);
  expect(own.requests.at(-1)?.body.tools).toBeUndefined();
});

test("the tools that a choice allows may be of the caller's machine", async () => {
  const tools = [{ type: "shell" }, { type: "function", name: "fare" }];
  const allowed = { type: "allowed_tools", mode: "required", tools: [{ type: "shell" }] };
  const body = { input: [ASKED], tools, tool_choice: allowed, store: false };
  own.queue(ownWhole([OWN_MESSAGE]));
  chat.queue(chatWhole({ content: "42" }));
  for (const model of ["own-test", "chat-test"]) await replyTo({ ...body, model });
  expect(own.requests.at(-1)?.body).toMatchObject({ tools, tool_choice: allowed });
  expect(chat.requests.at(-1)?.body).toMatchObject({
    tools: [{ function: { name: "shell" } }],
    tool_choice: "required",
  });
});

test("a function with the name of such a tool stays the caller's own", async () => {
  const tools = [{ type: "shell" }, { type: "function", name: "shell" }];
  chat.queue(chatWhole({ content: "42" }));
  const { svc } = await replyTo({ model: "chat-test", input: [ASKED], tools });
  expect(svc.ignored).toEqual(["tools: shell"]);
  expect(chat.requests.at(-1)?.body.tools).toEqual([
    { type: "function", function: { name: "shell" } },
  ]);
});

test("arguments of another shape run nothing", async () => {
  const call = { id: "c", type: "function", function: { name: "shell", arguments: "[rm" } };
  chat.queue(chatWhole({ content: null, tool_calls: [call] }));
  const { output } = await replyTo({
    model: "chat-test",
    input: [ASKED],
    tools: [{ type: "shell" }],
  });
  expect(output[0]).toMatchObject({ type: "shell_call", action: { commands: [] } });
});

describe("the caller's screen", () => {
  const tool = {
    type: "computer_use_preview",
    environment: "browser",
    display_width: 1_024,
    display_height: 768,
  };
  const action = { type: "click", button: "left", x: 42, y: 17 };
  const call = {
    type: "computer_call",
    id: "cu_1",
    call_id: "call_1",
    action,
    status: "completed",
  };
  const screen = { type: "computer_screenshot", image_url: PNG };
  const output = { type: "computer_call_output", call_id: "call_1", output: screen };

  test("is for models of the same form, and named in place of others", async () => {
    own.queue(ownWhole([call]));
    chat.queue(chatWhole({ content: "42" }));
    const body = { input: [ASKED], tools: [tool], store: false };
    const { output: items } = await replyTo({ ...body, model: "own-test" });
    expect(items).toEqual([call]);
    expect(own.requests.at(-1)?.body.tools).toEqual([tool]);
    const { svc } = await replyTo({ ...body, model: "chat-test" });
    expect(svc.ignored).toEqual(["tools: computer_use_preview"]);
  });

  test.each([
    [{ type: "computer_use_preview" }, "tool_choice.type"],
    ["required", "tool_choice"],
  ])("is not forced with another: %j", async (tool_choice, field) => {
    const body = { model: "chat-test", input: [ASKED], tools: [tool], tool_choice };
    expect((await refusal(body)).message).toContain(field);
    own.queue(ownWhole([call]));
    await replyTo({ ...body, model: "own-test" });
    expect(own.requests.at(-1)?.body.tool_choice).toEqual(tool_choice);
  });

  test("is an image for a model that takes images, and refused by name for others", async () => {
    const input = [ASKED, call, output];
    chat.queue(chatWhole({ content: "A fare" }));
    await replyTo({ model: "viewer", input });
    const messages = chat.requests.at(-1)?.body.messages as readonly object[];
    expect(messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "computer", arguments: JSON.stringify({ actions: [action] }) },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: expect.any(String) },
      { role: "user", content: [{ type: "image_url", image_url: { url: PNG } }] },
    ]);
    const error = await refusal({ model: "chat-test", input });
    expect(error.param).toBe("input[2].output.image_url");
  });

  test("is not taken by the id of a file", async () => {
    const kept = { ...output, output: { ...screen, file_id: "file_1" } };
    const error = await refusal({ model: "own-test", input: [ASKED, call, kept] });
    expect(error.param).toBe("input[2].output.file_id");
  });
});

describe("a call that another provider ran is shown as one of a function:", () => {
  const RESULT = "4217 cents";
  const FARE = { type: "function", name: "fare" };
  const call = (name: string, args: object, id: string) => ({
    type: "function_call",
    call_id: id,
    name,
    arguments: JSON.stringify(args),
  });
  const result = (id: string, output: string) => ({
    type: "function_call_output",
    call_id: id,
    output,
  });
  const mcp = { server_label: "fares", name: "price", arguments: '{"to":"Bern"}' };
  const request = { type: "mcp_approval_request", id: "mcpr_1", ...mcp };
  const answer = { type: "mcp_approval_response", approval_request_id: "mcpr_1" };
  const logs = [{ type: "logs", logs: RESULT }];
  const results = [{ filename: "fares.md", text: RESULT, score: 0.9 }];
  const program = { type: "program", id: "p", call_id: "p_1", code: "fare()", fingerprint: "f" };
  const caller = { type: "program", caller_id: "p" };
  const CASES: Readonly<
    Record<string, readonly [given: readonly object[], shown: readonly object[]]>
  > = {
    "of an MCP server": [
      [{ type: "mcp_call", id: "mcp_1", ...mcp, output: RESULT }],
      [call("fares__price", { to: "Bern" }, "mcp_call_1"), result("mcp_call_1", RESULT)],
    ],
    "of an MCP server that failed": [
      [{ type: "mcp_call", id: "mcp_1", ...mcp, error: { type: "http_error", code: 502 } }],
      [
        call("fares__price", { to: "Bern" }, "mcp_call_1"),
        result("mcp_call_1", '{"type":"http_error","code":502}'),
      ],
    ],
    "that was approved and has run": [
      [
        request,
        { ...answer, approve: true },
        { type: "mcp_call", ...mcp, approval_request_id: "mcpr_1", output: RESULT },
      ],
      [call("fares__price", { to: "Bern" }, "mcp_call_3"), result("mcp_call_3", RESULT)],
    ],
    "that was not approved": [
      [request, { ...answer, approve: false, reason: "Too expensive" }],
      [
        call("fares__price", { to: "Bern" }, "mcpr_1"),
        result("mcpr_1", "The user did not approve the call. Too expensive"),
      ],
    ],
    "that waits for an approval": [[request], []],
    "of code": [
      [{ type: "code_interpreter_call", code: "fare()", container_id: "c", outputs: logs }],
      [
        call("code_interpreter", { code: "fare()" }, "code_interpreter_call_1"),
        result("code_interpreter_call_1", JSON.stringify(logs)),
      ],
    ],
    "of a search in files": [
      [{ type: "file_search_call", queries: ["fares"], results }],
      [
        call("file_search", { queries: ["fares"] }, "file_search_call_1"),
        result("file_search_call_1", JSON.stringify(results)),
      ],
    ],
    "of a program, and those that it made": [
      [
        program,
        { ...call("fare", {}, "c_1"), caller },
        { ...result("c_1", "42"), caller },
        { type: "program_output", id: "o", call_id: "p_1", result: RESULT, status: "completed" },
      ],
      [
        call("program", { code: "fare()" }, "p_1"),
        call("fare", {}, "c_1"),
        result("c_1", "42"),
        result("p_1", RESULT),
      ],
    ],
  };

  test.each(Object.entries(CASES))("%s", async (_, [given, shown]) => {
    own.queue(ownWhole([OWN_MESSAGE]));
    chat.queue(chatWhole({ content: "42" }));
    const body = { input: [ASKED, ...given], tools: [FARE] };
    for (const model of ["own-test", "chat-test"]) {
      const { svc } = await replyTo({ ...body, model });
      expect(svc.ignored).toBeUndefined();
    }
    expect(own.requests.at(-1)?.body.input).toEqual([ASKED, ...shown]);
    const sent = JSON.stringify(chat.requests.at(-1)?.body.messages);
    for (const item of shown) {
      const { output = "", name = "" } = item as {
        readonly output?: string;
        readonly name?: string;
      };
      expect(sent).toContain(JSON.stringify(output === "" ? name : output));
    }
  });

  test("its tools that were found can be called", async () => {
    const found = { type: "tool_search_output", execution: "client", call_id: "t", tools: [FARE] };
    own.queue(ownWhole([OWN_MESSAGE]));
    chat.queue(chatWhole({ content: "42" }));
    for (const model of ["own-test", "chat-test"]) await replyTo({ model, input: [ASKED, found] });
    expect(own.requests.at(-1)?.body.input).toEqual([
      ASKED,
      { type: "additional_tools", role: "developer", tools: [FARE] },
    ]);
    expect(chat.requests.at(-1)?.body.tools).toEqual([
      { type: "function", function: { name: "fare" } },
    ]);
  });

  test("items without any content for a model are left out, and named", async () => {
    const silent = [
      { type: "mcp_list_tools", server_label: "fares", tools: [{ name: "price" }] },
      {
        type: "tool_search_call",
        execution: "client",
        call_id: "t",
        arguments: { query: "fares" },
      },
      { type: "code_interpreter_call", code: "fare()", container_id: "c", outputs: null },
      { type: "file_search_call", queries: ["fares"], results: null },
    ];
    own.queue(ownWhole([OWN_MESSAGE]));
    const { svc } = await replyTo({ model: "own-test", input: [ASKED, ...silent] });
    expect(own.requests.at(-1)?.body.input).toEqual([ASKED]);
    expect(svc.ignored).toEqual(silent.map(({ type }) => `input: ${type}`));
  });

  test.each([
    ["mcp_approval_response", [request, { ...answer, approve: true }], 2],
    ["mcp_approval_response", [{ ...answer, approve: false }], 1],
    ["program", [program, { ...call("fare", {}, "c_1"), caller }], 1],
    ["program_output", [{ type: "program_output", call_id: "p_2", result: RESULT }], 1],
  ] as const)("only its provider can go on with an open %s", async (type, items, index) => {
    for (const model of ["own-test", "chat-test"]) {
      const error = await refusal({ model, input: [ASKED, ...items] });
      expect(error.param).toBe(`input[${index}].type`);
      expect(error.message).toContain(`'${type}'`);
      expect(error.message).toContain("only the provider that began it");
    }
  });
});

test("an item of an unknown kind is refused by its place", async () => {
  const error = await refusal({ model: "own-test", input: [ASKED, { type: "unheard_of" }] });
  expect(error.param).toBe("input[1].type");
});

test("the hold covers what a server gets, and its own words for a tool", async () => {
  const holdOf = async (fields: object) => {
    const body = { model: "own-test", input: [ASKED], max_output_tokens: 16, ...fields };
    const quote = { path: "/v1/responses", body };
    const response = await api.postTo("/v1/quote", account, quote);
    return ((await response.json()) as { readonly hold_usd: number }).hold_usd;
  };
  const least = await holdOf({});
  const stdout = "fare ".repeat(2_000);
  const output = { type: "shell_call_output", call_id: "c", output: [{ stdout }] };
  for (const fields of [
    { tools: [{ type: "shell" }] },
    { tools: [{ type: "computer" }] },
    { input: [ASKED, output] },
  ]) {
    // 2,000 tokens at $1 a million.
    expect((await holdOf(fields)) - least).toBeGreaterThan(0.0019);
  }
});

describe("a stream of a server of the same form", () => {
  const call = { id: "apc_1", type: "apply_patch_call", call_id: "call_1", status: "completed" };
  const operation = { type: "create_file", path: "fare.txt", diff: "+42\n+43" };
  const place = { output_index: 0, item_id: call.id };

  test("that breaks off in a patch is charged for the part that came", async () => {
    const diff = `+${"fare ".repeat(200)}`;
    own.queue({
      ...ownStream([
        ...ownEvents().slice(0, 2),
        typedEvent("response.output_item.added", {
          output_index: 0,
          item: { ...call, status: "in_progress", operation: { ...operation, diff: "" } },
        }),
        typedEvent("response.apply_patch_call_operation_diff.delta", { ...place, delta: diff }),
      ]),
      end: "cut",
    });
    const caller = await api.account({ contract: "enterprise", paid: "100" });
    const tools = [{ type: "apply_patch" }];
    const body = { model: "own-test", input: [ASKED], tools, stream: true };
    const text = await (await world.post(caller, body)).text();
    expect(text).toContain("fare fare");
    const [entry] = await api.journal(caller);
    expect(entry?.end?.completionTokens).toBeGreaterThan(190);
  });

  test("has the item that ends with it", async () => {
    const item = { ...call, operation };
    own.queue(
      ownStream([
        ...ownEvents().slice(0, 2),
        typedEvent("response.output_item.done", { output_index: 0, item }),
        typedEvent("response.completed", { response: ownResponse([item]) }),
      ]),
    );
    const tools = [{ type: "apply_patch" }];
    const body = { model: "own-test", input: [ASKED], tools, stream: true, store: false };
    const events = eventsOf(await (await world.post(account, body)).text());
    expect(events.at(-1)?.data.response).toMatchObject({ output: [item] });
  });
});
