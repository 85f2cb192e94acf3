import { expect, test } from "bun:test";
import type { Call } from "../../../src/calls/call.ts";
import { firstAnswer } from "../../../src/calls/first-answer.ts";
import { ApiError } from "../../../src/core/errors.ts";
import { modelOf } from "../../support/api/chat-routes.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";
import { silent } from "../../support/fakes/silent-log.ts";

const MODELS = [modelOf(), modelOf(), modelOf()] as const;
type Model = (typeof MODELS)[number];
const ASKED_MS = 20;

/** Asks the models, each of which takes some time and ends as its turn says. */
function asking(signal: AbortSignal, turns: readonly (ApiError | string)[]) {
  const clock = new FakeClock();
  const call = { requestId: "req_1", upstreamFromMs: null, upstreamMs: 0 } as unknown as Call;
  const tried: Model[] = [];
  const ask = async () => {
    const turn = turns[tried.length - 1];
    clock.advance(ASKED_MS);
    if (turn instanceof ApiError) throw turn;
    return turn;
  };
  const answer = firstAnswer({ clock, log: silent }, call, { models: MODELS, tried, signal, ask });
  return { answer, tried, call };
}

function unreachable(wait?: number): ApiError {
  const options = wait === undefined ? {} : { retryAfterSeconds: wait };
  return new ApiError("upstream_unreachable", `After ${wait}`, options);
}

test("where no model answers, the caller is told the soonest time that one named", async () => {
  const turns = [30, 7, undefined].map(unreachable);
  const { answer, tried, call } = asking(new AbortController().signal, turns);
  await expect(answer).rejects.toMatchObject({
    code: "upstream_unreachable",
    message: "After undefined",
    retryAfterSeconds: 7,
  });
  expect(tried).toEqual([...MODELS]);
  expect(call.upstreamMs).toBe(3 * ASKED_MS);
});

test("the first model that answers is the last one asked; the wait for each counts", async () => {
  const { answer, tried, call } = asking(new AbortController().signal, [unreachable(), "Hello"]);
  expect(await answer).toBe("Hello");
  expect(tried).toEqual(MODELS.slice(0, 2));
  expect(call.upstreamMs).toBe(2 * ASKED_MS);
});

test("no other model is asked after an invalid request, or for a caller who has left", async () => {
  const invalid = new ApiError("invalid_parameter", "No");
  const refused = asking(new AbortController().signal, [invalid, "Hello"]);
  await expect(refused.answer).rejects.toBe(invalid);
  const left = unreachable();
  const late = asking(AbortSignal.abort(), [left, "Hello"]);
  await expect(late.answer).rejects.toBe(left);
  expect([refused.tried.length, late.tried.length]).toEqual([1, 1]);
});
