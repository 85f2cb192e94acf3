// Reads an entry of `providers` in the configuration file.

import { pointerTo } from "../../../core/configuration/located-json.ts";
import { baseUrlOf, percentAt, type SectionContext } from "../../../core/configuration/section.ts";
import {
  GUIDE_PROVIDER,
  type IdentifierField,
  PROVIDER_DEFAULTS,
  type ProviderEntry,
} from "../models/catalogue.ts";
import { PROVIDER_MEDIA } from "../models/provider-media.ts";
import {
  DEFAULT_PRESET,
  PROVIDER_PRESETS,
  type ProviderPreset,
} from "../models/provider-presets.ts";
import { cloudAddress, cloudOf } from "./provider-cloud.ts";
import type { ProviderFile } from "./provider-schema.ts";

/** The provider of this name; the preset has the fields that the entry leaves out. */
export function toProvider(
  name: string,
  file: ProviderFile,
  { keys, json, refuse }: SectionContext,
): ProviderEntry {
  const pointer = pointerTo("/providers", name);
  if (name === GUIDE_PROVIDER) refuse(pointer, "is reserved for Farebox itself");
  const { provider: presetName = DEFAULT_PRESET } = file;
  const preset: ProviderPreset = PROVIDER_PRESETS[presetName];
  const { identifiers: fields = preset.identifiers } = file;
  fields.forEach((field, index) => {
    if (SENDABLE[preset.kind].includes(field)) return;
    refuse(`${pointer}/identifiers/${index}`, `'${field}' is no field of ${presetName}`);
  });
  const { timeouts } = file;
  const markup = percentAt(file.markup_percent, `${pointer}/markup_percent`, { json, refuse });
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
    cacheMinutes: file.cache_minutes ?? preset.cacheMinutes ?? PROVIDER_DEFAULTS.cacheMinutes,
    media: PROVIDER_MEDIA[presetName],
    ...(markup !== undefined && { markupPercent: markup }),
    ...(fields.length > 0 && { identifiers: { preset: presetName, fields } }),
    ...(preset.credentials === "cloud" && { cloud: cloudOf(file, pointer, { keys, refuse }) }),
  };
}

const OPENAI_FIELDS = ["safety_identifier", "user", "prompt_cache_key"] as const;

/** The identifiers that the requests of each protocol can have. */
const SENDABLE: Readonly<Record<ProviderPreset["kind"], readonly IdentifierField[]>> = {
  openai: OPENAI_FIELDS,
  "openai-responses": OPENAI_FIELDS,
  anthropic: ["metadata.user_id"],
  "google-vertex": ["metadata.user_id"],
  google: [],
  "amazon-bedrock": [],
  cohere: [],
};

function addressOf(
  file: ProviderFile,
  { baseUrl }: ProviderPreset,
  refuse: (problem: string) => never,
): string {
  const own = baseUrl === null ? null : cloudAddress(baseUrl, file);
  const address = file.base_url ?? own;
  return address === null ? refuse("is missing") : baseUrlOf(address, refuse);
}
