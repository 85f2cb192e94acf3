// Asks models in order until one answers. Only what comes before the first byte of an answer lets
// the next one take over; all of them share the hold of the call.

import type { Call } from "../../calls/call.ts";
import { ApiError } from "../../core/errors.ts";
import type { Models } from "./auto-router.ts";
import type { ModelEntry } from "./catalogue.ts";
import type { ChatCallDeps } from "./chat-admission.ts";

/** A model that answered. */
export interface Answered<Result> {
  readonly model: ModelEntry;
  /** The models asked, in order; the last of them is the one that answered. */
  readonly tried: readonly ModelEntry[];
  readonly result: Result;
}

/** Throws what the last model failed by, or what is the request's own fault or the caller's. */
export async function firstAnswer<Result>(
  deps: ChatCallDeps,
  { requestId }: Call,
  { models, signal }: { readonly models: Models; readonly signal: AbortSignal },
  ask: (model: ModelEntry) => Promise<Result>,
): Promise<Answered<Result>> {
  const tried: ModelEntry[] = [];
  let failure: ApiError | null = null;
  for (const model of models) {
    tried.push(model);
    try {
      return { model, tried, result: await ask(model) };
    } catch (error) {
      if (signal.aborted || !isUnanswered(error)) throw error;
      failure = soonest(failure, error);
      if (models.length > 1)
        deps.log.warn({ requestId, model: model.id }, "A model did not answer");
    }
  }
  throw failure;
}

/** Of two failures the last, with the earlier time at which another try can be served. */
function soonest(before: ApiError | null, last: ApiError): ApiError {
  const seconds = [before, last].flatMap((error) => error?.retryAfterSeconds ?? []);
  if (seconds.length === 0) return last;
  const { code, message, cause } = last;
  return new ApiError(code, message, { cause, retryAfterSeconds: Math.min(...seconds) });
}

function isUnanswered(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === "upstream_unreachable";
}

/** What the log is told of the model where it is not the one that the call was admitted for. */
export function servedInstead({ model, tried }: Pick<Answered<unknown>, "model" | "tried">): {
  readonly model?: string;
} {
  return tried.length > 1 ? { model: model.id } : {};
}
