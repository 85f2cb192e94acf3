// Gemini, at Google's API.

import type { JSONValue } from "@ai-sdk/provider";
import { isObject, type Json } from "../../../../core/text/json.ts";
import { tierOf } from "../../request-tier.ts";
import { geminiGenerate } from "../../usage/gemini-generate.ts";
import { textIn } from "../../usage/reply-usage.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { OwnOptions, SdkForm } from "./sdk-form.ts";
import { rawReader } from "./sdk-usage.ts";

/** Gemini's thoughts, under the name that its compatible endpoint has for them. */
export const GEMINI_METADATA = { thoughtSignature: "thought_signature" } as const;
/** The name of Google's data in `extra_content` of its compatible endpoint. */
export const GOOGLE_NAME = "google";

export const geminiUsage = rawReader(geminiGenerate, (usageMetadata, { model }) => ({
  usageMetadata,
  modelVersion: model,
}));

/** The package hands on the name of the model in raw bodies alone. */
export const geminiModel = (body: Json) => textIn(body, "modelVersion");

export const google: SdkForm = {
  optionsName: GOOGLE_NAME,
  extraName: GOOGLE_NAME,
  takesLaterSystem: false,
  metadata: GEMINI_METADATA,
  async open({ provider, model }, fetch) {
    const { createGoogle } = await import("@ai-sdk/google");
    const { baseUrl: baseURL, apiKey } = provider;
    return createGoogle({ baseURL, apiKey: apiKey ?? "", fetch })(model);
  },
  own: (call) => geminiOptions(call, GOOGLE_NAME, { serviceTier: tierOf(call.request) }),
  usage: geminiUsage,
  servedModel: geminiModel,
  limitOf: geminiLimit,
};

/** The options that Google's API and Vertex share, beside the tier in the words of either. */
export function geminiOptions(
  { showsReasoning, request: { parameters } }: UpstreamCall,
  name: string,
  tier: Record<string, JSONValue>,
): OwnOptions {
  // Gemini sends the text of its thoughts only if it is asked to.
  const thoughts = showsReasoning ? { thinkingConfig: { includeThoughts: true } } : {};
  const { modalities } = parameters;
  const images = Array.isArray(modalities)
    ? { responseModalities: modalities.map((one) => String(one).toUpperCase()) }
    : {};
  return {
    options: { providerOptions: { [name]: { ...tier, ...thoughts, ...images } } },
    takes: ["service_tier", "modalities"],
  };
}

export function geminiLimit({
  generationConfig: config,
}: Readonly<Record<string, unknown>>): unknown {
  return isObject(config) ? config.maxOutputTokens : null;
}
