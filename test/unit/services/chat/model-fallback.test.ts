import { expect, test } from "bun:test";
import type { Call } from "../../../../src/calls/call.ts";
import { ApiError } from "../../../../src/core/errors.ts";
import type { ChatCallDeps } from "../../../../src/services/chat/chat-admission.ts";
import { ModelTurns } from "../../../../src/services/chat/model-fallback.ts";
import { modelOf } from "../../../support/api/chat-routes.ts";
import { silent } from "../../../support/fakes/silent-log.ts";

const MODELS = [modelOf(), modelOf(), modelOf()] as const;

function turnsOf(signal: AbortSignal): ModelTurns {
  const deps = { log: silent, clock: { monotonicMs: () => 0 } } as unknown as ChatCallDeps;
  return new ModelTurns(deps, { requestId: "req_1" } as Call, MODELS, signal);
}

test("where no model answers, the caller is told the soonest time that one named", () => {
  const turns = turnsOf(new AbortController().signal);
  for (const [at, wait] of [30, 7, undefined].entries()) {
    expect(turns.begin()).toBe(MODELS[at] as (typeof MODELS)[0]);
    const options = wait === undefined ? {} : { retryAfterSeconds: wait };
    turns.failed(new ApiError("upstream_unreachable", `After ${wait}`, options));
    turns.end();
  }
  expect(turns.tried).toEqual([...MODELS]);
  expect(() => turns.begin()).toThrow(
    expect.objectContaining({
      code: "upstream_unreachable",
      message: "After undefined",
      retryAfterSeconds: 7,
    }),
  );
});

test("no other model is asked after an invalid request, or for a caller who has left", () => {
  const invalid = new ApiError("invalid_parameter", "No");
  const turns = turnsOf(new AbortController().signal);
  turns.begin();
  expect(() => turns.failed(invalid)).toThrow(invalid);
  const late = turnsOf(AbortSignal.abort());
  late.begin();
  const unreachable = new ApiError("upstream_unreachable", "Left");
  expect(() => late.failed(unreachable)).toThrow(unreachable);
});
