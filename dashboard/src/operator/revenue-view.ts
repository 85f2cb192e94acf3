// Revenue as the chart of the usage page takes it: one group of bars for each service or model.

import { OTHERS, type REVENUE_GROUPS } from "../../../src/core/usage-query.ts";
import type { RevenueReply } from "../../../src/readings/revenue.ts";
import { moneyText, roughUsd, sumUsd } from "../money.ts";
import { nameOf } from "../name-of.ts";
import { COLOURS_MAX, OTHERS_COLOUR, seriesColour, serviceColour } from "../series-colours.ts";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";
import type { ShownGroup, UsageView } from "../usage-view.ts";

export type GroupName = (typeof REVENUE_GROUPS)[number];

/** The name of a service, a model or a route for people. */
export function titleOf({ name }: { readonly name: string }, by: GroupName): string {
  if (by === "service") return nameOf(t.services, name);
  return name === "" ? ot.without : name;
}

/** The charges of each day; groups beyond the number of colours are put together. */
export function chargedView({ days, groups }: RevenueReply, by: GroupName): UsageView {
  const [shown, others] = [groups.slice(0, COLOURS_MAX - 1), groups.slice(COLOURS_MAX - 1)];
  const drawn = shown.map((group, index) => {
    const { name, by_day: texts, charged_usd: total } = group;
    const color = by === "service" ? serviceColour(name) : seriesColour(index);
    return groupOf({ id: name, label: titleOf(group, by), color, texts, total });
  });
  if (others.length > 0) {
    const texts = days.map((_, at) => sumUsd(others.map(({ by_day: own }) => own[at] ?? "0")));
    const total = sumUsd(texts);
    drawn.push(groupOf({ id: OTHERS, label: ot.all, color: OTHERS_COLOUR, texts, total }));
  }
  return { times: timesOf(days), groups: drawn };
}

/** The payments received on each day. */
export function receivedView({ days, received: sums }: RevenueReply): UsageView {
  const { by_day: texts, amount_usd: total } = sums;
  const received = { id: "received", label: ot.received, color: "var(--fb-paid)" };
  const group = groupOf({ ...received, texts, total });
  return { times: timesOf(days), groups: [group] };
}

interface GroupTerms extends Pick<ShownGroup, "id" | "label" | "color"> {
  /** The amount of each day in USD. */
  readonly texts: readonly string[];
  readonly total: string;
}

function groupOf({ id, label, color, texts: usd, total: cost }: GroupTerms): ShownGroup {
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
