// Tests a model that thinks for longer than a stream may be silent, while its reasoning is hidden.

import { expect, test } from "bun:test";
import { usd } from "../../../src/core/money/money.ts";
import { chatBody, until } from "../../support/api/api-world.ts";
import { sharedApiOn } from "../../support/api/shared-api.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { batchesOf, endBatch, textBatch, USAGE } from "../../support/fakes/scripted-chat.ts";

const clock = new FakeClock();
const api = await sharedApiOn(clock);

const THOUGHTS = 10;

/** Thinks ten times, with this pause before each; returns the frames. */
async function framesOf(pauseMs: number) {
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
  const response = await api.post(account, chatBody({ stream: true }));
  const text = response.text();
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
