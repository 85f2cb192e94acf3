// Tests every parameter of a chat request: it is forwarded, refused by its name, or named in the
// answer. None is dropped silently.

import { describe, expect, test } from "bun:test";
import type { ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { pngUrl } from "../../support/api/images.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { wholeReply } from "../../support/fakes/scripted-chat.ts";

const IMAGE = pngUrl(8, 8);
const TUNABLE: ModelEntry = { ...MODEL, id: "tunable", extraParameters: ["top_k", "template"] };

const catalogue = catalogueOf([MODEL, TUNABLE], []);
const api = await sharedApi({ catalogue: () => catalogue });
const account = await api.account({ contract: "enterprise", paid: "100" });

interface Answered {
  readonly svc: { readonly ignored?: readonly string[] };
}

async function ignored(fields: object): Promise<readonly string[] | undefined> {
  const response = await api.post(account, chatBody(fields));
  expect(response.status).toBe(200);
  return ((await response.json()) as Answered).svc.ignored;
}

const OTHERS = { store: true, metadata: { a: "b" }, top_k: 5, prompt_cache_retention: "24h" };

describe("a parameter that is not forwarded", () => {
  test("is named in svc.ignored, whole and streamed", async () => {
    const names = Object.keys(OTHERS);
    expect(await ignored(OTHERS)).toEqual(names);
    const response = await api.post(account, chatBody({ ...OTHERS, stream: true }));
    const frames = (await response.text()).split("\n\n");
    const last = frames.find((frame) => frame.includes('"svc"')) ?? "";
    expect(JSON.parse(last.slice(6)).svc.ignored).toEqual(names);
    expect(api.chat.requests.map(({ parameters, extras }) => [parameters, extras])).toEqual([
      [{}, undefined],
      [{}, undefined],
    ]);
  });

  test("is named wherever it stands", async () => {
    const messages = [
      { role: "user", content: [{ type: "text", text: "x", cache_control: { type: "e" } }] },
      { role: "assistant", content: "y", reasoning_content: "hm", audio: null, annotations: [] },
      { role: "tool", tool_call_id: "c", content: "z", name: "f" },
    ];
    const tools = [{ type: "function", function: { name: "f" }, cache_control: { type: "e" } }];
    expect(
      await ignored({ messages, tools, stream_options: { include_obfuscation: true } }),
    ).toEqual([
      "messages[].content[].cache_control",
      "messages[].reasoning_content",
      "messages[].name",
      "tools[].cache_control",
      "stream_options.include_obfuscation",
    ]);
  });

  test("is not named if everything had its effect, or it requests nothing", async () => {
    const harmless = { n: 1, service_tier: "auto", modalities: ["text"], seed: 1, logprobs: true };
    expect(await ignored({ ...harmless, metadata: null, functions: null })).toBeUndefined();
  });
});

describe("a parameter that a model's configuration lists", () => {
  test("is forwarded to that model, and not named", async () => {
    const fields = { model: TUNABLE.id, top_k: 5, template: { thinking: true }, min_p: 0.1 };
    expect(await ignored(fields)).toEqual(["min_p"]);
    const [request] = api.chat.requests;
    expect([...(request?.extras ?? [])]).toEqual([
      ["top_k", 5],
      ["template", { thinking: true }],
    ]);
  });

  test("counts as prompt in the hold, since a template may show it", async () => {
    const held = async (fields: object) => {
      let amount = 0n;
      api.chat.reply = async () => {
        amount = (await api.view(account)).heldPaid;
        return wholeReply("Hello");
      };
      await api.post(account, chatBody({ model: TUNABLE.id, ...fields }));
      return amount;
    };
    const bare = await held({});
    expect(await held({ template: { words: "x".repeat(1_000) } })).toBeGreaterThan(
      bare + 1_000_000n,
    );
    expect(await held({ min_p: "x".repeat(1_000) })).toBe(bare);
  });
});

describe("a parameter without its promised effect is refused by its name", () => {
  const cases: readonly (readonly [fields: object, message: string])[] = [
    [{ n: 2 }, "n must be 1: send one request for each reply"],
    [{ audio: { voice: "x" } }, "audio is not supported: a reply is text and images"],
    [{ modalities: ["text", "audio"] }, "modalities[1] must be one of: text, image"],
    [{ web_search_options: {} }, "web_search_options is not supported: search by a function tool"],
    [{ service_tier: "scale" }, "service_tier must be one of: auto, default, flex, priority"],
    [
      { service_tier: "priority" },
      `service_tier must not be 'priority': '${MODEL.id}' has no price for this tier`,
    ],
    [{ functions: [{ name: "f" }] }, "functions is not supported: use tools"],
    [{ function_call: "auto" }, "function_call is not supported: use tool_choice"],
    [
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: IMAGE } }] }] },
      `messages[0].content[0].image_url.url must not be an image: '${MODEL.id}' takes text only`,
    ],
    [
      { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }] },
      "messages[0].content[0].type must be one of: text, image_url, file",
    ],
    [
      { tools: [{ type: "custom", custom: { name: "f" } }] },
      "tools[0].type must be 'function': custom tools and built-in ones are not supported",
    ],
    [
      { messages: [{ role: "assistant", content: null, function_call: { name: "f" } }] },
      "messages[0].function_call is not supported: use tool_calls",
    ],
  ];
  for (const [fields, message] of cases) {
    test(message, async () => {
      const response = await api.post(account, chatBody(fields));
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toMatchObject({ code: "invalid_parameter", message });
      expect(api.chat.requests).toEqual([]);
    });
  }
});
