// What calls tell the metrics and the traces of their process. Both are optional: without them a
// call takes no time for it.

import type { Hold, Outcome } from "../../actors/account.ts";
import type { ApiError } from "../core/errors.ts";
import type { NanoUsd } from "../core/money/money.ts";
import type { Call, CallTerms } from "./call.ts";

/** Counts what happens to calls. */
export interface CallMeter {
  /** An answered call took us so long, besides waiting for providers. */
  own(seconds: number): void;
  /** A request was answered with an error of this code. */
  refused(code: string): void;
}

/** Makes spans of calls that ended. */
export interface CallTracer {
  /** The header `traceparent` of a request, if its calls are traced. */
  contextOf(headers: Headers): string | null;
  admitted(call: Call, terms: CallTerms, hold: Hold): void;
  refused(call: Call, terms: CallTerms, error: ApiError): void;
  ended(hold: Hold, outcome: Outcome, charged: NanoUsd): void;
}
