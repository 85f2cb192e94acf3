// Anthropic's Messages.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { anthropicMessages } from "../../usage/anthropic-messages.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { ChatRequest } from "../provider.ts";
import type { OwnOptions, SdkForm } from "./sdk-form.ts";
import { rawReader } from "./sdk-usage.ts";

/** Thoughts of Claude, as Anthropic signs them. */
export const CLAUDE_METADATA = { signature: "signature", redactedData: "redacted_data" } as const;

const OPTIONS_NAME = "anthropic";
/** Anthropic refuses a smaller budget for thoughts. */
const BUDGET_MIN = 1_024;
/** The part of the output limit that thoughts may take. */
const BUDGET_SHARES: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.2, medium: 0.5 };
const BUDGET_SHARE_MAX = 0.8;

/** The budget of thoughts for an effort within an output limit; null if they do not fit. */
export function thoughtBudget(effort: string, maxTokens: number): number | null {
  const share = BUDGET_SHARES[effort] ?? BUDGET_SHARE_MAX;
  const budget = Math.max(BUDGET_MIN, Math.floor(maxTokens * share));
  return budget < maxTokens ? budget : null;
}

/**
 * Older models of Claude have a budget for thoughts, which the package adds to the output limit.
 * The hold covers only the limit, so the budget is taken out of it (D-675).
 */
async function hasThoughtBudget(model: string): Promise<boolean> {
  const { getModelCapabilities } = await import("@ai-sdk/anthropic/internal");
  return !getModelCapabilities(model).supportsAdaptiveThinking;
}

export const claudeUsage = rawReader(
  anthropicMessages,
  (usage, { finishReason, hasOutput, model }) => ({
    usage,
    model,
    stop_reason: finishReason.raw,
    content: hasOutput ? [{ type: "text" }] : [],
  }),
);

export const anthropic: SdkForm = {
  optionsName: OPTIONS_NAME,
  extraName: OPTIONS_NAME,
  takesLaterSystem: false,
  metadata: CLAUDE_METADATA,
  async open({ provider, model }, fetch) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const { baseUrl: baseURL, apiKey } = provider;
    return createAnthropic({ baseURL, apiKey: apiKey ?? "", fetch })(model);
  },
  own: async (call) => {
    const { options, ...own } = await claudeOptions(call);
    return { ...own, options: withTier(options) };
  },
  usage: claudeUsage,
  limitOf: ({ max_tokens }) => max_tokens,
};

/** Capacity that the operator has committed to serves no call, because no price row is for it. */
function withTier(options: OwnOptions["options"] = {}): Partial<LanguageModelV4CallOptions> {
  const own = options.providerOptions?.[OPTIONS_NAME];
  const providerOptions = { [OPTIONS_NAME]: { ...own, serviceTier: "standard_only" } };
  return { ...options, providerOptions };
}

/** The options of Claude behind Anthropic's own form of requests. */
export async function claudeOptions(call: UpstreamCall): Promise<OwnOptions> {
  const { request, model, identifiers } = call;
  const hasNoParallelCalls = request.parameters.parallel_tool_calls === false;
  const userId = identifiers?.["metadata.user_id"];
  const own = {
    includePings: true,
    ...(hasNoParallelCalls && { disableParallelToolUse: true }),
    ...(userId !== undefined && { metadata: { userId } }),
  };
  const { thinking, maxOutputTokens, takes, ignored } = await budgetOptions(request, model);
  return {
    options: {
      providerOptions: { [OPTIONS_NAME]: thinking === null ? own : { ...own, thinking } },
      ...(maxOutputTokens !== null && { maxOutputTokens }),
    },
    takes: hasNoParallelCalls ? [...takes, "parallel_tool_calls"] : takes,
    ignored,
  };
}

interface BudgetOptions extends Required<Pick<OwnOptions, "takes" | "ignored">> {
  readonly thinking: { readonly type: "enabled"; readonly budgetTokens: number } | null;
  readonly maxOutputTokens: number | null;
}

const NO_BUDGET: BudgetOptions = { thinking: null, maxOutputTokens: null, takes: [], ignored: [] };
const EFFORT = "reasoning_effort";

/** The share of thoughts in the output limit, for models that have one. */
export async function budgetOptions(
  { parameters, maxTokens }: ChatRequest,
  model: string,
): Promise<BudgetOptions> {
  const { reasoning_effort: effort } = parameters;
  if (typeof effort !== "string" || effort === "none") return NO_BUDGET;
  if (!(await hasThoughtBudget(model))) return NO_BUDGET;
  const budgetTokens = thoughtBudget(effort, maxTokens);
  // There is no room for thoughts.
  if (budgetTokens === null) return { ...NO_BUDGET, takes: [EFFORT], ignored: [EFFORT] };
  const thinking = { type: "enabled", budgetTokens } as const;
  return { thinking, maxOutputTokens: maxTokens - budgetTokens, takes: [EFFORT], ignored: [] };
}
