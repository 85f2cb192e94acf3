// One chart of figures over time, drawn by uPlot: stacked bars, or lines where figures do not add
// up. The code of the chart is loaded when a chart is first shown. The same figures stand in a
// table beside it.

import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import type { UsageStep } from "../../../src/core/usage-query.ts";
import { axisMoney } from "../money.ts";
import { numberFormat } from "../numbers.ts";
import { stepLabel } from "../step-names.ts";
import { duration } from "../time.ts";
import type { Metric, UsageView } from "../usage-view.ts";

interface ChartProps {
  readonly view: UsageView;
  readonly metric: Metric;
  readonly zone: string;
  readonly step: UsageStep;
  readonly label: string;
  readonly height?: number;
  /** Called with the first and the last step that were chosen. */
  readonly onZoom?: (first: number, last: number) => void;
  /** The step under the pointer, or null. */
  readonly onHover?: (index: number | null) => void;
}

const BAR_SHARE = 0.82;
const BAR_PIXELS_MAX = 120;
const LABEL_PIXELS = 74;
const DRAG_PIXELS_MIN = 6;
const AXIS_PIXELS_MIN = 64;
/** The room beside the texts of the axis, on both sides together. */
const AXIS_GAP_PIXELS = 20;

export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  const { view, metric, zone, step, label, height = 260 } = props;
  const latest = useRef(props);
  latest.current = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the scheme
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const chart = new uPlot(
      optionsOf(box, { view, metric, zone, step, height }, latest),
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
  }, [view, metric, zone, step, height, scheme]);
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
  // Steps stand side by side whatever their length: months and days of a changed clock differ.
  const xs = times.map((_, index) => index);
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

type Drawn = Required<Pick<ChartProps, "view" | "metric" | "zone" | "step" | "height">>;

function optionsOf(
  box: HTMLElement,
  { view, metric, zone, step, height }: Drawn,
  latest: { readonly current: ChartProps },
): uPlot.Options {
  const style = getComputedStyle(box);
  const colour = (value: string) => {
    const name = /^var\((.+)\)$/.exec(value)?.[1];
    return name === undefined ? value : style.getPropertyValue(name).trim();
  };
  const [dim, line] = [colour("var(--fb-dim)"), colour("var(--fb-line)")];
  const font = `12px ${style.fontFamily}`;
  const labelOf = (at: number | undefined) => (at === undefined ? "" : stepLabel(at, step, zone));
  const isLine = metric === "p95";
  const groups = isLine ? view.groups : [...view.groups].reverse();
  const bars = uPlot.paths.bars?.({ size: [BAR_SHARE, BAR_PIXELS_MAX], radius: 0 });
  return {
    width: box.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, points: { show: isLine }, drag: { x: true, y: false, setScale: false } },
    scales: {
      x: { time: false, range: [-0.5, view.times.length - 0.5] },
      y: { range: (_, __, most) => [0, most || 1] },
    },
    axes: [
      {
        stroke: dim,
        font,
        grid: { show: false },
        ticks: { show: false },
        splits: ({ bbox }) => labelled(view.times.length, bbox.width / devicePixelRatio),
        values: (_, marks) => marks.map((mark) => labelOf(view.times[mark])),
      },
      {
        stroke: dim,
        font,
        size: (chart, texts) => axisWidth(chart, texts, font),
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
          const last = view.times.length - 1;
          const at = (pixel: number) => Math.round(chart.posToVal(pixel, "x"));
          const [from, to] = [Math.max(0, at(left)), Math.min(last, at(left + width))];
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          latest.current.onZoom?.(from, to);
        },
      ],
    },
  };
}

/** The width of the axis: room for its longest text, but at least the usual width. */
function axisWidth({ ctx }: uPlot, texts: readonly string[] | null, font: string): number {
  ctx.save();
  ctx.font = font;
  const widths = (texts ?? []).map((text) => ctx.measureText(text).width);
  ctx.restore();
  return Math.max(AXIS_PIXELS_MIN, Math.ceil(Math.max(0, ...widths)) + AXIS_GAP_PIXELS);
}

/** The steps that have room for a label. */
function labelled(count: number, width: number): number[] {
  const every = Math.max(1, Math.ceil((count * LABEL_PIXELS) / Math.max(width, LABEL_PIXELS)));
  return Array.from({ length: Math.ceil(count / every) }, (_, index) => index * every);
}

function axisText(mark: number, metric: Metric): string {
  if (metric === "cost") return axisMoney(mark);
  if (metric === "p95") return duration(mark);
  if (mark % 1 !== 0) return "";
  return numberFormat({ notation: "compact" }).format(mark);
}
