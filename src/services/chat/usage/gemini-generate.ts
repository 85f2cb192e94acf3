// Usage in Gemini's generateContent, at Google's API and on Vertex. Cache reads are inside of the
// prompt; thoughts, and the prompts of tools, are outside of the counts that they look part of.

import type { PartCounts, Served } from "../../../core/money/usage.ts";
import { isObject, type Json } from "../../../core/text/json.ts";
import {
  countIn,
  differs,
  feesIn,
  listIn,
  objectIn,
  pieceOf,
  type SentCall,
  textIn,
  tierOf,
  type UsageForm,
} from "./reply-usage.ts";

export interface LastOfGemini {
  /** The last usage with counts; each chunk of a stream repeats it with higher ones. */
  readonly usage: Json | null;
  readonly model: string | null;
  readonly isBlocked: boolean;
  /** The queries that the metadata of the reply names. */
  readonly groundedQueries: number;
  /** The calls of the search tool in the reply, and the queries in these calls. */
  readonly toolCalls: number;
  readonly toolQueries: number;
}

export const geminiGenerate: UsageForm<LastOfGemini> = {
  none: {
    usage: null,
    model: null,
    isBlocked: false,
    groundedQueries: 0,
    toolCalls: 0,
    toolQueries: 0,
  },
  fold(before, json) {
    const { usageMetadata: usage } = json;
    const isNewer = isObject(usage) && (hasCounts(usage) || before.usage === null);
    const candidates = listIn(json, "candidates");
    const calls = candidates.flatMap(searchCalls);
    const queries = candidates.map((one) => lengthIn(one.groundingMetadata, "webSearchQueries"));
    return {
      usage: isNewer ? usage : before.usage,
      model: textIn(json, "modelVersion") ?? before.model,
      isBlocked: before.isBlocked || textIn(json.promptFeedback, "blockReason") !== null,
      groundedQueries: Math.max(before.groundedQueries, ...queries),
      toolCalls: before.toolCalls + calls.length,
      toolQueries: calls.reduce(
        (sum, call) => sum + (lengthIn(call.args, "queries") || 1),
        before.toolQueries,
      ),
    };
  },
  read({ usage, model, isBlocked, ...searched }, sent) {
    // A prompt that was blocked has no counts: the provider says that nothing was used.
    if (usage === null || (!hasCounts(usage) && !isBlocked)) return null;
    const { parts, thoughts } = partsOf(usage);
    const served = {
      tier: tierBy(usage, sent),
      speed: "standard",
      geography: null,
      model,
    } as const;
    const { piece, isValid } = pieceOf(parts, served);
    const { promptTokens, completionTokens } = piece.usage;
    // The metadata and the calls of the tool name the same searches.
    const queries = Math.max(searched.groundedQueries, searched.toolQueries);
    const calls = Math.max(searched.toolCalls, Math.min(1, queries));
    return {
      pieces: [piece],
      fees: feesIn({ web_search: { calls, queries } }),
      reasoningTokens: thoughts,
      reportedCost: null,
      isContradictory: !isValid || differs(usage.totalTokenCount, promptTokens + completionTokens),
    };
  },
};

function hasCounts(usage: Json): boolean {
  return typeof usage.promptTokenCount === "number" || typeof usage.totalTokenCount === "number";
}

function partsOf(usage: Json): { readonly parts: PartCounts; readonly thoughts: number } {
  const input = countIn(usage, "promptTokenCount") + countIn(usage, "toolUsePromptTokenCount");
  const thoughts = countIn(usage, "thoughtsTokenCount");
  const output = countIn(usage, "candidatesTokenCount") + thoughts;
  const cached = countIn(usage, "cachedContentTokenCount");
  const prompt = modalities(usage, "promptTokensDetails");
  const reads = modalities(usage, "cacheTokensDetails");
  const replies = modalities(usage, "candidatesTokensDetails");
  const cacheReadAudio = Math.min(reads("AUDIO"), cached);
  // Details may sum up to less than the count, or leave out the cached part of a modality.
  const audioIn = within(prompt("AUDIO") - reads("AUDIO"), input - cached);
  const imageIn = within(prompt("IMAGE") - reads("IMAGE"), input - cached - audioIn);
  const imageOut = replies("IMAGE");
  const audioOut = replies("AUDIO");
  const parts = {
    uncached: input - cached - audioIn - imageIn,
    cacheRead: cached - cacheReadAudio,
    cacheReadAudio,
    audioIn,
    imageIn,
    text: output - imageOut - audioOut,
    imageOut,
    audioOut,
  };
  return { parts, thoughts: Number.isNaN(thoughts) ? 0 : thoughts };
}

function within(count: number, most: number): number {
  return Math.min(Math.max(0, count), Math.max(0, most));
}

/** The tokens of a modality in a list of details. */
function modalities(usage: Json, list: string): (modality: string) => number {
  const rows = listIn(usage, list);
  return (modality) =>
    rows
      .filter((row) => row.modality === modality)
      .reduce((sum, row) => sum + countIn(row, "tokenCount"), 0);
}

const TRAFFIC: Readonly<Record<string, string>> = {
  ON_DEMAND: "standard",
  ON_DEMAND_FLEX: "flex",
  ON_DEMAND_PRIORITY: "priority",
  PROVISIONED_THROUGHPUT: "provisioned",
};

/** Google's API names the tier, and Vertex the kind of traffic. */
function tierBy(usage: Json, sent: SentCall): Served["tier"] {
  const traffic = textIn(usage, "trafficType");
  const tier = textIn(usage, "serviceTier")?.toLowerCase() ?? null;
  return tierOf(traffic === null ? tier : (TRAFFIC[traffic] ?? traffic), sent);
}

function searchCalls(candidate: Json): Json[] {
  return listIn(candidate.content, "parts")
    .map((part) => objectIn(part, "toolCall"))
    .filter(({ toolType }) => toolType === "GOOGLE_SEARCH_WEB");
}

function lengthIn(json: unknown, name: string): number {
  const value = isObject(json) ? json[name] : null;
  return Array.isArray(value) ? value.length : 0;
}
