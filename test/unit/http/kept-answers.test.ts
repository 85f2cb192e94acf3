// Tests the answers that a process keeps for repeats.

import { beforeEach, expect, test } from "bun:test";
import { IDEMPOTENCY } from "../../../src/core/access/limits.ts";
import { KeptAnswers, type KeyedRequest } from "../../../src/http/kept-answers.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { random } from "../../support/random.ts";

const ANSWER = "The answer is forty-two";

let clock: FakeClock;
let answers: KeptAnswers;
beforeEach(() => {
  clock = new FakeClock();
  answers = new KeptAnswers({ clock, random });
});

function keyed(name: string, key = "svc_live_a"): KeyedRequest {
  return { markers: [name], sealedBy: ["pepper", key, "order-1", "body"] };
}

test("an answer comes back as it was, text or bytes", () => {
  answers.keep(keyed("text"), ANSWER);
  answers.keep(keyed("bytes"), new Uint8Array([0, 255, 7]));
  expect(answers.find(keyed("text"))).toBe(ANSWER);
  expect(Buffer.from(answers.find(keyed("bytes")) ?? "")).toEqual(Buffer.from([0, 255, 7]));
  expect(answers.find(keyed("else"))).toBeNull();
});

test("only a request with the same secret, API key, idempotency key and body opens it", () => {
  const { markers, sealedBy } = keyed("m");
  answers.keep({ markers, sealedBy }, ANSWER);
  for (const changed of sealedBy.keys()) {
    const other = sealedBy.map((text, at) => (at === changed ? `${text}x` : text));
    expect(answers.find({ markers, sealedBy: other })).toBeNull();
  }
  expect(answers.find({ markers, sealedBy })).toBe(ANSWER);
});

test("an answer is kept for ten minutes and no longer, without another request", () => {
  answers.keep(keyed("m"), ANSWER);
  clock.advance(IDEMPOTENCY.answerMs - 1);
  expect(answers.find(keyed("m"))).toBe(ANSWER);
  clock.advance(1);
  expect(answers.find(keyed("m"))).toBeNull();
  expect([answers.count, answers.bytes]).toEqual([0, 0]);
});

test("an answer of 256 KiB is kept, a longer one is not", () => {
  answers.keep(keyed("m"), "x".repeat(IDEMPOTENCY.answerBytesMax));
  answers.keep(keyed("n"), "é".repeat(IDEMPOTENCY.answerBytesMax / 2 + 1));
  expect(answers.find(keyed("m"))).not.toBeNull();
  expect(answers.find(keyed("n"))).toBeNull();
});

test("all answers together stay below the bound; the oldest make room", () => {
  const bytesMax = 10_000;
  answers = new KeptAnswers({ clock, random, bytesMax });
  for (let n = 0; n < 50; n += 1) {
    answers.keep(keyed(`m${n}`), "x".repeat(2_000));
    expect(answers.bytes).toBeLessThanOrEqual(bytesMax);
  }
  expect(answers.count).toBe(3);
  expect(answers.find(keyed("m46"))).toBeNull();
  expect(answers.find(keyed("m47"))).not.toBeNull();
});

test("a later answer to a request replaces the one before, and counts once", () => {
  answers.keep(keyed("m"), ANSWER);
  const { bytes } = answers;
  clock.advance(IDEMPOTENCY.answerMs - 1);
  answers.keep(keyed("m"), ANSWER.replace("forty", "fifty"));
  expect([answers.count, answers.bytes]).toEqual([1, bytes]);
  clock.advance(1);
  expect(answers.find(keyed("m"))).toContain("fifty");
});
