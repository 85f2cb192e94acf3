// Lists the protocol of each kind of server. A kind without a protocol does not compile.

import type { ProviderEntry } from "../models/catalogue.ts";
import type { Batches } from "./batches.ts";
import type { Guide } from "./guide/guide.ts";
import { completeUpstream, streamUpstream, type UpstreamCall } from "./openai/openai-provider.ts";
import type { ChatBatch, ChatReply } from "./provider.ts";

/**
 * Sends a call to its server once, without retries, and ends with the signal of the call. An
 * ApiError means that the request is invalid, a RouteFailure that the next route may serve it.
 */
export interface Protocol {
  readonly complete: (call: UpstreamCall) => Promise<ChatReply>;
  readonly stream: (call: UpstreamCall) => Batches | AsyncIterable<ChatBatch>;
}

export type Protocols = Readonly<Record<ProviderEntry["kind"], Protocol>>;

/** The protocol of each kind of server. */
export function protocolsOf(guide: Guide): Protocols {
  return {
    openai: { complete: completeUpstream, stream: streamUpstream },
    guide: {
      complete: ({ request, ...options }) => guide.complete(request, options),
      stream: ({ request, ...options }) => guide.stream(request, options),
    },
  };
}
