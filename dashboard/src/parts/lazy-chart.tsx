// The chart with its legend. The drawing itself is loaded when it is first needed.

import { Skeleton } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { t } from "../texts.ts";
import { clockTime, shortDay, zoneLabel } from "../time.ts";
import { type Metric, textOf, type UsageView } from "../usage-view.ts";

const Chart = lazy(async () => ({ default: (await import("./chart.tsx")).Chart }));

interface UsageChartProps {
  readonly view: UsageView;
  readonly metric: Metric;
  readonly zone: string;
  readonly step: string;
  readonly height?: number;
  readonly onZoom?: (fromMs: number, toMs: number) => void;
}

export function UsageChart({ view, metric, zone, step, height = 260, onZoom }: UsageChartProps) {
  const [hovered, setHovered] = useState<number | null>(null);
  const at = hovered === null ? undefined : view.times[hovered];
  const label = t.usage.chartLabel(t.usage.metrics[metric]);
  return (
    <>
      <Suspense fallback={<Skeleton height={height} radius={8} />}>
        <Chart
          view={view}
          metric={metric}
          zone={zone}
          label={label}
          height={height}
          onZoom={onZoom}
          onHover={setHovered}
        />
      </Suspense>
      <ul className="legend chart-legend">
        <li className="chart-when">
          {at === undefined ? t.usage.total : stepName(at, step, zone)}
        </li>
        {view.groups.map((group) => (
          <li key={group.id}>
            <i className="dot" style={{ background: group.color }} />
            {group.label}{" "}
            <b className="tabular">
              {hovered === null ? textOf(group.total, metric) : (group.texts[hovered] ?? "–")}
            </b>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What a step is called: "22 Nov", or "22 Nov 14:00 UTC". */
export function stepName(at: number, step: string, zone: string): string {
  const iso = new Date(at).toISOString();
  if (step === "1d") return shortDay(iso, zone);
  if (step === "1mo") {
    return new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      month: "short",
      year: "numeric",
    }).format(at);
  }
  const time = clockTime(iso, zone).slice(0, 5);
  return `${shortDay(iso, zone)} ${time} ${zoneLabel(zone, new Date(at))}`;
}
