// Answers repeats of a call with an idempotency key from the answers that this process keeps. A
// repeat passes the same checks as every call of its key, counts in the window, and costs nothing,
// as its headers say (D-754).

import { takeHold } from "../calls/admission.ts";
import { type Call, NO_COST, outcomeOf } from "../calls/call.ts";
import { release } from "../calls/settling.ts";
import { OK } from "../core/errors.ts";
import type { Answer } from "./answer.ts";
import { serviceTerms } from "./body/ahead.ts";
import type { Endpoint } from "./endpoint-info.ts";
import type { FrameDeps } from "./frame.ts";
import type { KeyedRequest } from "./kept-answers.ts";

interface RepeatedCall {
  readonly deps: FrameDeps;
  readonly call: Call;
  readonly model: string | null;
}

/**
 * The kept answer to the first request; null if none is kept: the call then claims its key at its
 * admission. Throws the refusal that a new call of this caller would get.
 */
export async function replayOf(
  { deps, call, model }: RepeatedCall,
  definition: Pick<Endpoint<never>, "service" | "access">,
  keyed: KeyedRequest,
): Promise<Answer | null> {
  const body = deps.answers.find(keyed);
  if (body === null) {
    call.markers = keyed.markers;
    return null;
  }
  const { calls } = deps;
  const hold = await takeHold(calls, call, { ...serviceTerms(definition), model, ...NO_COST });
  await release(calls, hold, outcomeOf(calls, call, { status: OK, errorCode: null }));
  calls.meter?.replayed();
  return typeof body === "string"
    ? { json: body, isRepeat: true }
    : { bytes: body, isRepeat: true };
}

/** Keeps the answer of a call that was charged, if the answer is whole and reports no failure. */
export function keepAnswer({ answers }: FrameDeps, keyed: KeyedRequest, answer: Answer): void {
  if (!("costUsd" in answer) || answer.costUsd === "0" || answer.isFailure) return;
  answers.keep(keyed, "json" in answer ? answer.json : answer.bytes);
}
