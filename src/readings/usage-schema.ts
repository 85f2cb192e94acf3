// GET …/usage: one series of figures for a chart and its table. Both are the same numbers, and so
// is the CSV of it.

import { CALL_STATUSES, USAGE_GROUPS, USAGE_STEPS } from "../core/usage-query.ts";
import { AsOf, list, reply, time, usd } from "../http/console/fields.ts";
import { type Checked, nullable, oneOf, optional, Type, text } from "../http/schema.ts";

/** At most so many steps; a longer range needs a longer step. */
export const USAGE_STEPS_MAX = 750;

/** The query. Days begin at midnight of `zone`, hours and quarters at `from`. */
export const UsageQuery = Type.Object(
  {
    from: time("The begin, a multiple of 15 minutes"),
    to: time("The end, which is not included"),
    step: oneOf(USAGE_STEPS),
    group: oneOf(USAGE_GROUPS),
    zone: optional(text({ description: "An IANA time zone; UTC by default" })),
    service: optional(text()),
    model: optional(
      text({ description: "A model, or an action of maps; `none` for calls without one" }),
    ),
    key: optional(text({ description: "The id of a key" })),
    status: optional(oneOf(CALL_STATUSES)),
  },
  { additionalProperties: false },
);
export type UsageInput = Checked<typeof UsageQuery>;

const Figures = {
  calls: Type.Number({ minimum: 0 }),
  errors: Type.Number({ minimum: 0, description: "Refused and failed ones" }),
  cost_usd: usd("Charged"),
  free_usd: usd("The part of it that free credit paid"),
  prompt_tokens: Type.Number({ minimum: 0 }),
  completion_tokens: Type.Number({ minimum: 0 }),
  p95_ms: nullable(
    Type.Number({ minimum: 0, description: "95 of 100 answered calls took at most this" }),
  ),
};

const Step = Type.Object(
  { at: time("The begin of the step"), ...Figures },
  { description: "A step in which there was a call; the others are zero" },
);

export const Usage = reply({
  as_of: AsOf,
  from: time("The begin"),
  to: time("The end"),
  step: oneOf(USAGE_STEPS),
  zone: text(),
  begins: list(time("The begin of a step; of all of them, in order")),
  p95_error_percent: Type.Number({ description: "By how much a p95 may be off" }),
  groups: list(
    Type.Object({
      id: text({
        description:
          "What the group is called in a filter; `others` is what comes after the first 20 by cost",
      }),
      label: text({ description: "What it is called for people" }),
      total: Type.Object(Figures),
      steps: list(Step),
    }),
  ),
  total: Type.Object(Figures),
  choices: Type.Object({
    services: list(text()),
    models: list(text()),
    keys: list(Type.Object({ id: text(), name: text() })),
  }),
});
export type UsageReply = Checked<typeof Usage>;

const FIGURES_EXAMPLE = {
  calls: 1204,
  errors: 7,
  cost_usd: "0.94123",
  free_usd: "0.1",
  prompt_tokens: 812_400,
  completion_tokens: 94_120,
  p95_ms: 812,
};

export const USAGE_EXAMPLE: UsageReply = {
  as_of: { at: "2026-11-22T14:03:22.000Z", behind_seconds: 0.4 },
  from: "2026-11-22T00:00:00.000Z",
  to: "2026-11-22T15:00:00.000Z",
  step: "1h",
  zone: "UTC",
  begins: Array.from(
    { length: 15 },
    (_, hour) => `2026-11-22T${String(hour).padStart(2, "0")}:00:00.000Z`,
  ),
  p95_error_percent: 10,
  groups: [
    {
      id: "chat",
      label: "Chat",
      total: FIGURES_EXAMPLE,
      steps: [{ at: "2026-11-22T13:00:00.000Z", ...FIGURES_EXAMPLE }],
    },
  ],
  total: FIGURES_EXAMPLE,
  choices: {
    services: ["chat"],
    models: ["fast"],
    keys: [{ id: "key_7n42DGM5Tflk9n8mt7Fhc7", name: "production" }],
  },
};
