import { expect, test } from "bun:test";
import { loadTexts } from "../../../dashboard/src/texts.ts";
import { usageView } from "../../../dashboard/src/usage-view.ts";
import { sampleOf } from "../../../src/core/records.ts";
import { Usage, type UsageReply } from "../../../src/readings/usage.ts";

await loadTexts("en");
const USAGE_EXAMPLE = sampleOf(Usage);
const FIGURES = { ...USAGE_EXAMPLE.total, calls: 1, cost_usd: "0.1", p95_ms: 100 };

/** Usage by key, of this number of keys. */
function usageOf(keys: number): UsageReply {
  const [at = ""] = USAGE_EXAMPLE.begins;
  const groups = Array.from({ length: keys }, (_, index) => ({
    id: `key_${index}`,
    label: `key ${index}`,
    total: FIGURES,
    steps: [{ at, ...FIGURES }],
  }));
  return { ...USAGE_EXAMPLE, groups, total: { ...FIGURES, calls: keys } };
}

test.each(["cost", "calls", "p95"] as const)("by %s, no group is left out", (metric) => {
  const { groups } = usageView(usageOf(11), metric, "key");
  expect(groups).toHaveLength(8);
  expect(groups.reduce((calls, { total }) => calls + total.calls, 0)).toBe(11);
  const others = groups.at(-1);
  // The p95 of several keys does not follow from the p95 of each.
  if (metric === "p95") expect([others?.values[0], others?.texts[0]]).toEqual([null, "–"]);
});
