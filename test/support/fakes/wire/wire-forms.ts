// The forms in which providers write their answers, by the kind of their protocol.

import type { ProviderEntry } from "../../../../src/services/chat/models/catalogue.ts";
import type { UpstreamCall } from "../../../../src/services/chat/protocols/protocol.ts";
import { protocolsOf } from "../../../../src/services/chat/protocols/protocols.ts";
import { noGuide, providerAt, upstreamCall } from "../../api/chat-routes.ts";
import { anthropicWire } from "./anthropic-wire.ts";
import type { WireForm } from "./wire-answer.ts";

/** The kinds of providers whose protocol is a package. */
export type SdkKind = Exclude<ProviderEntry["kind"], "openai" | "guide">;

export const WIRE_FORMS: Readonly<Record<SdkKind, WireForm>> = {
  anthropic: anthropicWire,
};

const MODELS: Readonly<Record<SdkKind, string>> = {
  anthropic: "claude-opus-5",
};

export const protocols = protocolsOf(noGuide);

/** A call to a server of this kind. */
export function sdkCall(
  kind: SdkKind,
  url: string,
  parts: Partial<UpstreamCall> = {},
  limits: Partial<ProviderEntry> = {},
): UpstreamCall {
  return upstreamCall(providerAt(url, { kind, ...limits }), MODELS[kind], parts);
}
