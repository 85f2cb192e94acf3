// Reads an entry of `providers` in the configuration file.

import { pointerTo } from "../../../core/configuration/located-json.ts";
import { baseUrlOf, type SectionContext } from "../../../core/configuration/section.ts";
import { GUIDE_PROVIDER, PROVIDER_DEFAULTS, type ProviderEntry } from "../models/catalogue.ts";
import {
  DEFAULT_PRESET,
  PROVIDER_PRESETS,
  type ProviderPreset,
} from "../models/provider-presets.ts";
import { cloudAddress, cloudOf } from "./provider-cloud.ts";
import type { ProviderFile } from "./provider-schema.ts";

/** The provider of this name; what it leaves out is its preset's. */
export function toProvider(
  name: string,
  file: ProviderFile,
  { keys, refuse }: Pick<SectionContext, "keys" | "refuse">,
): ProviderEntry {
  const pointer = pointerTo("/providers", name);
  if (name === GUIDE_PROVIDER) refuse(pointer, "is reserved for Farebox itself");
  const preset: ProviderPreset = PROVIDER_PRESETS[file.provider ?? DEFAULT_PRESET];
  const { timeouts } = file;
  if (preset.credentials === "key" && file.api_key_env === undefined) {
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
    ...(preset.credentials === "cloud" && { cloud: cloudOf(file, pointer, { keys, refuse }) }),
  };
}

function addressOf(
  file: ProviderFile,
  { baseUrl }: ProviderPreset,
  refuse: (problem: string) => never,
): string {
  const own = baseUrl === null ? null : cloudAddress(baseUrl, file);
  const address = file.base_url ?? own;
  return address === null ? refuse("is missing") : baseUrlOf(address, refuse);
}
