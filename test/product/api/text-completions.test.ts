// OpenAI's older form, which is served as a chat with one message.

import { describe, expect, test } from "bun:test";
import { errorOf } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import { batchesOf, endBatch, textBatch, USAGE } from "../../support/fakes/scripted-chat.ts";

const api = await sharedApi();
const account = await api.account({ contract: "enterprise", paid: "100" });
const PATH = "/v1/completions";
const body = (more: object = {}) => ({ model: MODEL.id, prompt: "Say hello", ...more });
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

describe("a whole reply", () => {
  for (const prompt of ["Say hello", ["Say hello"]]) {
    test(`${JSON.stringify(prompt)} is the one message of a chat, at its price`, async () => {
      const response = await api.postTo(PATH, account, body({ prompt, max_tokens: 7, stop: "." }));
      expect(response.status).toBe(200);
      expect(response.headers.get("x-svc-cost-usd")).toBe("0.00002");
      expect(await response.json()).toMatchObject({
        id: expect.stringMatching(/^cmpl-/),
        object: "text_completion",
        model: MODEL.id,
        choices: [{ text: "Hello", index: 0, logprobs: null, finish_reason: "stop" }],
        usage,
        svc: { cost_usd: 0.00002 },
      });
      expect(api.chat.requests.at(-1)).toMatchObject({
        messages: [{ role: "user", content: "Say hello" }],
        maxTokens: 7,
        parameters: { stop: "." },
      });
    });
  }

  test("fields with the value that changes nothing are taken", async () => {
    const more = { n: 1, best_of: 1, echo: false, logprobs: null, suffix: null };
    expect((await api.postTo(PATH, account, body(more))).status).toBe(200);
  });
});

/** The data of the frames of a stream. */
async function framesOf(more: object): Promise<unknown[]> {
  api.chat.batches = () => batchesOf([textBatch("Hel"), textBatch("lo"), endBatch(USAGE)]);
  const response = await api.postTo(PATH, account, body({ stream: true, ...more }));
  const data = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, json]) => json);
  expect(data.at(-1)).toBe("[DONE]");
  return data.slice(0, -1).map((json) => JSON.parse(json ?? ""));
}

describe("a stream", () => {
  test("has usage and cost in the frame with the finish_reason", async () => {
    const frames = await framesOf({});
    expect(frames).toMatchObject([
      { object: "text_completion", choices: [{ text: "Hel", finish_reason: null }] },
      { choices: [{ text: "lo", finish_reason: null }] },
      {
        choices: [{ text: "", finish_reason: "stop" }],
        usage,
        svc: { cost_usd: 0.00002 },
      },
    ]);
  });

  test("has usage and cost in a frame of their own if the caller asks for that", async () => {
    const frames = await framesOf({ stream_options: { include_usage: true } });
    expect(frames.slice(-2)).toMatchObject([
      { choices: [{ finish_reason: "stop" }], usage: null },
      { choices: [], usage, svc: { cost_usd: 0.00002 } },
    ]);
  });
});

describe("a field for a feature that chats lack is refused by name", () => {
  for (const [more, message] of [
    [{ n: 2 }, "n must be 1"],
    [{ best_of: 3 }, "best_of must be 1"],
    [{ echo: true }, "echo must be false"],
    [{ logprobs: 1 }, "logprobs is not supported"],
    [{ suffix: "end" }, "suffix is not supported"],
    [{ prompt: undefined }, "prompt must be a text"],
    [{ prompt: "" }, "prompt must not be an empty text"],
    [{ prompt: ["a", "b"] }, "prompt must have at most 1 items"],
    [{ prompt: [1, 2] }, "prompt"],
    [{ max_tokens: 0 }, "max_tokens must be an integer"],
    [{ model: undefined }, "model must be a string"],
  ] as const) {
    test(JSON.stringify(more), async () => {
      const asked = api.chat.requests.length;
      const response = await api.postTo(PATH, account, body(more));
      expect(response.status).toBe(400);
      const { code, message: text } = await errorOf(response);
      expect(code).toBe("invalid_parameter");
      expect(text).toStartWith(message);
      expect(api.chat.requests).toHaveLength(asked);
    });
  }
});
