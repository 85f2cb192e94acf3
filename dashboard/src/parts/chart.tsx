// One chart of figures over time, drawn by uPlot: stacked bars, or lines where figures do not add
// up. It is loaded when it is first shown. The same figures stand in a table beside it.

import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { axisMoney } from "../money.ts";
import { duration } from "../time.ts";
import type { Metric, UsageView } from "../usage-view.ts";

interface ChartProps {
  readonly view: UsageView;
  readonly metric: Metric;
  readonly zone: string;
  readonly label: string;
  readonly height?: number;
  readonly onZoom?: (fromMs: number, toMs: number) => void;
  /** The step under the pointer, or null. */
  readonly onHover?: (index: number | null) => void;
}

const MS = 1_000;
const BAR_SHARE = 0.82;
const BAR_PIXELS_MAX = 64;
const DRAG_PIXELS_MIN = 6;

export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  const { view, metric, zone, label, height = 260 } = props;
  const latest = useRef(props);
  latest.current = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the scheme
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const chart = new uPlot(
      optionsOf(box, { view, metric, zone, height }, latest),
      dataOf(view, metric),
      box,
    );
    const observer = new ResizeObserver(() => {
      chart.setSize({ width: box.clientWidth, height });
    });
    observer.observe(box);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [view, metric, zone, height, scheme]);
  return (
    <div
      ref={place}
      className="chart"
      role="img"
      aria-label={label}
      style={{ minHeight: height }}
    />
  );
}

/** Lines show figures as they are; bars are stacked, so each holds the sum up to it. */
function dataOf({ times, groups }: UsageView, metric: Metric): uPlot.AlignedData {
  const xs = times.map((at) => at / MS);
  if (metric === "p95") return [xs, ...groups.map(({ values }) => [...values])];
  const sums = times.map(() => 0);
  const stacked = groups.map(({ values }) =>
    values.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      return sum;
    }),
  );
  // The highest sums are drawn first, so that the lower ones cover them.
  return [xs, ...stacked.reverse()];
}

type Drawn = Required<Pick<ChartProps, "view" | "metric" | "zone" | "height">>;

function optionsOf(
  box: HTMLElement,
  { view, metric, zone, height }: Drawn,
  latest: { readonly current: ChartProps },
): uPlot.Options {
  const style = getComputedStyle(box);
  const colour = (value: string) => {
    const name = /^var\((.+)\)$/.exec(value)?.[1];
    return name === undefined ? value : style.getPropertyValue(name).trim();
  };
  const [dim, line] = [colour("var(--fb-dim)"), colour("var(--fb-line)")];
  const font = `12px ${style.fontFamily}`;
  const isLine = metric === "p95";
  const groups = isLine ? view.groups : [...view.groups].reverse();
  const bars = uPlot.paths.bars?.({ size: [BAR_SHARE, BAR_PIXELS_MAX], align: 1, radius: 0 });
  return {
    width: box.clientWidth,
    height,
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * MS), zone),
    cursor: { y: false, points: { show: isLine }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { range: () => rangeOf(view) }, y: { range: (_, __, most) => [0, most || 1] } },
    axes: [
      { stroke: dim, font, grid: { show: false }, ticks: { show: false } },
      {
        stroke: dim,
        font,
        size: 64,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        values: (_, marks) => marks.map((mark) => axisText(mark, metric)),
      },
    ],
    series: [
      {},
      ...groups.map(({ label, color }) => ({
        label,
        stroke: colour(color),
        width: isLine ? 2 : 0,
        ...(!isLine && { fill: colour(color), ...(bars !== undefined && { paths: bars }) }),
        points: { show: isLine && view.times.length < 40 },
        spanGaps: false,
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => latest.current.onHover?.(cursor.idx ?? null)],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width < DRAG_PIXELS_MIN) return;
          const [from, to] = [chart.posToVal(left, "x"), chart.posToVal(left + width, "x")];
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          latest.current.onZoom?.(from * MS, to * MS);
        },
      ],
    },
  };
}

/** From the first step to the end of the last one. */
function rangeOf({ times }: UsageView): [number, number] {
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? first;
  const length = last - (times.at(-2) ?? last - 3_600_000);
  return [first / MS, (last + length) / MS];
}

function axisText(mark: number, metric: Metric): string {
  if (metric === "cost") return axisMoney(mark);
  if (metric === "p95") return duration(mark);
  if (mark % 1 !== 0) return "";
  return mark.toLocaleString("en", { notation: "compact" });
}
