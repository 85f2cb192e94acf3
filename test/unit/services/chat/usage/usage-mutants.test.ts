// Tests the vectors by mutants of the files that read a usage: the vectors must find each fault.

import { describe } from "bun:test";
import type { UsageForm } from "../../../../../src/services/chat/usage/reply-usage.ts";
import { atEnd } from "../../../../support/shared.ts";
import {
  type Checks,
  Mutants,
  type Mutation,
  replaced,
  testMutants,
} from "../../../core/source-mutants.ts";
import { allVectors } from "./all-vectors.ts";
import { checkVector, readerOf } from "./vector.ts";

const mutants = new Mutants();
atEnd(() => mutants[Symbol.dispose]());

type Module = Readonly<Record<string, UsageForm<unknown>>>;

/** The vectors of a form, as checks of the file that reads it. */
function checksOf(shape: string, form: string): Checks<Module> {
  const vectors = allVectors().flatMap(([, all]) => all.filter((one) => one.shape === shape));
  const checks = vectors.map((vector) => [
    vector.id,
    (module: Module) => {
      const read = module[form];
      if (read === undefined) throw new Error(`The file has no '${form}'`);
      checkVector(vector, readerOf(read));
    },
  ]);
  return Object.fromEntries(checks);
}

function describeForm(shape: string, form: string, mutations: readonly Mutation[]): void {
  describe(`${shape}.ts`, () => {
    const file = `src/services/chat/usage/${shape}.ts`;
    testMutants(mutants, { file, checks: checksOf(shape, form), mutations });
  });
}

describeForm("openai-chat", "openAiChat", [
  [
    "reasoning is added twice",
    replaced("isBeside ? reply + reasoning : reply", "reply + reasoning"),
  ],
  [
    "reasoning beside the output is forgotten",
    replaced("isBeside ? reply + reasoning : reply", "reply"),
  ],
  [
    "reads beside the input are inside",
    replaced("if (outside !== null)", "if (outside === undefined)"),
  ],
  ["writes are not inside of the prompt", replaced("isBeside ? left : left - written", "left")],
  [
    "writes beside the prompt are taken from it",
    replaced("isBeside ? left : left - written", "left - written"),
  ],
  ["writes are always beside the prompt", replaced(" && isCost(usage.cost)", "")],
  [
    "reads are not inside of the prompt",
    replaced("const left = input - cacheRead;", "const left = input;"),
  ],
  [
    "a write is priced as a read",
    replaced("const parts = { cacheRead,", "const parts = { cacheRead: cacheRead + written,"),
  ],
  [
    "audio is not inside of the prompt",
    replaced("uncached = plain - audioIn - imageIn", "uncached = plain - imageIn"),
  ],
  ["audio is text", replaced('countIn(outputDetails, "audio_tokens") || 0', "0")],
  ["an image is text", replaced('countIn(outputDetails, "image_tokens") || 0', "0")],
  [
    "a total that is wrong is believed",
    replaced("isTotalRight = isSum || isBeside ||", "isTotalRight = true ||"),
  ],
  ["hits are forgotten", replaced("return hit;", "return 0;")],
  ["num_cached_tokens is forgotten", replaced("usage.num_cached_tokens ?? ", "")],
  ["cached_tokens at the top is forgotten", replaced("usage.cached_tokens ?? ", "")],
  [
    "the first usage counts",
    replaced("usage: last ?? before.usage", "usage: before.usage ?? last"),
  ],
  ["a frame without usage takes it back", replaced("usage: last ?? before.usage", "usage: last")],
  ["x_groq is forgotten", replaced("        ? groq.usage\n", "        ? null\n")],
  ["ticks are of another size", replaced("ofTicks(ticks)", "ofTicks(Number(ticks) * 10)")],
  [
    "the cost at the provider is forgotten",
    replaced("isByok === true && isCost(upstream)", "false && isCost(upstream)"),
  ],
  ["the model is forgotten", replaced('textIn(json, "model") ?? before.model', "before.model")],
  ["the tier is forgotten", replaced('textIn(json, "service_tier") ?? before.tier', "before.tier")],
  [
    "searches are forgotten",
    replaced('"web_search_requests") || 0', '"web_search_requests") && 0'),
  ],
]);

describeForm("openai-responses", "openAiResponses", [
  ["reads are not inside of the input", replaced("input - cacheRead - written", "input - written")],
  [
    "writes are not inside of the input",
    replaced("input - cacheRead - written", "input - cacheRead"),
  ],
  [
    "reasoning is added twice",
    replaced("isBeside ? stated + reasoning : stated", "stated + reasoning"),
  ],
  [
    "a total that is wrong is believed",
    replaced("!isValid || differs(total, input + output)", "!isValid"),
  ],
  ["counts below zero are believed", replaced("!isValid || ", "")],
  ["the image tool is forgotten", replaced("imageOut: tool.imageOut", "imageOut: 0")],
  [
    "the text of the image tool is forgotten",
    replaced("(main.uncached ?? 0) + tool.textIn", "main.uncached ?? 0"),
  ],
  ["opened pages are billed", replaced('(type ?? "search") === "search"', "type !== null")],
  [
    "our count of searches wins",
    replaced("isCount(searches) ? searches : searchesIn(items)", "searchesIn(items)"),
  ],
  ["each run of a container is billed", replaced("new Set(containers).size", "containers.length")],
  ["file searches are forgotten", replaced('file_search: count("file_search_call"),', "")],
  ["xAI's tools are forgotten", replaced("Object.keys(details).length > 0", "false")],
]);

describeForm("anthropic-messages", "anthropicMessages", [
  [
    "reads are taken from the input",
    replaced(
      'uncached: countIn(usage, "input_tokens")',
      'uncached: countIn(usage, "input_tokens") - countIn(usage, "cache_read_input_tokens")',
    ),
  ],
  [
    "start and delta are added",
    replaced(
      "usage[name] = value;",
      "usage[name] = typeof value === 'number' ? value + Number(usage[name] ?? 0) : value;",
    ),
  ],
  ["null takes a count back", replaced("if (value !== null) usage", "usage")],
  [
    "a second start is added to the first",
    replaced("return withMessage(NONE,", "return withMessage(before,"),
  ],
  [
    "an hour is five minutes",
    replaced('"1h": countIn(split, "ephemeral_1h_input_tokens")', '"1h": 0'),
  ],
  [
    "the flat sum of writes is forgotten",
    replaced("flat === null ? inSplit : isCount(flat) ? flat : Number.NaN", "inSplit"),
  ],
  ["iterations are forgotten", replaced("iterations.length === 0\n", "iterations.length >= 0\n")],
  [
    "an adviser is billed at the model of the call",
    replaced("servedBy({ ...usage, ...one }", "servedBy({ ...usage, ...one, model: null }"),
  ],
  ["a declined attempt is billed", replaced(" && !isDeclined(iterations, index)", "")],
  [
    "an attempt that declined after output is free",
    replaced("isAttempt && output === 0 &&", "isAttempt &&"),
  ],
  ["a refusal is billed", replaced("!isRefused && ", "")],
  ["a refusal after output is free", replaced(" && !hasContent;", ";")],
  [
    "the sum over rounds is the prompt",
    replaced("iterations.length === 0 && searches > 0", "false"),
  ],
  ["searches are free", replaced("feesIn({ web_search: searches })", "feesIn({})")],
  ["a speed is forgotten", replaced('speed === "fast" ? "fast" : "standard"', '"standard"')],
  [
    "a place is forgotten",
    replaced("UNPLACED.includes(geography) ? null", "geography !== 0 ? null"),
  ],
  ["every place is one", replaced('"global", "not_available"', "")],
  [
    "a fallback is content of the first model",
    replaced('textIn(block.to, "model") ?? model', "model"),
  ],
]);

describeForm("gemini-generate", "geminiGenerate", [
  [
    "thoughts are forgotten",
    replaced('"candidatesTokenCount") + thoughts', '"candidatesTokenCount")'),
  ],
  [
    "thoughts are counted twice",
    replaced('"candidatesTokenCount") + thoughts', '"candidatesTokenCount") + 2 * thoughts'),
  ],
  [
    "the prompts of tools are forgotten",
    replaced(' + countIn(usage, "toolUsePromptTokenCount")', ""),
  ],
  ["reads are outside of the prompt", replaced("uncached: input - cached", "uncached: input")],
  ["cached audio costs as other reads", replaced('Math.min(reads("AUDIO"), cached)', "0")],
  ["cached audio is audio too", replaced('prompt("AUDIO") - reads("AUDIO")', 'prompt("AUDIO")')],
  [
    "a cached image is an image too",
    replaced('prompt("IMAGE") - reads("IMAGE")', 'prompt("IMAGE")'),
  ],
  ["an image is text", replaced('const imageOut = replies("IMAGE");', "const imageOut = 0;")],
  [
    "chunks without counts take them back",
    replaced("hasCounts(usage) || before.usage === null", "true"),
  ],
  [
    "the first chunk counts",
    replaced("isNewer ? usage : before.usage", "before.usage ?? (isNewer ? usage : null)"),
  ],
  ["a blocked prompt has no usage", replaced(" && !isBlocked", "")],
  ["a reply without counts is free", replaced("!hasCounts(usage) && !isBlocked", "false")],
  [
    "a total that is wrong is believed",
    replaced(
      "!isValid || differs(usage.totalTokenCount, promptTokens + completionTokens)",
      "!isValid",
    ),
  ],
  [
    "queries in the metadata are forgotten",
    replaced("Math.max(searched.groundedQueries, searched.toolQueries)", "searched.toolQueries"),
  ],
  [
    "queries of the tool are forgotten",
    replaced(
      "Math.max(searched.groundedQueries, searched.toolQueries)",
      "searched.groundedQueries",
    ),
  ],
  [
    "other tools are searches",
    replaced('toolType === "GOOGLE_SEARCH_WEB"', "toolType !== undefined"),
  ],
  [
    "kinds of traffic are forgotten",
    replaced("traffic === null ? tier : (TRAFFIC[traffic] ?? traffic)", "tier"),
  ],
]);

describeForm("bedrock-converse", "bedrockConverse", [
  [
    "reads are inside of the input",
    replaced(
      'uncached: countIn(usage, "inputTokens")',
      'uncached: countIn(usage, "inputTokens") - inEitherName(usage, "cacheReadInputToken")',
    ),
  ],
  [
    "both names are added",
    replaced(
      'cacheRead: inEitherName(usage, "cacheReadInputToken")',
      'cacheRead: countIn(usage, "cacheReadInputTokens") + usage.cacheReadInputTokenCount',
    ),
  ],
  ["lifetimes are forgotten", replaced('ttl === "5m" || ttl === "1h"', "false")],
  [
    "a total that is wrong is believed",
    replaced("!isValid || differs(usage.totalTokens, promptTokens + completionTokens)", "!isValid"),
  ],
]);
