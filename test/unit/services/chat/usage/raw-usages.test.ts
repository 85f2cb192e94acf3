// Random raw usages in each provider's form, right or wrong: no part is below zero, the parts add
// up to the total that the provider states or the usage is not believed, and no charge exceeds a
// hold.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { costOfPieces, pricesOf, upperBound } from "../../../../../src/core/money/call-cost.ts";
import { partsOf, sumOfUsages, TIERS } from "../../../../../src/core/money/usage.ts";
import { anthropicMessages } from "../../../../../src/services/chat/usage/anthropic-messages.ts";
import { bedrockConverse } from "../../../../../src/services/chat/usage/bedrock-converse.ts";
import { cohere } from "../../../../../src/services/chat/usage/cohere.ts";
import { geminiGenerate } from "../../../../../src/services/chat/usage/gemini-generate.ts";
import { openAiChat } from "../../../../../src/services/chat/usage/openai-chat.ts";
import { openAiResponses } from "../../../../../src/services/chat/usage/openai-responses.ts";
import type { ReplyUsage } from "../../../../../src/services/chat/usage/reply-usage.ts";
import { anyRows } from "../../../core/price-samples.ts";
import { type Reader, readerOf } from "./vector.ts";
import type { Json } from "./vector-form.ts";

/** Mostly counts, and now and then a value that is no count. */
const upTo = (max: number) =>
  fc.oneof(
    { weight: 24, arbitrary: fc.nat({ max }) },
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, -3, 1.5, 1e30, "7", {}, [], true) },
  );
const value = upTo(5_000);
const fieldsOf = (count: fc.Arbitrary<unknown>, names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, count])), { requiredKeys: [] });
const fields = (...names: readonly string[]) => fieldsOf(value, names);
/** Parts of other counts, most of which are inside of these. */
const inner = (...names: readonly string[]) => fieldsOf(upTo(900), names);
const word = (...words: readonly string[]) => fc.constantFrom<unknown>(...words, null, 3);

interface RawForm {
  readonly read: Reader;
  readonly reply: fc.Arbitrary<Json>;
  /** The total that a reply states; undefined if it states none. */
  readonly totalOf: (reply: Json) => unknown;
}

const at = (json: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Json | undefined)?.[name], json);

/** A total that is the sum of these counts, or any value. */
function withTotal(usage: fc.Arbitrary<Json>, total: string, ...counts: readonly string[]) {
  const sum = (json: Json) => counts.reduce((all, name) => all + (Number(json[name]) || 0), 0);
  return fc.tuple(usage, fc.option(value), fc.boolean()).map(
    ([json, other, isRight]): Json => ({
      ...json,
      ...(isRight ? { [total]: sum(json) } : other !== null && { [total]: other }),
    }),
  );
}

const openAiUsage = (input: string, output: string) =>
  withTotal(
    fc
      .tuple(
        fields(
          input,
          output,
          "cached_tokens",
          "prompt_cache_hit_tokens",
          "cache_read_input_tokens",
        ),
        inner("cached_tokens", "cache_write_tokens", "audio_tokens", "image_tokens"),
        inner("reasoning_tokens", "audio_tokens", "image_tokens"),
      )
      .map(
        ([flat, inside, out]): Json => ({
          ...flat,
          [input === "input_tokens" ? "input_tokens_details" : "prompt_tokens_details"]: inside,
          [input === "input_tokens" ? "output_tokens_details" : "completion_tokens_details"]: out,
        }),
      ),
    "total_tokens",
    input,
    output,
  );

const anthropicUsage = fc
  .tuple(
    fields(
      "input_tokens",
      "output_tokens",
      "cache_read_input_tokens",
      "cache_creation_input_tokens",
    ),
    fields("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
    fc.record({ service_tier: word(...TIERS), speed: word("fast"), inference_geo: word("us") }),
    fc.boolean(),
  )
  .map(
    ([flat, split, served, hasSplit]): Json => ({
      ...flat,
      ...served,
      ...(hasSplit && { cache_creation: split }),
    }),
  );
const iteration = fc
  .tuple(
    anthropicUsage,
    word("message", "fallback_message", "advisor_message"),
    word("big", "small"),
  )
  .map(([usage, type, model]): Json => ({ ...usage, type, model }));

const modalities = fc.array(
  fc.record({ modality: word("TEXT", "IMAGE", "AUDIO", "VIDEO"), tokenCount: value }),
  { maxLength: 3 },
);

const FORMS: Readonly<Record<string, RawForm>> = {
  "openai-chat": {
    read: readerOf(openAiChat),
    reply: fc.record({
      usage: openAiUsage("prompt_tokens", "completion_tokens"),
      service_tier: word(...TIERS, "on_demand", "auto"),
      model: word("big", "small"),
    }),
    totalOf: (reply) => at(reply, "usage", "total_tokens"),
  },
  "openai-responses": {
    read: readerOf(openAiResponses),
    reply: fc.record({
      usage: openAiUsage("input_tokens", "output_tokens"),
      service_tier: word(...TIERS),
      model: word("big", "small"),
    }),
    totalOf: (reply) => at(reply, "usage", "total_tokens"),
  },
  "anthropic-messages": {
    read: readerOf(anthropicMessages),
    reply: fc
      .tuple(anthropicUsage, fc.array(iteration, { maxLength: 3 }), word("end_turn", "refusal"))
      .map(
        ([usage, iterations, stop_reason]): Json => ({
          type: "message",
          model: "small",
          stop_reason,
          content: [],
          usage: iterations.length === 0 ? usage : { ...usage, iterations },
        }),
      ),
    totalOf: () => undefined,
  },
  "gemini-generate": {
    read: readerOf(geminiGenerate),
    reply: withTotal(
      fc
        .tuple(
          fields(
            "promptTokenCount",
            "toolUsePromptTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",
            "cachedContentTokenCount",
          ),
          fc.tuple(modalities, modalities, modalities),
          word("ON_DEMAND", "ON_DEMAND_FLEX", "PROVISIONED_THROUGHPUT"),
        )
        .map(
          ([counts, [prompt, cached, replies], trafficType]): Json => ({
            ...counts,
            promptTokensDetails: prompt,
            cacheTokensDetails: cached,
            candidatesTokensDetails: replies,
            trafficType,
          }),
        ),
      "totalTokenCount",
      "promptTokenCount",
      "toolUsePromptTokenCount",
      "candidatesTokenCount",
      "thoughtsTokenCount",
    ).map((usageMetadata): Json => ({ usageMetadata })),
    totalOf: (reply) => at(reply, "usageMetadata", "totalTokenCount"),
  },
  "bedrock-converse": {
    read: readerOf(bedrockConverse),
    reply: fc
      .tuple(
        withTotal(
          fields("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
          "totalTokens",
          "inputTokens",
          "outputTokens",
          "cacheReadInputTokens",
          "cacheWriteInputTokens",
        ),
        fc.array(fc.record({ ttl: word("5m", "1h", "9m"), inputTokens: value }), { maxLength: 2 }),
        word("default", "flex", "priority"),
      )
      .map(
        ([usage, cacheDetails, type]): Json => ({
          usage: { ...usage, cacheDetails },
          serviceTier: { type },
        }),
      ),
    totalOf: (reply) => at(reply, "usage", "totalTokens"),
  },
  "cohere-chat": {
    read: readerOf(cohere),
    reply: fields("input_tokens", "output_tokens", "search_units", "image_tokens").map(
      (billed_units): Json => ({ usage: { billed_units } }),
    ),
    totalOf: () => undefined,
  },
};

const sent = fc.record({
  tier: fc.constantFrom("standard", "flex", "priority"),
  writes: fc.constantFrom("5m", "30m", "1h", "24h"),
});

function tokensOf({ pieces }: ReplyUsage): number {
  const { promptTokens, completionTokens } = sumOfUsages(pieces.map(({ usage }) => usage));
  return promptTokens + completionTokens;
}

describe.each(Object.entries(FORMS))("%s", (_, { read, reply, totalOf }) => {
  test("no part is below zero, and parts add up to the total or are not believed", () => {
    let believed = 0;
    fc.assert(
      fc.property(reply, sent, (json, terms) => {
        const usage = read([json], terms);
        if (usage === null) return;
        for (const piece of usage.pieces) {
          for (const count of Object.values(partsOf(piece.usage))) {
            expect(Number.isSafeInteger(count) && count > 0).toBe(true);
          }
        }
        expect(usage.reasoningTokens).toBeGreaterThanOrEqual(0);
        if (usage.isContradictory) return;
        believed += 1;
        const total = totalOf(json);
        if (typeof total === "number") expect(tokensOf(usage)).toBe(total);
      }),
      { numRuns: 500 },
    );
    // The usages must not all be nonsense.
    expect(believed).toBeGreaterThan(20);
  });

  test("no charge exceeds the hold of a request that can be answered so", () => {
    fc.assert(
      fc.property(reply, sent, anyRows, (json, terms, rows) => {
        const usage = read([json], terms);
        if (usage === null || usage.isContradictory) return;
        const prices = pricesOf(rows);
        const billed = usage.pieces.filter(({ isBilled }) => isBilled);
        for (const piece of billed) {
          const { tier } = piece.served;
          if (tier === "unknown") return;
          const reach = {
            tier,
            speed: "fast",
            hasMedia: true,
            hasLongWrites: true,
            fees: usage.fees,
          } as const;
          const { promptTokens, completionTokens: outputTokens } = piece.usage;
          const held = upperBound(prices, { promptTokens, outputTokens }, reach);
          const cost = costOfPieces(prices, [piece], { atMs: 0, fees: usage.fees });
          expect(cost <= held).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
