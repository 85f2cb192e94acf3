// The CSV of the usage page: each group and step that is shown, with exact amounts. Without totals,
// which would be summed once more with the rows of a column.

import type { UsageReply } from "../../../../src/readings/usage-schema.ts";
import { csvOf } from "../../csv.ts";

type Figures = UsageReply["total"];

const HEAD = [
  "begin",
  "group",
  "calls",
  "errors",
  "prompt_tokens",
  "completion_tokens",
  "cost_usd",
  "free_usd",
  "p95_ms",
];

export function usageCsv({ groups }: UsageReply): string {
  const rows = groups.flatMap(({ label, steps }) =>
    steps.map((step) => [step.at, label, ...figures(step)]),
  );
  return csvOf([HEAD, ...rows]);
}

function figures(one: Figures): string[] {
  return [
    String(one.calls),
    String(one.errors),
    String(one.prompt_tokens),
    String(one.completion_tokens),
    one.cost_usd,
    one.free_usd,
    one.p95_ms === null ? "" : String(one.p95_ms),
  ];
}
