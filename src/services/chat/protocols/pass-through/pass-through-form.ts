// The interface between the one pass-through and the forms that it passes.

import type { Json } from "../../../../core/text/json.ts";
import type { ProviderEntry } from "../../models/catalogue.ts";
import type { SentCall, UsageForm } from "../../usage/reply-usage.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { ChatChoice, ChatDelta, OwnForm } from "../provider.ts";

/** The meaning of an event of a stream. */
export interface PassedEvent {
  /** The text of the event, by the fields of chat's deltas; `{}` if it has none. */
  readonly delta: ChatDelta["delta"];
  /** True for an event without text that shows that the reply has begun. */
  readonly begins?: boolean;
  /** True for a thought, whether or not the event has its text. */
  readonly isThought?: boolean;
  /** The reason of the reply's end, by chat's names, if the event has one; more may follow. */
  readonly finish?: string;
  /** True if no event follows. */
  readonly isLast?: boolean;
  /** True if the server gives the reply up. */
  readonly isFailure?: boolean;
}

/** A form of requests and replies, which callers and servers both speak. */
export interface PassThroughForm<Last> {
  readonly form: OwnForm;
  readonly url: (provider: ProviderEntry) => string;
  /** The headers besides those that every request has. */
  readonly headers: (call: UpstreamCall) => Readonly<Record<string, string>>;
  /** The caller's body, with the fields that the caller does not decide. */
  readonly body: (call: UpstreamCall, stream: boolean) => Json;
  readonly usage: UsageForm<Last>;
  /** The terms of the request that a usage may leave out. */
  readonly sent: (call: UpstreamCall) => SentCall;
  readonly read: (event: Json) => PassedEvent;
  /** The text of a whole reply; null if it is none. */
  readonly whole: (reply: Json) => PassedReply | null;
}

export interface PassedReply {
  readonly choice: ChatChoice;
  readonly hasThought: boolean;
}
