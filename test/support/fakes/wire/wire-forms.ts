// The forms in which providers write their answers, by the kind of their protocol.

import { generateKeyPairSync } from "node:crypto";
import type { ProviderEntry } from "../../../../src/services/chat/models/catalogue.ts";
import { PROVIDER_PRESETS } from "../../../../src/services/chat/models/provider-presets.ts";
import type {
  OwnProtocol,
  Protocol,
  UpstreamCall,
} from "../../../../src/services/chat/protocols/protocol.ts";
import { protocolsOf } from "../../../../src/services/chat/protocols/protocols.ts";
import type { OwnForm } from "../../../../src/services/chat/protocols/provider.ts";
import { noGuide, PROMPT, providerAt, REQUEST, upstreamCall } from "../../api/chat-routes.ts";
import { sharedServer } from "../../shared.ts";
import { realClock } from "../fake-clock.ts";
import { anthropicWire } from "./anthropic-wire.ts";
import { bedrockWire } from "./bedrock-wire.ts";
import { CHAT_WIRES } from "./chat-wire.ts";
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

/** A model of each kind, by its name there. */
export const SDK_MODELS: Readonly<Record<SdkKind, string>> = {
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

/** A service account whose tokens come from a server until the last test of the file has run. */
export function sharedServiceAccount() {
  const token = { access_token: "ya29.token", expires_in: 3_600 };
  return serviceAccountAt(String(sharedServer(() => Response.json(token)).url));
}

/** A call to a server of this kind. */
export function sdkCall(
  kind: SdkKind,
  url: string,
  parts: Partial<UpstreamCall> = {},
  limits: Partial<ProviderEntry> = {},
): UpstreamCall {
  return upstreamCall(providerAt(url, { kind, ...limits }), SDK_MODELS[kind], parts);
}

/** Providers of OpenAI's form with habits of their own. */
type ChatPreset = keyof typeof CHAT_WIRES;
/** Every provider that the configuration can name, but for servers that are not known. */
export type WireProvider = SdkKind | ChatPreset;

export const ALL_FORMS: Readonly<Record<WireProvider, WireForm>> = { ...WIRE_FORMS, ...CHAT_WIRES };

function isChatPreset(name: WireProvider): name is ChatPreset {
  return name in CHAT_WIRES;
}

/** The protocol that a provider is asked by. */
export function protocolOf(name: WireProvider): Protocol {
  return protocols[isChatPreset(name) ? "openai" : name];
}

/** A call to a server of this provider. */
export function callTo(
  name: WireProvider,
  url: string,
  parts: Partial<UpstreamCall> = {},
  limits: Partial<ProviderEntry> = {},
): UpstreamCall {
  if (!isChatPreset(name)) return sdkCall(name, url, parts, limits);
  const { maxTokensField, quirks } = PROVIDER_PRESETS[name];
  return upstreamCall(providerAt(url, { maxTokensField, quirks, ...limits }), "model-x", parts);
}

/** A way to a provider: by its protocol, or passed through in its own form. */
export interface WireWay {
  readonly kind: WireProvider;
  readonly own?: OwnForm;
}

/** The ways to all providers, by their names. */
export const ALL_WAYS: Readonly<Record<string, WireWay>> = {
  ...Object.fromEntries(Object.keys(ALL_FORMS).map((kind) => [kind, { kind }])),
  "openai-responses, passed through": { kind: "openai-responses", own: "responses" },
  "anthropic, passed through": { kind: "anthropic", own: "messages" },
};

/** The prompt of `REQUEST` in the forms that are passed through. */
const OWN_BODIES: Readonly<Record<OwnForm, object>> = {
  responses: { input: PROMPT },
  messages: { messages: REQUEST.messages },
  compaction: { input: PROMPT },
};

/** The protocol of a way. */
export function exchangeOf({ kind, own }: WireWay): Pick<OwnProtocol, "complete" | "stream"> {
  const protocol = protocolOf(kind);
  const passing = own === undefined ? protocol : protocol.own?.find(({ form }) => form === own);
  if (passing === undefined) throw new Error(`Nobody passes ${own} through to ${kind}`);
  return passing;
}

/** A call of a way to a server. */
export function callBy(
  { kind, own }: WireWay,
  url: string,
  parts: Partial<UpstreamCall> = {},
  limits: Partial<ProviderEntry> = {},
): UpstreamCall {
  const call = callTo(kind, url, parts, limits);
  if (own === undefined) return call;
  const body = { ...OWN_BODIES[own] };
  return { ...call, request: { ...call.request, own: { form: own, body, lost: [], only: [] } } };
}
