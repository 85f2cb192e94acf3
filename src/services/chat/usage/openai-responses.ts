// Usage in OpenAI's Responses, also as xAI, Azure, OpenRouter and AWS send them.

import type { FeeCounts, PartCounts } from "../../../core/money/usage.ts";
import { isObject, type Json } from "../../../core/text/json.ts";
import { reportedCostOf } from "./openai-chat.ts";
import {
  countIn,
  differs,
  feesIn,
  isCount,
  listIn,
  objectIn,
  pieceOf,
  type SentCall,
  textIn,
  tierOf,
  type UsageForm,
  writeParts,
} from "./reply-usage.ts";

/** The last whole response that came, or the whole reply. */
export interface LastOfResponses {
  readonly response: Json | null;
}

export const openAiResponses: UsageForm<LastOfResponses> = {
  none: { response: null },
  fold(before, json) {
    if (isObject(json.response)) return { response: json.response };
    return isObject(json.usage) ? { response: json } : before;
  },
  read({ response }, sent) {
    if (response === null || !isObject(response.usage)) return null;
    const { usage } = response;
    const input = countIn(usage, "input_tokens");
    const stated = countIn(usage, "output_tokens");
    const reasoning = countIn(usage.output_tokens_details, "reasoning_tokens") || 0;
    const { total_tokens: total } = usage;
    const isBeside = reasoning > 0 && total === input + stated + reasoning;
    const output = isBeside ? stated + reasoning : stated;
    const tool = imageToolParts(response);
    const main = inputParts(usage, input, sent);
    const parts: PartCounts = {
      ...main,
      uncached: (main.uncached ?? 0) + tool.textIn,
      imageIn: tool.imageIn,
      text: output + tool.textOut,
      imageOut: tool.imageOut,
    };
    const { piece, isValid } = pieceOf(parts, {
      tier: tierOf(textIn(response, "service_tier"), sent),
      speed: "standard",
      geography: null,
      model: textIn(response, "model"),
    });
    return {
      pieces: [piece],
      fees: feesOf(response),
      reasoningTokens: reasoning <= output ? reasoning : 0,
      reportedCost: reportedCostOf(usage),
      isContradictory: !isValid || differs(total, input + output),
    };
  },
};

/** Reads and writes of the cache are inside of the input. */
function inputParts({ input_tokens_details: details }: Json, input: number, sent: SentCall) {
  const cacheRead = countIn(details, "cached_tokens");
  const written = countIn(details, "cache_write_tokens");
  const parts: PartCounts = {
    ...writeParts(written, {}, sent),
    cacheRead,
    uncached: input - cacheRead - written,
  };
  return parts;
}

/**
 * The tokens of the image tool, which has a model of its own. These tokens are beside the usage.
 */
function imageToolParts(response: Json) {
  const image = objectIn(objectIn(response, "tool_usage"), "image_gen");
  const imageIn = countIn(image.input_tokens_details, "image_tokens");
  const imageOut = countIn(image.output_tokens_details, "image_tokens");
  return {
    imageIn,
    imageOut,
    textIn: countIn(image, "input_tokens") - imageIn,
    textOut: countIn(image, "output_tokens") - imageOut,
  };
}

/** The calls of the provider's tools: counted by the provider if it does, else by us. */
function feesOf(response: Json): FeeCounts {
  const details = objectIn(response.usage, "server_side_tool_usage_details");
  if (Object.keys(details).length > 0) {
    return feesIn({
      web_search: countIn(details, "web_search_calls") || 0,
      x_search: countIn(details, "x_search_calls") || 0,
      code_execution: countIn(details, "code_interpreter_calls") || 0,
      file_search: countIn(details, "file_search_calls") || 0,
    });
  }
  const items = listIn(response, "output");
  const count = (type: string) => items.filter((item) => item.type === type).length;
  const containers = items
    .filter(({ type }) => type === "code_interpreter_call")
    .map(({ container_id }) => container_id);
  const { num_requests: searches } = objectIn(objectIn(response, "tool_usage"), "web_search");
  return feesIn({
    web_search: isCount(searches) ? searches : searchesIn(items),
    x_search: count("x_search_call"),
    file_search: count("file_search_call"),
    code_container: new Set(containers).size,
  });
}

/** Searches are billed, and pages that are opened or looked through are not. */
function searchesIn(items: readonly Json[]) {
  const actions = items
    .filter(({ type }) => type === "web_search_call")
    .map((item) => objectIn(item, "action"))
    .filter(({ type }) => (type ?? "search") === "search");
  const queries = actions.map(({ queries }) => (Array.isArray(queries) ? queries.length : 1));
  return { calls: actions.length, queries: queries.reduce((sum, one) => sum + one, 0) };
}
