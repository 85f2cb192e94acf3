// The CSV of the usage page: each group and step that is shown, with exact amounts. Without totals,
// which would be summed once more with the rows of a column.

import { FIGURE_NAMES } from "../../../../src/core/usage-query.ts";
import type { UsageReply } from "../../../../src/readings/usage.ts";
import { csvOf } from "../../csv.ts";

export function usageCsv({ groups }: UsageReply): string {
  const rows = groups.flatMap(({ label, steps }) =>
    steps.map((step) => [step.at, label, ...FIGURE_NAMES.map((name) => String(step[name] ?? ""))]),
  );
  return csvOf([["begin", "group", ...FIGURE_NAMES], ...rows]);
}
