// Defines and reads the operator's burn-rate rules in the configuration file.

import { type Static, Type } from "@sinclair/typebox";
import {
  BURN_ACTIONS,
  BURN_BOUNDS,
  BURN_RULES_MAX,
  type BurnTerms,
  burnProblem,
  burnWords,
} from "../access/burn-rules.ts";
import { WRITTEN_USD, writtenUsdAboveZero } from "../money/money.ts";
import { closed, whole } from "./fields.ts";
import type { Refuse } from "./section.ts";

const { times, requestsPerMinute, minutes } = BURN_BOUNDS;

const BurnRule = Type.Object(
  {
    above_usd: Type.String({
      pattern: WRITTEN_USD,
      description: "The spending of a key within five minutes from which on the rule fires",
      errorMessage: 'must be an amount of USD, such as "5"',
    }),
    times_usual: Type.Optional(
      whole(times.min, times.max, "The rule also wants this many times the key's usual spending"),
    ),
    action: Type.Union(
      BURN_ACTIONS.map((action) => Type.Literal(action)),
      {
        description: "What happens to the key, beside a mail and an event to its account",
        errorMessage: `must be one of ${BURN_ACTIONS.join(", ")}`,
      },
    ),
    requests_per_minute: Type.Optional(
      whole(
        requestsPerMinute.min,
        requestsPerMinute.max,
        "For `slow`: what the key may still make",
      ),
    ),
    minutes: Type.Optional(
      whole(minutes.min, minutes.max, "For `slow` and `pause`: when that ends by itself"),
    ),
  },
  closed,
);

const BurnFile = Type.Array(BurnRule, {
  maxItems: BURN_RULES_MAX,
  description: "What happens to keys of any account that spend fast (docs/burn-rates.md)",
  errorMessage: `must be a list of at most ${BURN_RULES_MAX} rules`,
});

/** The section's part of the file's schema. */
export const BURN_SECTION = { burn_rates: Type.Optional(BurnFile) };

/** Reads the section. */
export function readBurnRates(
  file: Static<typeof BurnFile> | undefined,
  refuse: Refuse,
): readonly BurnTerms[] {
  const rules = (file ?? []).map((rule, index): BurnTerms => {
    const pointer = `/burn_rates/${index}`;
    const terms = {
      amount: writtenUsdAboveZero(rule.above_usd, (must) => refuse(`${pointer}/above_usd`, must)),
      times: rule.times_usual ?? null,
      action: rule.action,
      requestsPerMinute: rule.requests_per_minute ?? null,
      minutes: rule.minutes ?? null,
    };
    const problem = burnProblem(terms);
    return problem === null ? terms : refuse(`${pointer}/${problem.field}`, problem.must);
  });
  // The words name a rule of the operator in the alarms of keys.
  const words = rules.map(burnWords);
  const twice = words.findIndex((one, index) => words.indexOf(one) < index);
  return twice < 0 ? rules : refuse(`/burn_rates/${twice}`, "is the same as a rule before it");
}
