// Tests the checks of prices by mutants of the files that price a call: the checks must find each
// fault.

import { describe } from "bun:test";
import { atEnd } from "../../support/shared.ts";
import { AFFORDABLE_CHECKS, BOUND_CHECKS, COST_CHECKS } from "./call-cost-checks.ts";
import { ROW_CHECKS } from "./price-row-checks.ts";
import { Mutants, replaced, testMutants } from "./source-mutants.ts";

const mutants = new Mutants();
atEnd(() => mutants[Symbol.dispose]());

describe("call-cost.ts", () => {
  testMutants(mutants, {
    file: "src/core/money/call-cost.ts",
    checks: { ...COST_CHECKS, ...BOUND_CHECKS, ...AFFORDABLE_CHECKS },
    mutations: [
      [
        "cached tokens are charged twice",
        replaced("[usage.promptTokens - usage.cachedTokens,", "[usage.promptTokens,"),
      ],
      ["cached tokens are free", replaced("[usage.cachedTokens, of", "[0, of")],
      ["a cache read costs as the input", replaced("of.cacheRead]", "of.uncached]")],
      ["output is free", replaced("[usage.completionTokens, of", "[0, of")],
      ["output costs as the input", replaced("of.text],\n  ];", "of.uncached],\n  ];")],
      [
        "parts beside the common ones are charged as the common ones",
        replaced(
          "if (usage.more === undefined) return commonParts(row, usage);\n",
          "return commonParts(row, usage);\n",
        ),
      ],
      [
        "a write is priced as a read",
        replaced(
          "[count, row.of[part]]",
          '[count, row.of[part.startsWith("cache") ? "cacheRead" : part]]',
        ),
      ],
      [
        "an image is priced as text",
        replaced("[count, row.of[part]]", '[count, row.of[part === "imageOut" ? "text" : part]]'),
      ],
      [
        "the first tier prices another one",
        replaced("rows.length === 1 ? rows", "rows.length >= 1 ? rows"),
      ],
      ["one row prices what is not plain", replaced("prices.isPlain && ", "")],
      [
        "an unknown tier costs the least",
        replaced("charge(tokens) > charge(most", "charge(tokens) < charge(most"),
      ],
      ["the sum over rounds decides the row", replaced("promptSent ?? usage", "usage")],
      [
        "only the last piece is charged",
        replaced(
          "for (const one of tokens) quantities.push(one);",
          "quantities.splice(0, 9, ...tokens);",
        ),
      ],
      [
        "each piece is rounded",
        replaced(
          "for (const one of tokens) quantities.push(one);",
          "quantities.push([Number(charge(tokens)), 1000n as PicoUsd]);",
        ),
      ],
      [
        "fees are free",
        replaced("for (const one of feesOf(last, fees)) quantities.push(one);\n", ""),
      ],
      ["fees are those of the first row", replaced("    last = row;\n", "")],
      ["a fee of the request is free", replaced('fee === "request" ? ONE_REQUEST : ', "")],
      ["queries are counted as calls", replaced("query: queries", "query: calls")],
      [
        "a request has a fee for each call",
        replaced("Math.min(1, Math.max(calls, queries))", "calls"),
      ],
      [
        "a row has no fees but its own",
        replaced("{ ...first.fees, ...row.fees }", "{ ...row.fees }"),
      ],
      [
        "the first row has the last word on fees",
        replaced("{ ...first.fees, ...row.fees }", "{ ...row.fees, ...first.fees }"),
      ],
      ["prices may have conditions only", replaced(" || first.when !== undefined", "")],
      [
        "the bound is that of the first row",
        replaced("return mostOf(rows.flatMap(", "return mostOf(rows.slice(0, 1).flatMap("),
      ],
      [
        "the bound is the cheapest price",
        replaced("one > most ? one : most", "most === 0n || one < most ? one : most"),
      ],
      [
        "the bound forgets the prompt",
        replaced("    [promptTokens, input],\n    [outputTokens", "    [outputTokens"),
      ],
      ["the bound forgets the output", replaced("    [outputTokens, output],\n", "")],
      [
        "the bound forgets a cached price above the full one",
        replaced('"uncached", "cacheRead", "cacheWrite5m"', '"uncached", "cacheWrite5m"'),
      ],
      [
        "the bound forgets writes",
        replaced('"cacheRead", "cacheWrite5m", "cacheWrite30m"]', '"cacheRead"]'),
      ],
      [
        "the bound forgets long writes",
        replaced("reach.hasLongWrites ? LONG_WRITES", "false ? LONG_WRITES"),
      ],
      [
        "the bound forgets images and audio",
        replaced("reach.hasMedia ? MEDIA_INPUT", "false ? MEDIA_INPUT"),
      ],
      [
        "the bound forgets images and audio of the reply",
        replaced('["text", "imageOut", "audioOut"]', '["text"]'),
      ],
      [
        "the bound forgets fees",
        replaced("fees.length === 0 ? tokens", "fees.length >= 0 ? tokens"),
      ],
      ["the bound takes any tier", replaced("needed === tier;", "true;")],
      ["the bound forgets the tier that is asked for", replaced(" || needed === tier;", ";")],
      ["the bound forgets the standard tier", replaced('needed === "standard" || ', "")],
      ["the bound forgets the speed that is asked for", replaced(" || pace === speed)", ")")],
      [
        "any request is held as a plain one",
        replaced("if (reach === PLAIN_REACH)", "if (reach !== null)"),
      ],
      [
        "the affordable output forgets the prompt",
        replaced("output, [[promptTokens, input], ...fees])", "output, fees)"),
      ],
      [
        "the affordable output forgets fees",
        replaced("[[promptTokens, input], ...fees]", "[[promptTokens, input]]"),
      ],
      [
        "the affordable prompt forgets fees",
        replaced(
          "affordableQuantity(available, input, fees)",
          "affordableQuantity(available, input)",
        ),
      ],
      [
        "the output so far is paid twice",
        replaced("withOutput(prompt, 0)", "withOutput(prompt, 77)"),
      ],
    ],
  });
});

describe("price-rows.ts", () => {
  testMutants(mutants, {
    file: "src/core/money/price-rows.ts",
    checks: ROW_CHECKS,
    mutations: [
      ["a band begins at its limit", replaced("promptTokens <= when", "promptTokens < when")],
      ["a band never begins", replaced("promptTokens <= when", "promptTokens >= when")],
      [
        "of equal rows the first applies",
        replaced("row.conditionCount >= best", "row.conditionCount > best"),
      ],
      [
        "the last row that matches applies",
        replaced("row.conditionCount >= best.conditionCount", "true"),
      ],
      ["a tier is any", replaced("when.tier === tier)", "true)")],
      [
        "an unknown tier is one of its own",
        replaced('tier === "unknown" || when.tier', "when.tier"),
      ],
      ["an unknown tier has one row", replaced('facts.served.tier === "unknown"', "false")],
      ["a speed is any", replaced("when.speed === served.speed", "true")],
      ["a place is any", replaced("when.geography === served.geography", "true")],
      ["a model is any", replaced("isSameModel(served.model, when.servedModel)", "true")],
      [
        "a model is any that begins with its name",
        replaced("DATE.test(served.slice(name.length))", "true"),
      ],
      ["a snapshot is another model", replaced(" || DATE.test(served.slice(name.length))", "")],
      ["an hour includes its end", replaced("hour < to", "hour <= to")],
      ["an hour excludes its begin", replaced("hour >= from", "hour > from")],
      ["a week begins on Sunday", replaced("(at.getUTCDay() + 6) % 7", "at.getUTCDay()")],
      [
        "hours are local to another place",
        replaced("at.getUTCHours()", "(at.getUTCHours() + 8) % 24"),
      ],
      [
        "no date is excepted",
        replaced("!(notUtcDates?.includes(at.toISOString().slice(0, 10)) ?? false)", "true"),
      ],
      [
        "a window needs days only",
        replaced("utcHours?.some(([from, to]) => hour >= from && hour < to) ?? true", "true"),
      ],
      [
        "a write costs as a read",
        replaced('cacheWrite5m: "uncached"', 'cacheWrite5m: "cacheRead"'),
      ],
      [
        "an hour's write costs as the input",
        replaced('cacheWrite1h: "cacheWrite5m"', 'cacheWrite1h: "uncached"'),
      ],
      [
        "cached audio costs as audio",
        replaced('cacheReadAudio: "cacheRead"', 'cacheReadAudio: "audioIn"'),
      ],
      [
        "an image costs as text, whatever its price",
        replaced("own[part] ?? ", 'own[part === "imageOut" ? "text" : part] ?? '),
      ],
      [
        "a part without a price is free",
        replaced("parent === undefined ? input : priceOf(parent)", "0n as PicoUsd"),
      ],
    ],
  });
});
