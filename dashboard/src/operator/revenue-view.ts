// Revenue as the chart of the usage page takes it: one group of bars for each service or model.

import type { RevenueReply } from "../../../src/operator/money-schema.ts";
import { moneyText, roughUsd, sumUsd } from "../money.ts";
import { ot } from "../texts/operator.ts";
import { type ShownGroup, serviceColour, type UsageView } from "../usage-view.ts";

const COLOURS_MAX = 8;

/** What was charged on each day; the groups beyond the colours are put together. */
export function chargedView(
  { days, groups }: RevenueReply,
  by: "service" | "model" | "route",
): UsageView {
  const [shown, others] = [groups.slice(0, COLOURS_MAX - 1), groups.slice(COLOURS_MAX - 1)];
  const drawn = shown.map(({ name, title, by_day: texts, charged_usd: total }, index) => {
    const colour = by === "service" ? serviceColour(name) : `var(--fb-series-${index + 1})`;
    return groupOf(name, title, colour, texts, total);
  });
  if (others.length > 0) {
    const texts = days.map((_, at) => sumUsd(others.map(({ by_day: own }) => own[at] ?? "0")));
    const colour = `var(--fb-series-${COLOURS_MAX})`;
    drawn.push(groupOf("others", ot.all, colour, texts, sumUsd(texts)));
  }
  return { times: timesOf(days), groups: drawn };
}

/** What was received on each day. */
export function receivedView({ days, received }: RevenueReply): UsageView {
  const { by_day: texts, amount_usd: total } = received;
  const group = groupOf("received", ot.received, "var(--fb-paid)", texts, total);
  return { times: timesOf(days), groups: [group] };
}

function groupOf(
  id: string,
  label: string,
  color: string,
  usd: readonly string[],
  cost: string,
): ShownGroup {
  const total = {
    calls: 0,
    errors: 0,
    cost_usd: cost,
    free_usd: "0",
    prompt_tokens: 0,
    completion_tokens: 0,
    p50_ms: null,
    p95_ms: null,
  };
  const texts = usd.map((one) => moneyText(one));
  return { id, label, color, total, values: usd.map(roughUsd), texts };
}

function timesOf(days: readonly string[]): number[] {
  return days.map((day) => Date.parse(`${day}T00:00:00Z`));
}
