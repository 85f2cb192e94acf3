// Reads an entry of `providers` in the configuration file.

import type { Static } from "@sinclair/typebox";
import {
  GUIDE_PROVIDER,
  PROVIDER_DEFAULTS,
  type ProviderEntry,
} from "../services/chat/models/catalogue.ts";
import {
  DEFAULT_PRESET,
  PROVIDER_PRESETS,
  type ProviderPreset,
} from "../services/chat/models/provider-presets.ts";
import type { Provider } from "./catalogue-schema.ts";
import { type ApiKeys, baseUrlOf, type Refuse } from "./catalogue-values.ts";
import { pointerTo } from "./located-json.ts";

export interface ProviderContext {
  readonly keys: ApiKeys;
  readonly refuse: Refuse;
}

type ProviderFile = Static<typeof Provider>;

/** The provider of this name; what it leaves out is its preset's. */
export function toProvider(
  name: string,
  file: ProviderFile,
  { keys, refuse }: ProviderContext,
): ProviderEntry {
  const pointer = pointerTo("/providers", name);
  if (name === GUIDE_PROVIDER) refuse(pointer, "is reserved for Farebox itself");
  const preset: ProviderPreset = PROVIDER_PRESETS[file.provider ?? DEFAULT_PRESET];
  const { timeouts } = file;
  if (preset.needsKey && file.api_key_env === undefined) {
    refuse(`${pointer}/api_key_env`, `is missing: ${file.provider} needs a key`);
  }
  return {
    name,
    kind: preset.kind,
    baseUrl: addressOf(file, preset, (problem) => refuse(`${pointer}/base_url`, problem)),
    apiKey: keys.of(pointer, file.api_key_env),
    firstByteTimeoutMs: timeouts?.first_byte_ms ?? PROVIDER_DEFAULTS.firstByteTimeoutMs,
    replyTimeoutMs: timeouts?.reply_ms ?? PROVIDER_DEFAULTS.replyTimeoutMs,
    idleTimeoutMs: timeouts?.idle_ms ?? PROVIDER_DEFAULTS.idleTimeoutMs,
    usageTimeoutMs: PROVIDER_DEFAULTS.usageTimeoutMs,
    concurrencyMax: file.concurrency ?? PROVIDER_DEFAULTS.concurrencyMax,
    maxTokensField: file.max_tokens_field ?? preset.maxTokensField,
    quirks: preset.quirks,
  };
}

function addressOf(
  { base_url: given }: ProviderFile,
  { baseUrl }: ProviderPreset,
  refuse: (problem: string) => never,
): string {
  const address = given ?? baseUrl;
  return address === null ? refuse("is missing") : baseUrlOf(address, refuse);
}
