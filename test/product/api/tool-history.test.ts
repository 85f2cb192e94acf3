// Tests the parts of earlier replies that agents send back: they reach the model's server, except
// for the parts that servers refuse.

import { describe, expect, test } from "bun:test";
import type { ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, completionOf, errorOf } from "../../support/api/api-world.ts";
import { chatOver, modelOf, providerAt } from "../../support/api/chat-routes.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { startFakeUpstream } from "../../support/fakes/fake-upstream.ts";
import { shared } from "../../support/shared.ts";

const upstream = await shared(startFakeUpstream());
const OPEN: ModelEntry = { ...modelOf(["server", "ok"]), id: "open", showsReasoning: true };
const CLOSED: ModelEntry = { ...OPEN, id: "closed", showsReasoning: false };
const catalogue = catalogueOf([OPEN, CLOSED], [providerAt(upstream.baseUrl, { name: "server" })]);
const api = await sharedApi({
  catalogue: () => catalogue,
  chat: chatOver(catalogue),
});

const USER = { role: "user", content: "How much is it?" };
const called = (name: string, input: string, more: object = {}) => ({
  id: `id-${name}`,
  type: "function",
  function: { name, arguments: input },
  ...more,
});
const resultOf = (name: string) => ({ role: "tool", tool_call_id: `id-${name}`, content: "3" });
const FARE = { type: "function", function: { name: "fare", parameters: { type: "object" } } };

interface Exchange {
  readonly body: Record<string, unknown>;
  readonly ignored: readonly string[] | undefined;
}

async function send(fields: object): Promise<Exchange> {
  const account = await api.account({ paid: "1" });
  const response = await api.post(account, chatBody({ model: "closed", ...fields }));
  const { svc } = await completionOf(response);
  expect(response.status).toBe(200);
  const seen = upstream.requests.at(-1);
  if (seen === undefined) throw new Error("The server was not asked");
  return { body: seen.body, ignored: (svc as { ignored?: string[] }).ignored };
}

describe("the reasoning of earlier messages", () => {
  for (const reasoning_content of ["I need the fare", ""]) {
    const thought = { role: "assistant", content: null, reasoning_content };
    const messages = [
      USER,
      { ...thought, tool_calls: [called("fare", '{"to":"B"}')] },
      resultOf("fare"),
      { ...thought, content: "It is 3" },
      USER,
    ];

    test(`reaches a model that shows it: '${reasoning_content}'`, async () => {
      const { body, ignored } = await send({ model: "open", messages });
      expect(body.messages).toEqual(messages);
      expect(ignored).toBeUndefined();
    });

    test(`is named in svc.ignored at any other: '${reasoning_content}'`, async () => {
      const { body, ignored } = await send({ messages });
      expect(JSON.stringify(body)).not.toContain("reasoning_content");
      expect(ignored).toEqual(["messages[].reasoning_content"]);
    });
  }

  test("must be a text", async () => {
    const account = await api.account({ paid: "1" });
    const messages = [{ role: "assistant", content: "a", reasoning_content: 5 }];
    const { code, message } = await errorOf(await api.post(account, chatBody({ messages })));
    expect([code, message]).toEqual([
      "invalid_parameter",
      "messages[0].reasoning_content must be a string",
    ]);
  });

  test("counts as prompt where it is forwarded, in the hold too", async () => {
    const held = async (model: string) => {
      const account = await api.account({ paid: "0.000001" });
      const said = { role: "assistant", content: "a", reasoning_content: "thought ".repeat(9_000) };
      const body = chatBody({ model, messages: [said, USER], max_tokens: 1 });
      const { message } = await errorOf(await api.post(account, body));
      return Number(/\$(\d+\.\d+)/.exec(message)?.[1]);
    };
    expect(await held("open")).toBeGreaterThan(0.009);
    expect(await held("closed")).toBeLessThan(0.001);
  });
});

describe("a tool call of an earlier message", () => {
  test("without parameters goes upstream with an empty object", async () => {
    const calls = [called("a", ""), called("b", " \n"), called("c", "{}")];
    const messages = [USER, { role: "assistant", content: null, tool_calls: calls }];
    const { body } = await send({ messages: [...messages, ...["a", "b", "c"].map(resultOf)] });
    const [, said] = body.messages as { tool_calls: { function: { arguments: string } }[] }[];
    expect(said?.tool_calls.map((call) => call.function.arguments)).toEqual(["{}", "{}", "{}"]);
  });

  const withExtra = (extra_content: unknown) => {
    const tool_calls = [called("a", "{}", { extra_content })];
    return [USER, { role: "assistant", content: null, tool_calls }, resultOf("a")];
  };

  test("keeps its thought signature", async () => {
    const messages = withExtra({ google: { thought_signature: "c2ln".repeat(9_000) } });
    const { body, ignored } = await send({ messages });
    expect(body.messages).toEqual(messages);
    expect(ignored).toBeUndefined();
  });

  test("is refused with extra content that is too long or not an object", async () => {
    const account = await api.account({ paid: "1" });
    for (const extra of [{ x: "y".repeat(65_536) }, "x", [1]]) {
      const response = await api.post(account, chatBody({ messages: withExtra(extra) }));
      const { code, message } = await errorOf(response);
      expect([response.status, code]).toEqual([400, "invalid_parameter"]);
      expect(message).toMatch(/^messages\[1?\]\.tool_calls\[0?\]\.extra_content must be /);
    }
  });
});

describe("an empty list", () => {
  const DEPENDENT = { tool_choice: "auto", parallel_tool_calls: true };

  test("of tools is left out, with the parameters that depend on tools", async () => {
    const others = [{}, DEPENDENT, { tool_choice: "none" }, { tool_choice: "required" }];
    for (const fields of others) {
      const { body } = await send({ tools: [], ...fields });
      const names = Object.keys(body).filter((name) => /tool/.test(name));
      expect(names).toEqual([]);
    }
  });

  test("of tools is like no list: the parameters of tools are left out then too", async () => {
    const { body } = await send(DEPENDENT);
    expect(Object.keys(body).filter((name) => /tool/.test(name))).toEqual([]);
  });

  test("of stops is left out", async () => {
    expect((await send({ stop: [] })).body).not.toHaveProperty("stop");
  });

  test("changes nothing for lists that are not empty", async () => {
    const { body } = await send({ tools: [FARE], ...DEPENDENT, stop: ["x"] });
    expect(body).toMatchObject({ tools: [FARE], ...DEPENDENT, stop: ["x"] });
  });
});
