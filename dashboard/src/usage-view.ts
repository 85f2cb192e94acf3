// Turns a usage reply into one metric by group and step, for the chart and its tables: numbers to
// draw, and exact texts beside them.

import { MEASURE_NAMES, MEASURES, OTHERS, type UsageGroup } from "../../src/core/usage-query.ts";
import type { UsageReply } from "../../src/readings/usage.ts";
import { moneyText, roughUsd, sumUsd } from "./money.ts";
import { nameOf } from "./name-of.ts";
import { countText } from "./numbers.ts";
import { COLOURS_MAX, OTHERS_COLOUR, seriesColour, serviceColour } from "./series-colours.ts";
import { t } from "./texts.ts";
import { duration } from "./time.ts";

export const METRICS = ["cost", "calls", "tokens", "errors", "p95"] as const;
export type Metric = (typeof METRICS)[number];

type Figures = UsageReply["total"];

export interface ShownGroup {
  readonly id: string;
  readonly label: string;
  readonly color: string;
  readonly total: Figures;
  /** By step: null where there is no figure, as p95 without calls. */
  readonly values: readonly (number | null)[];
  readonly texts: readonly string[];
}

export interface UsageView {
  readonly times: readonly number[];
  readonly groups: readonly ShownGroup[];
}

const STATUS_COLOURS: Readonly<Record<string, string>> = {
  ok: "var(--fb-paid)",
  refused: "var(--fb-held)",
  failed: "var(--fb-owed)",
};

/** The metric of these figures as a number to draw. */
export function figureOf(figures: Figures, metric: Metric): number | null {
  switch (metric) {
    case "cost":
      return roughUsd(figures.cost_usd);
    case "calls":
      return figures.calls;
    case "errors":
      return figures.errors;
    case "tokens":
      return figures.prompt_tokens + figures.completion_tokens;
    case "p95":
      return figures.p95_ms;
  }
}

/** The metric of these figures exactly, as text. */
export function figureText(figures: Figures, metric: Metric): string {
  const value = figureOf(figures, metric);
  if (metric === "cost") return moneyText(figures.cost_usd);
  if (value === null) return "–";
  return metric === "p95" ? duration(value) : countText(value);
}

/** Groups in a fixed order with fixed colours; the smallest are put together if there are many. */
export function usageView(reply: UsageReply, metric: Metric, group: UsageGroup): UsageView {
  const times = reply.begins.map((at) => Date.parse(at));
  const place = new Map(times.map((at, index) => [at, index]));
  const sorted = group === "service" || group === "status" ? reply.groups : bySize(reply, metric);
  const shown = withOthers(sorted);
  const groups = shown.map((one, index): ShownGroup => {
    const values: (number | null)[] = times.map(() => (metric === "p95" ? null : 0));
    const texts: string[] = times.map(() =>
      metric === "cost" ? moneyText("0") : metric === "p95" ? "–" : "0",
    );
    for (const step of one.steps) {
      const at = place.get(Date.parse(step.at));
      if (at === undefined) continue;
      values[at] = figureOf(step, metric);
      texts[at] = figureText(step, metric);
    }
    const label = labelOf(one, group);
    return {
      id: one.id,
      label,
      total: one.total,
      color: colorOf(one.id, group, index),
      values,
      texts,
    };
  });
  return { times, groups };
}

function labelOf({ id, label }: UsageReply["groups"][number], group: UsageGroup): string {
  if (group === "none") return t.usage.all;
  if (group === "service") return nameOf(t.services, id);
  if (group === "status") return nameOf(t.usage.statuses, id);
  return label;
}

function colorOf(id: string, group: UsageGroup, index: number): string {
  if (group === "status") return STATUS_COLOURS[id] ?? OTHERS_COLOUR;
  if (group === "service") return serviceColour(id);
  return id === OTHERS ? OTHERS_COLOUR : seriesColour(index);
}

function bySize({ groups }: UsageReply, metric: Metric) {
  const size = (one: UsageReply["groups"][number]) => figureOf(one.total, metric) ?? 0;
  return groups.toSorted((a, b) => size(b) - size(a));
}

function withOthers(groups: UsageReply["groups"]): UsageReply["groups"] {
  if (groups.length <= COLOURS_MAX) return groups;
  const rest = groups.slice(COLOURS_MAX - 1);
  const at = [...new Set(rest.flatMap(({ steps }) => steps.map((step) => step.at)))].sort();
  const steps = at.map((time) => {
    const found = rest.flatMap((one) => one.steps.filter((step) => step.at === time));
    return { at: time, ...summed(found) };
  });
  const others = {
    id: OTHERS,
    label: t.usage.others(rest.length),
    total: summed(rest.map(({ total }) => total)),
    steps,
  };
  return [...groups.slice(0, COLOURS_MAX - 1), others];
}

function summed(figures: readonly Figures[]): Figures {
  const sums = MEASURE_NAMES.map((name) => {
    const values = figures.map((one) => one[name]);
    const isMoney = MEASURES[name].unit === "usd";
    return [name, isMoney ? sumUsd(values.map(String)) : sumOf(values.map(Number))];
  });
  // A p95 does not follow from those of the groups.
  return { ...(Object.fromEntries(sums) as Omit<Figures, "p95_ms">), p95_ms: null };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
