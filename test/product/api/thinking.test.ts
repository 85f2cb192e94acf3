// Tests a model that thinks for longer than a stream may be silent, while its reasoning is hidden.

import { expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { chatBody, until } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApiOn } from "../../support/api/shared-api.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { batchesOf, endBatch, textBatch, USAGE } from "../../support/fakes/scripted-chat.ts";

const clock = new FakeClock();
const api = await sharedApiOn(clock);

const THOUGHTS = 10;

const CHAT_DOOR = { path: "/v1/chat/completions", body: chatBody() };

/** Thinks ten times, with this pause before each; returns the frames. */
async function framesOf(pauseMs: number, { path, body } = CHAT_DOOR) {
  const account = await api.account({ paid: "1" });
  let thought = Promise.withResolvers<void>();
  api.chat.batches = async function* () {
    const role = { index: 0, delta: { role: "assistant" }, finish_reason: null };
    yield { deltas: [role], usage: null };
    for (let thoughts = 0; thoughts < THOUGHTS; thoughts += 1) {
      await thought.promise;
      yield { deltas: [], usage: null };
    }
    yield* batchesOf([textBatch("42"), endBatch(USAGE)]);
  };
  const { pulls } = api.chat;
  // Some doors send nothing before the first sign of life.
  const asking = api.postTo(path, account, { ...body, stream: true });
  const text = asking.then((response) => response.text());
  for (let thoughts = 1; thoughts <= THOUGHTS; thoughts += 1) {
    await until(() => api.chat.pulls === pulls + thoughts, "the next thought is waited for");
    clock.advance(pauseMs);
    const next = thought;
    thought = Promise.withResolvers();
    next.resolve();
  }
  const frames = (await text).split("\n\n");
  expect((await api.view(account)).paid).toBe(usd("0.99998"));
  return frames;
}

const isComment = (frame: string) => frame.startsWith(":");

test("a stream goes on beyond 90 seconds of hidden thoughts, with comments meanwhile", async () => {
  const frames = await framesOf(20_000);
  expect(frames.filter(isComment)).toHaveLength(THOUGHTS);
  expect(frames.join()).toContain('"content":"42"');
  expect(frames.at(-2)).toBe("data: [DONE]");
});

test("thoughts in quick succession make no comments", async () => {
  const frames = await framesOf(1_000);
  expect(frames.filter(isComment)).toEqual([]);
  expect(frames.at(-2)).toBe("data: [DONE]");
});

test.each([
  ["/v1/messages", { messages: [{ role: "user", content: "Hello" }], max_tokens: 100 }, "ping"],
  ["/v1/responses", { input: "Hello" }, "response.in_progress"],
] as const)(
  "a stream of %s has the signs of life that its clients know",
  async (path, more, sign) => {
    const frames = await framesOf(20_000, { path, body: { model: MODEL.id, ...more } });
    const signs = frames.filter((frame) => frame.startsWith(`event: ${sign}\n`));
    // The begin of a response is such an event, too.
    expect(signs).toHaveLength(THOUGHTS + (sign === "ping" ? 0 : 1));
    expect(frames.filter(isComment)).toEqual([]);
    expect(frames.join()).toContain('"42"');
  },
);
