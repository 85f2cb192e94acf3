// The forms in which models are asked. A kind of server without a protocol does not compile.

import type { ProviderEntry } from "../models/catalogue.ts";
import type { Batches } from "./batches.ts";
import type { Guide } from "./guide/guide.ts";
import { completeUpstream, streamUpstream, type UpstreamCall } from "./openai/openai-provider.ts";
import type { ChatBatch, ChatReply } from "./provider.ts";

/**
 * Asks one server once: no retries that a caller does not see, nothing after its signal. An
 * ApiError says that the request is at fault, a RouteFailure that the next route may serve it.
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
