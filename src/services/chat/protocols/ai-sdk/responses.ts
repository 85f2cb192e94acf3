// OpenAI's Responses, for models that have no chat completions.

import { isObject, type Json } from "../../../../core/text/json.ts";
import { TIER_FIELD, tierOf } from "../../request-tier.ts";
import { openAiResponses } from "../../usage/openai-responses.ts";
import { SENT_PLAINLY } from "../../usage/reply-usage.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { OwnOptions, SdkForm } from "./sdk-form.ts";
import { type EndedReply, rawReader } from "./sdk-usage.ts";

const OPTIONS_NAME = "openai";

export const responses: SdkForm = {
  optionsName: OPTIONS_NAME,
  extraName: OPTIONS_NAME,
  takesLaterSystem: true,
  takesDetail: true,
  metadata: { itemId: "item_id", reasoningEncryptedContent: "encrypted_content" },
  async open({ provider, model }, fetch) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const { baseUrl: baseURL, apiKey } = provider;
    return createOpenAI({ baseURL, apiKey: apiKey ?? "", fetch }).responses(model);
  },
  own: responsesOptions,
  fields: tierField,
  usage: rawReader(openAiResponses, placeUsage, SENT_PLAINLY),
  limitOf: ({ max_output_tokens }) => max_output_tokens,
};

/** The tier and the model stand beside the counts (D-968). */
function placeUsage(usage: Json, { metadata, model }: EndedReply): Json {
  return { usage, model, service_tier: metadata.serviceTier };
}

/** The package refuses a request with any other. */
const VERBOSITIES = ["low", "medium", "high"] as const;

/** No setting of the operator's project decides the tier, whatever the name of the model is. */
function tierField({ request }: UpstreamCall): Json {
  const tier = tierOf(request);
  return { [TIER_FIELD]: tier === "standard" ? "default" : tier };
}

/** Nothing is kept at OpenAI. */
function responsesOptions(call: UpstreamCall): OwnOptions {
  const { request, showsReasoning, identifiers = {} } = call;
  const { safety_identifier: safetyIdentifier, prompt_cache_key: promptCacheKey } = identifiers;
  const { parallel_tool_calls: parallel, response_format: format, ...more } = request.parameters;
  const verbosity = VERBOSITIES.find((known) => known === more.verbosity);
  const schema = isObject(format) && isObject(format.json_schema) ? format.json_schema : {};
  const own = {
    store: false,
    strictJsonSchema: schema.strict === true,
    ...(typeof parallel === "boolean" && { parallelToolCalls: parallel }),
    ...(verbosity !== undefined && { textVerbosity: verbosity }),
    ...(showsReasoning && { reasoningSummary: "auto" }),
    ...(safetyIdentifier !== undefined && { safetyIdentifier }),
    ...(promptCacheKey !== undefined && { promptCacheKey }),
    ...(identifiers.user !== undefined && { user: identifiers.user }),
  };
  return {
    options: { providerOptions: { [OPTIONS_NAME]: own } },
    takes: ["parallel_tool_calls", TIER_FIELD, ...(verbosity ? ["verbosity"] : [])],
  };
}
