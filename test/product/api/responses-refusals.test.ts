// The refusals of the door for Responses, and its references to items of earlier replies.

import { beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { RESPONSES } from "../../../src/core/access/limits.ts";
import {
  PACKED_BYTES_MAX,
  SEALED_BYTES_MAX,
} from "../../../src/services/chat/doors/responses/item-seals.ts";
import { errorOf } from "../../support/api/api-world.ts";
import { chatStream, chatWhole, eventsOf } from "../../support/api/messages-world.ts";
import {
  OWN_CALL,
  OWN_MESSAGE,
  OWN_THOUGHT,
  ownEvents,
  ownResponse,
  ownStream,
  ownWhole,
  type ReplyJson,
  replyIn,
  sharedResponses,
} from "../../support/api/responses-world.ts";
import { typedEvent } from "../../support/fakes/wire/wire-answer.ts";
import { createTestKey, type TestAccount } from "../../support/stores/accounts.ts";

const world = await sharedResponses();
const { api, own, chat } = world;
const account = await api.account({ contract: "enterprise", paid: "100" });

beforeEach(() => {
  own.reset();
  chat.reset();
});

/** The refusal of a body with these fields. */
const refusal = (more: object, status?: number) =>
  world.refusal(account, { model: "own-test", input: "Fare?", ...more }, status);

const KEPT = "refers to data that only the provider keeps, and is not supported";

describe("a field for state that only a provider keeps is refused by name:", () => {
  const image = { type: "input_image", image_url: "https://example.com/a.png", file_id: "file-1" };
  const file = { type: "input_file", file_id: "file-1", file_data: "" };
  const content = (part: object) => ({ input: [{ role: "user", content: [part] }] });
  const tool = (more: object) => ({ tools: [more] });
  test.each([
    ["previous_response_id", { previous_response_id: "resp_1" }, "send the whole conversation"],
    ["conversation", { conversation: "conv_1" }, "send the whole conversation"],
    ["background", { background: true }, "must be false"],
    ["prompt", { prompt: { id: "pmpt_1" } }, KEPT],
    ["input[0].content[0].file_id", content(image), KEPT],
    ["input[0].content[0].file_id", content(file), KEPT],
    [
      "tools[0].vector_store_ids[0]",
      tool({ type: "file_search", vector_store_ids: ["vs_1"] }),
      KEPT,
    ],
    ["tools[0].container", tool({ type: "code_interpreter", container: "cntr_1" }), KEPT],
    [
      "tools[0].environment.container_id",
      tool({ type: "shell", environment: { container_id: "cntr_1" } }),
      KEPT,
    ],
    [
      "tools[0].environment.file_ids[0]",
      tool({ type: "shell", environment: { type: "container_auto", file_ids: ["file-1"] } }),
      KEPT,
    ],
    [
      "tools[0].environment.skills[0].skill_id",
      tool({
        type: "shell",
        environment: {
          type: "container_auto",
          skills: [{ type: "skill_reference", skill_id: "skill_1" }],
        },
      }),
      KEPT,
    ],
    [
      "tools[0].input_image_mask.file_id",
      tool({ type: "image_generation", input_image_mask: { file_id: "file-1" } }),
      KEPT,
    ],
  ])("%s", async (param, more, rule) => {
    const error = await refusal(more);
    expect(error).toMatchObject({
      type: "invalid_request_error",
      code: "invalid_parameter",
      param,
    });
    expect(error.message).toContain(rule);
  });
});

describe("a body is refused with the field and the rule:", () => {
  const call = { type: "function_call", call_id: "c", name: "fare", arguments: "{}" };
  const items = (count: number) => Array.from({ length: count }, () => "Hi");
  const chose = (tool_choice: unknown, ...tools: object[]) => ({ tool_choice, tools });
  const fare = { type: "function", name: "fare" };
  const named = (name: string) => ({ type: "namespace", name: "a", tools: [{ ...fare, name }] });
  test.each([
    ["input", { input: [] }, "must be a string or an array of at least one item"],
    ["input", { input: items(RESPONSES.itemsMax + 1) }, "must have at most 10000 items"],
    ["input[0].type", { input: [{ type: "unheard_of", id: "c" }] }, "must be one of:"],
    ["input[0].role", { input: [{ content: "Hi" }] }, "must be one of:"],
    ["input[0].name", { input: [{ ...call, name: "a".repeat(1 << 20) }] }, "1 to 128 characters"],
    ["tools[0].name", { tools: [{ ...fare, name: "a".repeat(1 << 20) }] }, "1 to 128 characters"],
    ["tools[0].type", { tools: [{ type: "a".repeat(1 << 20) }] }, "must be one of:"],
    ["tools[0].type", { tools: [{ name: "fare" }] }, "must be one of:"],
    ["tool_choice.type", chose({ type: "unheard_of" }, { type: "unheard_of" }), "must be one of:"],
    ["tool_choice", chose("required", { type: "unheard_of" }), "not served: unheard_of"],
    ["tools[1].tools[0].name", { tools: [{ ...fare, name: "a__b" }, named("b")] }, "another tool"],
    ["input[0].id", { input: [{ type: "item_reference", id: "msg_0" }] }, "store: false"],
    ["tool_choice.type", chose({ type: "web_search" }, { type: "web_search" }), "'web_search'"],
    ["tool_choice", chose("required", { type: "web_search" }), "not served: web_search"],
    [
      "tool_choice",
      chose({ type: "allowed_tools", mode: "required", tools: [{ type: "mcp" }] }, { type: "mcp" }),
      "not served: mcp",
    ],
    ["tool_choice.name", chose({ type: "function", name: "fares" }, fare), "one of the tools"],
    [
      "input[0].content[0].type",
      {
        input: [
          {
            role: "system",
            content: [{ type: "input_image", image_url: "https://example.com/a.png" }],
          },
        ],
      },
      "only users send images",
    ],
    ["service_tier", { service_tier: "flex" }, "has no price for this tier"],
    ["max_output_tokens", { max_output_tokens: 0 }, "must be an integer from 1 to 1000000"],
  ])("%s %#", async (param, more, rule) => {
    const error = await refusal(more);
    expect(error.param).toBe(param);
    expect(error.message).toContain(rule);
  });

  test("items that refer to each other bring back nothing but themselves", async () => {
    const ids = ["msg_sealed1-a", "msg_sealed1-b"];
    const input = ids.flatMap((id) => [
      { type: "item_reference", id },
      { ...OWN_THOUGHT, id, encrypted_content: null },
    ]);
    expect((await refusal({ input })).param).toBe("input[0].id");
  });

  test("a model that nobody configured is not found, and no retry helps", async () => {
    const error = await refusal({ model: "unheard-of" }, 404);
    expect(error.code).toBe("model_not_found");
  });

  test("an item of one provider alone goes to no other", async () => {
    const input = [{ type: "compaction", encrypted_content: "c2VhbGVk" }];
    expect((await refusal({ model: "chat-test", input })).message).toContain("input[0].type");
    own.queue(ownWhole([OWN_MESSAGE]));
    expect((await world.post(account, { model: "own-test", input })).status).toBe(200);
    expect(own.requests.at(-1)?.body.input).toEqual(input);
  });
});

const replyTo = async (body: object, from: TestAccount = account) =>
  replyIn(await world.post(from, body));

/** The items of a stream as they began: clients keep their ids. */
async function streamedItems(body: object): Promise<ReplyJson["output"]> {
  const response = await world.post(account, { ...body, stream: true });
  return eventsOf(await response.text()).flatMap(({ name, data }) =>
    name === "response.output_item.added" ? [data.item as ReplyJson["output"][number]] : [],
  );
}

/** A stream of a server of the same form whose items come whole. */
function streamOf(items: readonly object[]) {
  const done = items.map((item, output_index) =>
    typedEvent("response.output_item.done", { output_index, item }),
  );
  const completed = typedEvent("response.completed", { response: ownResponse(items) });
  return ownStream([...ownEvents().slice(0, 2), ...done, completed]);
}

/** A text that no packing makes much shorter. */
function noise(length: number): string {
  return randomBytes(length).toString("base64").slice(0, length);
}

function references(items: ReplyJson["output"]): object[] {
  return items.map(({ id }) => ({ type: "item_reference", id }));
}

describe("a reference to an item brings it back", () => {
  const OUTPUT = [OWN_THOUGHT, OWN_MESSAGE, OWN_CALL];
  const result = { type: "custom_tool_call_output", call_id: "call_1", output: "42" };

  test("of a reply of a server of the same form", async () => {
    own.queue(ownWhole(OUTPUT));
    const { output } = await replyTo({ model: "own-test", input: "Fare?" });
    own.queue(ownWhole([OWN_MESSAGE]));
    const input = [{ role: "user", content: "Fare?" }, ...references(output), result];
    await replyTo({ model: "own-test", input });
    expect(own.requests.at(-1)?.body.input).toEqual([input[0], ...OUTPUT, result]);
  });

  test("of a stream of a server of the same form", async () => {
    own.queue(ownStream());
    const items = await streamedItems({ model: "own-test", input: "Fare?" });
    expect(items.length).toBe(4);
    own.queue(ownWhole([OWN_MESSAGE]));
    const input = [...references(items), result];
    await replyTo({ model: "own-test", input });
    expect(own.requests.at(-1)?.body.input).toEqual([...OUTPUT, result]);
  });

  for (const how of ["whole", "streamed"] as const) {
    test(`of a ${how} reply of a server of another form`, async () => {
      const body = { model: "chat-test", input: "Fare?" };
      chat.queue(how === "whole" ? chatWhole({ content: "42" }) : chatStream([{ content: "42" }]));
      const items = how === "whole" ? (await replyTo(body)).output : await streamedItems(body);
      chat.queue(chatWhole({ content: "43" }));
      const input = [...references(items), { role: "user", content: "And now?" }];
      await replyTo({ ...body, input });
      expect(chat.requests.at(-1)?.body.messages).toEqual([
        { role: "assistant", content: "42" },
        { role: "user", content: "And now?" },
      ]);
    });
  }

  test("once: a short id must not stand for a long item many times", async () => {
    chat.queue(chatStream([{ content: "fare ".repeat(1_000) }]));
    const [first, ...others] = await streamedItems({ model: "chat-test", input: "Fare?" });
    if (first === undefined) throw new Error("The stream had no item");
    const input = references([first, ...others, first]);
    const error = await refusal({ input });
    expect(error).toMatchObject({ param: "input[2].id" });
    expect(error.message).toContain("twice");
  });

  test("to any key of the account, and to no other account", async () => {
    chat.queue(chatWhole({ content: "42" }));
    const { output } = await replyTo({ model: "chat-test", input: "Fare?" });
    const sibling = await createTestKey(api.parts.stores.accounts, account.row);
    await account.actor.configure();
    chat.queue(chatWhole({ content: "43" }));
    const input = [...references(output), { role: "user", content: "And now?" }];
    await replyTo({ model: "chat-test", input }, { ...account, key: sibling.secret });
    expect(chat.requests.at(-1)?.body.messages).toEqual([
      { role: "assistant", content: "42" },
      { role: "user", content: "And now?" },
    ]);
    const other = await api.account({ paid: "5" });
    const body = { model: "chat-test", input: references(output) };
    const response = await world.post(other, body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toContain("store: false");
  });

  test("but not where the caller says that nothing is stored, or of a very long item", async () => {
    const content = noise(1.5 * SEALED_BYTES_MAX);
    const body = { model: "chat-test", input: "Fare?" };
    chat.queue(chatWhole({ content: "42" }));
    const short = await replyTo({ ...body, store: false });
    chat.queue(chatWhole({ content }));
    const long = await replyTo(body);
    for (const { output } of [short, long]) {
      expect(output[0]?.id).toMatch(/^msg_[0-9A-Za-z]{22}_0$/);
      const { message } = await refusal({ input: references(output) });
      expect(message).toContain("longer than 64 KB when packed");
      expect(message).toContain("store: false");
    }
    chat.queue(chatStream([{ content: "42" }]));
    expect((await streamedItems({ ...body, store: false })).length).toBe(1);
  });

  test("of an item that is long, whole and in a stream", async () => {
    const input = JSON.stringify({ file: "the fare of a bus\n".repeat(SEALED_BYTES_MAX / 6) });
    const long = { ...OWN_CALL, input };
    for (const how of ["whole", "streamed"] as const) {
      own.queue(how === "whole" ? ownWhole([OWN_MESSAGE, long]) : streamOf([OWN_MESSAGE, long]));
      const first = { model: "own-test", input: "Fare?" };
      const items = how === "whole" ? (await replyTo(first)).output : await streamedItems(first);
      for (const { id } of items) expect(id.length).toBeLessThan(2_000);
      own.queue(ownWhole([OWN_MESSAGE]));
      await replyTo({ model: "own-test", input: [...references(items), result] });
      expect(own.requests.at(-1)?.body.input).toEqual([OWN_MESSAGE, long, result]);
    }
  });

  test("but not of more than a body may have together", async () => {
    const content = "fare ".repeat((PACKED_BYTES_MAX - 1_024) / 5);
    chat.queue(...Array.from({ length: 65 }, () => chatWhole({ content })));
    const items: ReplyJson["output"][number][] = [];
    for (let count = 0; count < 65; count += 1) {
      items.push(...(await replyTo({ model: "chat-test", input: "Fare?" })).output);
    }
    const error = await refusal({ model: "chat-test", input: references(items) });
    expect(error.message).toContain("must not refer to more than 32 MiB of items");
  });

  test("of a stream, beside items that are too long together or alone", async () => {
    const part = { ...OWN_MESSAGE.content[0], text: "fare ".repeat(9_000) };
    const half = { ...OWN_MESSAGE, content: [part] };
    const items = [
      OWN_MESSAGE,
      { ...half, id: "msg_2" },
      { ...OWN_CALL, input: noise(1.5 * SEALED_BYTES_MAX) },
      { ...half, id: "msg_3" },
    ];
    own.queue(streamOf(items));
    const [message, second, call, third, ...indexes] = await streamedItems({
      model: "own-test",
      input: "Fare?",
    });
    expect(indexes.map(({ type }) => type)).toEqual(["reasoning", "reasoning"]);
    const kept = [message, second, third, ...indexes].filter((item) => item !== undefined);
    own.queue(ownWhole([OWN_MESSAGE]));
    await replyTo({ model: "own-test", input: references(kept) });
    expect(own.requests.at(-1)?.body.input).toEqual([items[0], items[1], items[3]]);
    const lost = await refusal({ input: references([...kept, ...(call ? [call] : [])]) });
    expect(lost).toMatchObject({ param: "input[5].id" });
  });

  test("and an image that is too long for an id to nothing, which is named", async () => {
    const drawn = { id: "ig_1", type: "image_generation_call", status: "completed" };
    const image = { ...drawn, result: "a".repeat(SEALED_BYTES_MAX) };
    const compaction = { id: "cmp_1", type: "compaction", encrypted_content: "c2VhbGVk" };
    const output = [image, compaction, OWN_MESSAGE];
    for (const how of ["whole", "streamed"] as const) {
      own.queue(how === "whole" ? ownWhole(output) : streamOf(output));
      const first = { model: "own-test", input: "Fare?" };
      const items = how === "whole" ? (await replyTo(first)).output : await streamedItems(first);
      own.queue(ownWhole([OWN_MESSAGE]));
      const { svc } = await replyTo({ model: "own-test", input: references(items) });
      expect(own.requests.at(-1)?.body.input).toEqual([compaction, OWN_MESSAGE]);
      expect(svc.ignored).toEqual(["input: image_generation_call"]);
    }
  });
});

describe("a thought that no server of the same form can read is left out, and named:", () => {
  const thought = { type: "reasoning", summary: [] };
  test.each([
    ["one that only its provider has stored", { ...thought, id: "rs_1" }],
    ["one with words alone", { ...thought, summary: [{ type: "summary_text", text: "A fare?" }] }],
    [
      "one with data of a server of another form",
      { ...thought, encrypted_content: "farebox.1.e30" },
    ],
  ])("%s", async (_, item) => {
    own.queue(ownWhole([OWN_MESSAGE]));
    const asked = { role: "user", content: "Fare?" };
    const { svc } = await replyTo({ model: "own-test", input: [item, OWN_THOUGHT, asked] });
    expect(own.requests.at(-1)?.body.input).toEqual([OWN_THOUGHT, asked]);
    expect(svc.ignored).toEqual(["input: reasoning"]);
  });

  test("but an item without any thought is none", async () => {
    own.queue(ownWhole([OWN_MESSAGE]));
    const { svc } = await replyTo({ model: "own-test", input: [thought, OWN_MESSAGE] });
    expect(own.requests.at(-1)?.body.input).toEqual([OWN_MESSAGE]);
    expect(svc.ignored).toBeUndefined();
  });
});

describe("the words of a thought", () => {
  const summary = [{ type: "summary_text", text: "A fare?" }];
  const thought = { type: "reasoning", summary };
  const asked = { role: "user", content: "Fare?" };
  const said = { role: "assistant", content: "42" };
  test.each([
    ["are named where the model reads none", "chat-test", [thought, said, asked], true],
    ["are sent to a model that shows its own", "thinker", [thought, said, asked], false],
    ["are named where they led to nothing", "thinker", [thought, asked], true],
    [
      "are named beside the data that only its provider reads",
      "chat-test",
      [{ ...thought, encrypted_content: "c2VhbGVk" }, said, asked],
      true,
    ],
    ["of which there are none are not named", "chat-test", [said, asked], false],
  ])("%s", async (_, model, input, isNamed) => {
    chat.queue(chatWhole({ content: "42" }));
    const { svc } = await replyTo({ model, input });
    expect(svc.ignored?.includes("input: reasoning") ?? false).toBe(isNamed);
    const isSent = JSON.stringify(chat.requests.at(-1)?.body).includes("A fare?");
    expect(isSent).toBe(model === "thinker" && !isNamed);
  });
});

test("tools that nobody knew are left out and named, at servers of each form", async () => {
  const fare = { type: "function", name: "fare" };
  const unknown = { type: "unheard_of", name: "new", container: "cntr_1", of: { any: "form" } };
  const allowed = { type: "allowed_tools", mode: "auto", tools: [fare, { type: "unheard_of" }] };
  const tools = [unknown, { type: "constructor" }, fare];
  const body = { input: "Fare?", tools, tool_choice: allowed, store: false };
  own.queue(ownWhole([OWN_MESSAGE]));
  chat.queue(chatWhole({ content: "42" }));
  for (const model of ["own-test", "chat-test"]) {
    const { svc } = await replyTo({ ...body, model });
    expect(svc.ignored).toContain("tools: unheard_of");
    expect(svc.ignored).toContain("tools: constructor");
  }
  expect(own.requests.at(-1)?.body).toMatchObject({
    tools: [fare],
    tool_choice: { ...allowed, tools: [fare] },
  });
  expect(chat.requests.at(-1)?.body.tools).toMatchObject([{ function: { name: "fare" } }]);
});

describe("images and files", () => {
  const PNG =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" +
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const image = { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "low" };
  const call = { type: "function_call", call_id: "c", name: "view", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "c", output: [image] };

  test("of users and of tools reach a server of another form", async () => {
    chat.queue(chatWhole({ content: "A dot" }));
    const said = [{ type: "input_text", text: "Look" }, image];
    await replyTo({ model: "viewer", input: [{ role: "user", content: said }, call, output] });
    const part = { type: "image_url", image_url: { url: image.image_url, detail: "low" } };
    expect(chat.requests.at(-1)?.body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Look" }, part] },
      { role: "assistant", content: null, tool_calls: [expect.any(Object)] },
      { role: "tool", tool_call_id: "c", content: expect.any(String) },
      { role: "user", content: [part] },
    ]);
  });

  test("are refused by name for a model that takes none", async () => {
    const error = await refusal({ model: "chat-test", input: [call, output] });
    expect(error.param).toBe("input[1].output[0].image_url");
  });
});

test("a count costs nothing, and asks no server", async () => {
  const input = [{ role: "user", content: "What does the train to Bern cost?" }];
  const body = { model: "chat-test", instructions: "Be brief.", input };
  const before = chat.requests.length;
  const response = await api.postTo("/v1/responses/input_tokens", account, body);
  const { object, input_tokens } = (await response.json()) as Record<string, unknown>;
  expect(object).toBe("response.input_tokens");
  expect(input_tokens).toBeGreaterThan(10);
  expect(input_tokens).toBeLessThan(40);
  expect(response.headers.get("x-svc-cost-usd")).toBe("0");
  expect(chat.requests.length).toBe(before);
});
