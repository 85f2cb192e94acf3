// Models on Google's Vertex AI: Gemini by Google's form, Claude by Anthropic's. The packages of
// both are used without the package for Vertex, which brings a second HTTP client (D-674).

import type { JSONValue } from "@ai-sdk/provider";
import { tierOf } from "../../request-tier.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { OwnForm } from "../provider.ts";
import { anthropic, CLAUDE_METADATA, claudeOptions, claudeUsage } from "./anthropic.ts";
import {
  GEMINI_METADATA,
  GOOGLE_NAME,
  geminiLimit,
  geminiModel,
  geminiOptions,
  geminiUsage,
} from "./google.ts";
import { bearerOf } from "./google-token.ts";
import type { SdkForm } from "./sdk-form.ts";

const GEMINI_OPTIONS_NAME = "googleVertex";
const CLAUDE_VERSION = "vertex-2023-10-16";

/** The form of a model on Vertex, by its name there. */
export function vertexForm(now: () => number): (model: string) => SdkForm {
  const gemini = vertexGemini(now);
  const claude = vertexClaude(now);
  return (model) => (isClaude(model) ? claude : gemini);
}

/** The form whose sealed thoughts a model on Vertex reads. */
export function vertexSeals(model: string): OwnForm | null {
  return isClaude(model) ? "messages" : null;
}

function isClaude(model: string): boolean {
  return model.startsWith("claude");
}

function vertexGemini(now: () => number): SdkForm {
  return {
    optionsName: GEMINI_OPTIONS_NAME,
    extraName: GOOGLE_NAME,
    takesLaterSystem: false,
    metadata: GEMINI_METADATA,
    async open(call, fetch) {
      const { createGoogle } = await import("@ai-sdk/google");
      const authorization = await bearerOf(call, now);
      return createGoogle({
        name: "google.vertex.chat",
        baseURL: `${call.provider.baseUrl}/publishers/google`,
        // The package wants a key, and must not send it here.
        apiKey: "none",
        headers: { authorization, "x-goog-api-key": undefined },
        fetch,
      })(call.model);
    },
    own: (call) => geminiOptions(call, GEMINI_OPTIONS_NAME, trafficOf(call)),
    usage: geminiUsage,
    servedModel: geminiModel,
    limitOf: geminiLimit,
  };
}

/** Vertex names the tier in a header, and has none for the standard one. */
function trafficOf({ request }: UpstreamCall): Record<string, JSONValue> {
  const tier = tierOf(request);
  return tier === "standard" ? {} : { sharedRequestType: tier };
}

function vertexClaude(now: () => number): SdkForm {
  return {
    optionsName: anthropic.optionsName,
    extraName: anthropic.extraName,
    takesLaterSystem: false,
    metadata: CLAUDE_METADATA,
    async open(call, fetch) {
      const { AnthropicLanguageModel } = await import("@ai-sdk/anthropic/internal");
      const bearer = await bearerOf(call, now);
      return new AnthropicLanguageModel(call.model, {
        provider: "googleVertex.anthropic.messages",
        baseURL: `${call.provider.baseUrl}/publishers/anthropic/models`,
        headers: { authorization: bearer },
        fetch,
        buildRequestUrl: (baseURL, isStream) =>
          `${baseURL}/${call.model}:${isStream ? "streamRawPredict" : "rawPredict"}`,
        transformRequestBody: ({ model: _, ...body }) => ({
          ...body,
          anthropic_version: CLAUDE_VERSION,
        }),
        // Google's policy refuses both unless a project has them switched on.
        supportsNativeStructuredOutput: false,
        supportsStrictTools: false,
      });
    },
    own: claudeOptions,
    usage: claudeUsage,
    limitOf: ({ max_tokens }) => max_tokens,
  };
}
