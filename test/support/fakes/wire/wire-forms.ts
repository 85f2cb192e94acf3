// The forms in which providers write their answers, by the kind of their protocol.

import { generateKeyPairSync } from "node:crypto";
import type { ProviderEntry } from "../../../../src/services/chat/models/catalogue.ts";
import type { UpstreamCall } from "../../../../src/services/chat/protocols/protocol.ts";
import { protocolsOf } from "../../../../src/services/chat/protocols/protocols.ts";
import { noGuide, providerAt, upstreamCall } from "../../api/chat-routes.ts";
import { realClock } from "../fake-clock.ts";
import { anthropicWire } from "./anthropic-wire.ts";
import { bedrockWire } from "./bedrock-wire.ts";
import { cohereWire } from "./cohere-wire.ts";
import { googleWire } from "./google-wire.ts";
import { responsesWire } from "./responses-wire.ts";
import type { WireForm } from "./wire-answer.ts";

/** The kinds of providers whose protocol is a package. */
export type SdkKind = Exclude<ProviderEntry["kind"], "openai" | "guide">;

export const WIRE_FORMS: Readonly<Record<SdkKind, WireForm>> = {
  anthropic: anthropicWire,
  google: googleWire,
  "google-vertex": googleWire,
  "amazon-bedrock": bedrockWire,
  cohere: cohereWire,
  "openai-responses": responsesWire,
};

const MODELS: Readonly<Record<SdkKind, string>> = {
  anthropic: "claude-opus-5",
  google: "gemini-3-pro-preview",
  "google-vertex": "gemini-3-pro-preview",
  "amazon-bedrock": "us.anthropic.claude-opus-4-8-v1:0",
  cohere: "command-a-reasoning-08-2025",
  "openai-responses": "gpt-5.6-sol",
};

export const protocols = protocolsOf({ guide: noGuide, clock: realClock });

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });

/** A service account whose tokens come from this address. */
export function serviceAccountAt(tokenUri: string) {
  return {
    clientEmail: "farebox@project.test",
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    privateKeyId: "key-1",
    tokenUri,
  };
}

/** A call to a server of this kind. */
export function sdkCall(
  kind: SdkKind,
  url: string,
  parts: Partial<UpstreamCall> = {},
  limits: Partial<ProviderEntry> = {},
): UpstreamCall {
  return upstreamCall(providerAt(url, { kind, ...limits }), MODELS[kind], parts);
}
