// Lists the protocol of each kind of server. A kind without a protocol does not compile.

import type { Clock } from "../../../core/clock.ts";
import type { ProviderKind } from "../models/catalogue.ts";
import { anthropic } from "./ai-sdk/anthropic.ts";
import { bedrock } from "./ai-sdk/bedrock.ts";
import { cohere } from "./ai-sdk/cohere.ts";
import { google } from "./ai-sdk/google.ts";
import { responses } from "./ai-sdk/responses.ts";
import { sdkProtocol } from "./ai-sdk/sdk-protocol.ts";
import { vertexForm, vertexSeals } from "./ai-sdk/vertex.ts";
import type { Guide } from "./guide/guide.ts";
import { completeUpstream, streamUpstream } from "./openai/openai-provider.ts";
import { compactionForm } from "./pass-through/compaction-form.ts";
import { messagesForm } from "./pass-through/messages-form.ts";
import { passThrough } from "./pass-through/pass-through.ts";
import { responsesForm } from "./pass-through/responses-form.ts";
import type { Protocol } from "./protocol.ts";

export type Protocols = Readonly<Record<ProviderKind, Protocol>>;

export interface ProtocolDeps {
  readonly guide: Guide;
  readonly clock: Pick<Clock, "now">;
}

/** The protocol of each kind of server. */
export function protocolsOf({ guide, clock }: ProtocolDeps): Protocols {
  return {
    openai: { complete: completeUpstream, stream: streamUpstream },
    guide: {
      complete: ({ request, ...options }) => guide.complete(request, options),
      stream: ({ request, ...options }) => guide.stream(request, options),
    },
    anthropic: { ...sdkProtocol(anthropic), own: [passThrough(messagesForm)] },
    google: sdkProtocol(google),
    "google-vertex": { ...sdkProtocol(vertexForm(clock.now)), sealsOf: vertexSeals },
    "amazon-bedrock": sdkProtocol(bedrock),
    cohere: sdkProtocol(cohere),
    "openai-responses": {
      ...sdkProtocol(responses),
      own: [passThrough(responsesForm), passThrough(compactionForm)],
    },
  };
}
