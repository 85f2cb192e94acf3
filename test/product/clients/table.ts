// Writes the results of the clients as a table: a row for each client and surface, a column for
// each check.

/** The checks, in the order of their columns. */
export const CHECKS = [
  "chat",
  "stream",
  "tool",
  "list",
  "retrieve",
  "401",
  "402",
  "404",
  "page",
  "cost",
] as const;

export type Check = (typeof CHECKS)[number];

export interface CheckResult {
  readonly check: string;
  readonly ok: boolean;
  readonly detail?: string;
  readonly ms?: number;
}

/** One client against one surface. */
export interface ClientRow {
  readonly client: string;
  readonly surface: string;
  /** The checks that the client can run; the others do not exist for it. */
  readonly checks: readonly string[];
  readonly results: readonly CheckResult[];
  /** The charges of the account of the run, in USD. */
  readonly charged?: string;
  /** The reason why it did not run. */
  readonly missing?: string;
}

/** The failures of a row, each as one line; a check without a result is one. */
export function failuresOf({ client, surface, checks, results, missing }: ClientRow): string[] {
  if (missing !== undefined) return [];
  return checks.flatMap((check) => {
    const result = results.find((one) => one.check === check);
    if (result?.ok === true) return [];
    return [`${client}, ${surface}, ${check}: ${result?.detail ?? "it never ended"}`];
  });
}

/** The table as text. */
export function clientTable(rows: readonly ClientRow[]): string {
  const lines = [
    ["client", "surface", ...CHECKS, "charged", "more"],
    ...rows.map((row) => [
      row.client,
      row.surface,
      ...CHECKS.map((check) => cell(row, check)),
      row.charged === undefined ? "" : `$${row.charged}`,
      more(row),
    ]),
  ];
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((text, at) => text.padEnd(widths?.[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function cell(row: ClientRow, check: string): string {
  if (!row.checks.includes(check)) return "-";
  if (row.missing !== undefined) return "skip";
  return row.results.some((result) => result.check === check && result.ok) ? "ok" : "FAIL";
}

/** Checks without a column: the number that passed, and their total. */
function more(row: ClientRow): string {
  const others = row.checks.filter((check) => !CHECKS.some((known) => known === check));
  if (row.missing !== undefined) return `skipped: ${row.missing}`;
  if (others.length === 0) return "";
  const passed = others.filter((check) => cell(row, check) === "ok").length;
  return `${passed} of ${others.length} pass`;
}
