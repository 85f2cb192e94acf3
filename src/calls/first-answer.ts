// Asks the models or the provider of a call, and measures how long the call waits for them.

import type { CancelSignal } from "../core/cancellation.ts";
import { ApiError } from "../core/errors.ts";
import type { Call, CallDeps } from "./call.ts";

/** The models that can answer a call, and the function that asks one. */
export interface ModelQuestion<Model extends { readonly id: string }, Answer> {
  readonly models: readonly Model[];
  /** The models asked so far; `firstAnswer` adds each before it asks it. */
  readonly tried: Model[];
  /** After an abort no further model is asked. */
  readonly signal: CancelSignal;
  readonly ask: (model: Model) => Promise<Answer>;
}

/**
 * The answer of the first model that has one; `tried` then ends with that model. Throws an error
 * that concerns the request or the caller at once. If no model answers, throws the last failure,
 * with the earliest time to retry of all (D-541).
 */
export async function firstAnswer<Model extends { readonly id: string }, Answer>(
  { clock, log }: Pick<CallDeps, "clock" | "log">,
  call: Call,
  { models, tried, signal, ask }: ModelQuestion<Model, Answer>,
): Promise<Answer> {
  const startMs = beginWaiting(clock, call);
  let failure: ApiError | null = null;
  try {
    for (const model of models) {
      tried.push(model);
      try {
        return await ask(model);
      } catch (error) {
        if (signal.aborted || !isUnanswered(error)) throw error;
        failure = withEarliestRetry(failure, error);
        if (models.length === 1) break;
        const { requestId } = call;
        log.warn({ requestId, model: model.id }, "A model did not answer");
      }
    }
    throw failure;
  } finally {
    endWaiting(clock, call, startMs);
  }
}

/** Waits for a provider, and counts the time as a wait of the call, not as our own time. */
export async function waitForProvider<Result>(
  { clock }: Pick<CallDeps, "clock">,
  call: Call,
  ask: () => Promise<Result>,
): Promise<Result> {
  const startMs = beginWaiting(clock, call);
  try {
    return await ask();
  } finally {
    endWaiting(clock, call, startMs);
  }
}

function beginWaiting(clock: CallDeps["clock"], call: Call): number {
  const startMs = clock.monotonicMs();
  call.upstreamFromMs ??= startMs;
  return startMs;
}

function endWaiting(clock: CallDeps["clock"], call: Call, startMs: number): void {
  call.upstreamMs += clock.monotonicMs() - startMs;
}

/** The last failure, with the earlier retry time of both. */
function withEarliestRetry(before: ApiError | null, last: ApiError): ApiError {
  const seconds = [before, last].flatMap((error) => error?.retryAfterSeconds ?? []);
  if (seconds.length === 0) return last;
  const { code, message, cause } = last;
  return new ApiError(code, message, { cause, retryAfterSeconds: Math.min(...seconds) });
}

function isUnanswered(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === "upstream_unreachable";
}
