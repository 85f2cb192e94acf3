// A conversation at the door for Messages with calls of tools that another provider ran.

import { beforeEach, expect, test } from "bun:test";
import { errorOf } from "../../support/api/api-world.ts";
import {
  chatWhole,
  ignoredIn,
  ownWhole,
  sharedMessages,
} from "../../support/api/messages-world.ts";

const world = await sharedMessages();
const { api, own, chat } = world;
const account = await api.account({ contract: "enterprise", paid: "100" });

beforeEach(() => {
  own.reset();
  chat.reset();
});

const ASKED = { role: "user", content: "Go on" };
const SIGNED = { type: "thinking", thinking: "Yes", signature: "c2lnbmVk" };
const SAID = { type: "text", text: "Hello" };
const INPUT = { query: "Fare" };
const MARK = { cache_control: { type: "ephemeral" } };
const SEARCH = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: INPUT };
const PAGE = { type: "web_search_result", title: "Fares", url: "https://fares.example" };
const FOUND = {
  type: "web_search_tool_result",
  tool_use_id: SEARCH.id,
  content: [{ ...PAGE, encrypted_content: "c2VhbGVk" }],
};
const FARE = { ...SEARCH, type: "mcp_tool_use", id: "mcptoolu_1", name: "fare", server_name: "a" };
const FAILED = {
  type: "mcp_tool_result",
  tool_use_id: FARE.id,
  is_error: true,
  content: [{ type: "text", text: "No fare" }],
};
const UPLOAD = { type: "container_upload", file_id: "file_1" };
const HIDDEN = "messages[].content: web_search_tool_result";

function turn(...content: readonly object[]): object[] {
  return [ASKED, { role: "assistant", content }, ASKED];
}

function post(model: string, messages: readonly object[]): Promise<Response> {
  return world.post(account, { model, max_tokens: 100, messages });
}

test("shows them as calls of tools, and names what only their provider can read", async () => {
  own.queue(ownWhole());
  const messages = turn(SIGNED, SEARCH, FARE, FOUND, { ...FAILED, ...MARK }, SAID, UPLOAD);
  const ignored = await ignoredIn(await post("claude-test", messages));
  expect(ignored).toEqual([HIDDEN, "messages[].content: container_upload"]);
  const called = ({ id, name }: typeof SEARCH) => ({ type: "tool_use", id, name, input: INPUT });
  const result = (tool_use_id: string, content: string, more: object = {}) => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id, content, ...more }],
  });
  expect(own.requests.at(-1)?.body.messages).toEqual([
    ASKED,
    { role: "assistant", content: [SIGNED, called(SEARCH)] },
    result(SEARCH.id, JSON.stringify([{ ...PAGE, encrypted_content: null }])),
    { role: "assistant", content: [called(FARE)] },
    result(FARE.id, '[{"type":"text","text":"No fare"}]', { is_error: true, ...MARK }),
    { role: "assistant", content: [SAID] },
    ASKED,
  ]);
});

test("shows them to a server of chat, a result in a later message as well", async () => {
  chat.queue(chatWhole({ content: "Done" }));
  const messages = [...turn(SEARCH), { role: "assistant", content: [FOUND, SAID] }, ASKED];
  expect(await ignoredIn(await post("chat-test", messages))).toEqual([HIDDEN]);
  expect(chat.requests.at(-1)?.body.messages).toMatchObject([
    ASKED,
    ASKED,
    { role: "assistant", tool_calls: [{ id: SEARCH.id, function: { name: "web_search" } }] },
    { role: "tool", tool_call_id: SEARCH.id, content: expect.stringContaining(PAGE.url) },
    { role: "assistant", content: "Hello" },
    ASKED,
  ]);
});

test("shows no file of a result, which would be counted as text", async () => {
  const source = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
  const content = {
    type: "web_fetch_result",
    url: PAGE.url,
    content: { type: "document", source },
  };
  const fetched = { type: "web_fetch_tool_result", tool_use_id: SEARCH.id, content };
  own.queue(ownWhole());
  const ignored = await ignoredIn(await post("claude-test", turn(SEARCH, fetched)));
  expect(ignored).toEqual(["messages[].content: web_fetch_tool_result"]);
  expect(own.requests.at(-1)?.text).toContain(PAGE.url);
  expect(own.requests.at(-1)?.text).not.toContain(source.data);
});

test("refuses a later message by its place in the body", async () => {
  const image = { type: "image", source: { type: "url", url: "a.png" } };
  const messages = [...turn(SEARCH, FOUND), { role: "user", content: [SAID, image] }];
  const response = await post("claude-test", messages);
  expect(response.status).toBe(400);
  expect((await errorOf(response)).message).toStartWith("messages[3].content[1].source.url");
});

test.each([
  ["a call that has not ended", turn(SAID, SEARCH), "[1].content[1].type must not be"],
  ["a result of no call", turn(FAILED), "[1].content[0].tool_use_id must be the id of a call"],
  ["a second result", turn(SEARCH, FOUND, FOUND), "[1].content[2].tool_use_id must be"],
])("refuses %s, by its place, also in a count", async (_, messages, problem) => {
  const before = own.requests.length;
  const counting = { model: "claude-test", messages };
  const counted = await api.postTo("/v1/messages/count_tokens", account, counting);
  for (const response of [await post("claude-test", messages), counted]) {
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toStartWith(`messages${problem}`);
  }
  expect(own.requests.length).toBe(before);
});

const UNSIGNED = { type: "thinking", thinking: "A fare?", signature: "" };
const CALL = { type: "tool_use", id: "toolu_1", name: "fare", input: {} };
const RESULT = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] };
const REDACTED = { type: "redacted_thinking", data: "c2VhbGVk" };
const THINKING = "messages[].content: thinking";

test.each([
  ["are named where it reads none", "chat-test", [UNSIGNED, SAID], [THINKING]],
  ["are named though they are signed", "chat-test", [SIGNED, CALL], [THINKING]],
  ["are sent to one that shows its own", "thinker", [UNSIGNED, SIGNED, SAID], []],
  ["are named where they led to nothing", "thinker", [UNSIGNED], [THINKING]],
  [
    "are named where their provider hides them",
    "thinker",
    [REDACTED, SAID],
    ["messages[].content: redacted_thinking"],
  ],
])("thoughts of another model %s", async (_, model, content, named) => {
  chat.queue(chatWhole({ content: "42" }));
  const calls = content.filter((block) => block === CALL);
  const messages = [ASKED, { role: "assistant", content }, ...calls.map(() => RESULT), ASKED];
  expect(await ignoredIn(await post(model, messages))).toEqual(named);
  const sent = chat.requests.at(-1)?.body.messages as readonly { role: string }[];
  const roles = sent.map(({ role }) => role);
  const isEmpty = content.length === 1;
  expect(roles.filter((role) => role === "assistant").length).toBe(isEmpty ? 0 : 1);
  expect(JSON.stringify(sent).includes("A fare?Yes")).toBe(named.length === 0);
});
