import { expect, test } from "bun:test";
import type { Call } from "../../../src/calls/call.ts";
import { ApiError } from "../../../src/core/errors.ts";
import type { ChatCallDeps } from "../../../src/services/chat/chat-admission.ts";
import { firstAnswer } from "../../../src/services/chat/model-fallback.ts";
import { modelOf } from "../../support/chat-routes.ts";
import { silent } from "../../support/silent-log.ts";

test("where no model answers, the caller is told the soonest time that one named", async () => {
  const waits = [30, 7, undefined];
  const models = [modelOf(), modelOf(), modelOf()] as const;
  const { signal } = new AbortController();
  const asking = firstAnswer(
    { log: silent, clock: { monotonicMs: () => 0 } } as unknown as ChatCallDeps,
    { requestId: "req_1" } as Call,
    { models, signal },
    async () => {
      const wait = waits.shift();
      const options = wait === undefined ? {} : { retryAfterSeconds: wait };
      throw new ApiError("upstream_unreachable", `After ${wait}`, options);
    },
  );
  await expect(asking).rejects.toMatchObject({
    code: "upstream_unreachable",
    message: "After undefined",
    retryAfterSeconds: 7,
  });
});
