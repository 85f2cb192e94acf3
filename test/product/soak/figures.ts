// Defines the figures of a soak, and how much each may grow.

/** The allowed share of the value, or at least this amount. */
export interface Tolerance {
  readonly share: number;
  readonly least: number;
}

export interface Figure {
  readonly title: string;
  readonly unit: "MB" | "" | "s" | "ms" | "calls/s";
  /** Null for a figure that is only shown. */
  readonly tolerance: Tolerance | null;
}

const MB = 1e6;
const processMemory = { share: 0.1, least: 32 * MB };

/** Values are bytes where the unit is MB. */
export const FIGURES = {
  rate: { title: "calls answered", unit: "calls/s", tolerance: null },
  p50: { title: "median latency", unit: "ms", tolerance: null },
  p99: { title: "99th percentile", unit: "ms", tolerance: null },
  apiRss: { title: "API: RSS", unit: "MB", tolerance: processMemory },
  apiHeap: { title: "API: heap in use", unit: "MB", tolerance: processMemory },
  workerRss: { title: "worker: RSS", unit: "MB", tolerance: processMemory },
  workerHeap: { title: "worker: heap in use", unit: "MB", tolerance: processMemory },
  redisMemory: { title: "Redis: memory", unit: "MB", tolerance: { share: 0.1, least: 16 * MB } },
  redisKeys: { title: "Redis: keys", unit: "", tolerance: { share: 0.1, least: 500 } },
  redisFile: { title: "Redis: append-only file", unit: "MB", tolerance: null },
  rows: { title: "Postgres: log, ledger, mail", unit: "MB", tolerance: null },
  rest: {
    title: "Postgres: all else",
    unit: "MB",
    tolerance: { share: 0.1, least: 16 * MB },
  },
  connections: { title: "Postgres: connections", unit: "", tolerance: { share: 0.1, least: 4 } },
  openCalls: { title: "open calls", unit: "", tolerance: { share: 0.5, least: 50 } },
  lagEntries: { title: "journal: entries behind", unit: "", tolerance: { share: 1, least: 2_000 } },
  lagSeconds: { title: "journal: oldest entry", unit: "s", tolerance: { share: 1, least: 10 } },
} as const satisfies Record<string, Figure>;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];

/** All figures at one moment. */
export interface Sample {
  readonly atSeconds: number;
  readonly values: Readonly<Record<FigureName, number>>;
}

/** A value in its readable form. */
export function shown(name: FigureName, value: number): string {
  const { unit } = FIGURES[name];
  if (unit === "MB") return (value / MB).toFixed(1);
  return value.toFixed(unit === "" ? 0 : 1);
}

/** The samples as a table for other programs, in bytes, seconds and milliseconds. */
export function toCsv(samples: readonly Sample[]): string {
  const lines = samples.map(({ atSeconds, values }) =>
    [atSeconds.toFixed(1), ...FIGURE_NAMES.map((name) => String(values[name]))].join(","),
  );
  return `${[["seconds", ...FIGURE_NAMES].join(","), ...lines].join("\n")}\n`;
}
