// The chart with its legend. The drawing itself is loaded when it is first needed.

import { Skeleton } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import type { UsageStep } from "../../../src/core/usage-query.ts";
import { stepName } from "../step-names.ts";
import { t } from "../texts.ts";
import { figureText, type Metric, type UsageView } from "../usage-view.ts";

const Chart = lazy(async () => ({ default: (await import("./chart.tsx")).Chart }));

interface UsageChartProps {
  readonly view: UsageView;
  readonly metric: Metric;
  readonly zone: string;
  readonly step: UsageStep;
  readonly height?: number;
  readonly onZoom?: (first: number, last: number) => void;
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
          step={step}
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
              {hovered === null ? figureText(group.total, metric) : (group.texts[hovered] ?? "–")}
            </b>
          </li>
        ))}
      </ul>
    </>
  );
}
