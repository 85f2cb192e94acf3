// Lists the protocol of each kind of server. A kind without a protocol does not compile.

import type { ProviderKind } from "../models/catalogue.ts";
import { anthropic } from "./ai-sdk/anthropic.ts";
import { sdkProtocol } from "./ai-sdk/sdk-protocol.ts";
import type { Guide } from "./guide/guide.ts";
import { completeUpstream, streamUpstream } from "./openai/openai-provider.ts";
import type { Protocol } from "./protocol.ts";

export type Protocols = Readonly<Record<ProviderKind, Protocol>>;

/** The protocol of each kind of server. */
export function protocolsOf(guide: Guide): Protocols {
  return {
    openai: { complete: completeUpstream, stream: streamUpstream },
    guide: {
      complete: ({ request, ...options }) => guide.complete(request, options),
      stream: ({ request, ...options }) => guide.stream(request, options),
    },
    anthropic: sdkProtocol(anthropic),
  };
}
