// The interface of the protocols that upstream servers speak.

import type { CancelSignal } from "../../../core/cancellation.ts";
import type { Fetch } from "../../../upstream/upstream-http.ts";
import type { Batches } from "./batches.ts";
import type { GivenIdentifiers } from "./caller-identifiers.ts";
import type { RefusedCall } from "./openai/caller-fault.ts";
import type { ChatBatch, ChatReply, ChatRequest, OwnForm } from "./provider.ts";

/** A call to one route of a model. */
export interface UpstreamCall extends RefusedCall {
  /** The account that the request is for. */
  readonly account: string;
  readonly request: ChatRequest;
  /** The names of parameters that were taken out of the request for this server. */
  readonly ignored?: readonly string[];
  /** The identifiers of the caller, by the fields of this server. */
  readonly identifiers?: GivenIdentifiers;
  /** True if the caller gets the text of the model's reasoning. */
  readonly showsReasoning: boolean;
  /** True if the model is sold in a further tier that its server sells; left out: no. */
  readonly hasTiers?: true;
  /** True if the caller gets the images of the reply; left out: no. */
  readonly givesImages?: true;
  readonly signal: CancelSignal;
  readonly fetch: Fetch;
}

export interface Protocol extends Exchange {
  /** Pass a caller's body through to servers that speak its form (D-685). */
  readonly own?: readonly OwnProtocol[];
  /** The form whose sealed thoughts this model reads without its body being passed through. */
  readonly sealsOf?: (model: string) => OwnForm | null;
}

export interface OwnProtocol extends Exchange {
  readonly form: OwnForm;
}

/**
 * Sends a call to its server once, without retries, and ends with the signal of the call. An
 * ApiError means that the request is invalid, a RouteFailure that the next route may serve it.
 */
interface Exchange {
  readonly complete: (call: UpstreamCall) => Promise<ChatReply>;
  readonly stream: (call: UpstreamCall) => Batches | AsyncIterable<ChatBatch>;
}
