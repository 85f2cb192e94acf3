// The part of docs/maps.md that is made from the table of actions and their examples. To renew the
// page: bun test/support/maps-page.ts, then npm run format.

import { join } from "node:path";
import { ACTIONS, type MapsAction } from "../../src/services/maps/actions.ts";
import type { Parameter } from "../../src/services/maps/parameters.ts";
import { canServe, EMBEDDED, MAPS_KINDS } from "../../src/services/maps/servers.ts";
import { EXAMPLES } from "./maps-examples.ts";

export const PAGE = join(import.meta.dir, "../../docs/maps.md");
const BEGIN = "<!-- made from the table of actions: bun test/support/maps-page.ts -->\n";
const END = "<!-- end -->\n";
const PRICES = { standard: "$0.0500", tiles: "$0.0050" } as const;
const NAMES = Object.keys(ACTIONS) as MapsAction[];

/** The page with its made part made anew. */
export function renewed(page: string): string {
  const start = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (start < 0 || end < start) throw new Error("docs/maps.md has lost the marks of its made part");
  const made = [overview(), ...NAMES.map(chapter)].join("\n");
  return `${page.slice(0, start + BEGIN.length)}\n${made}\n${page.slice(end)}`;
}

function overview(): string {
  const head = ["action", "price of 1,000 calls", "answers", "built in", "servers"];
  const rows = NAMES.map((action) => [
    `[\`${action}\`](#${action})`,
    PRICES[ACTIONS[action].category],
    ACTIONS[action].about,
    canServe(EMBEDDED, action) ? "yes" : "",
    MAPS_KINDS.filter((kind) => canServe(kind, action)).join(", "),
  ]);
  return table(head, rows);
}

function chapter(action: MapsAction): string {
  const { about } = ACTIONS[action];
  const parameters: Readonly<Record<string, Parameter<unknown>>> = ACTIONS[action].parameters;
  const rows = Object.entries(parameters).map(([name, { kind, about, required, fallback }]) => [
    `\`${name}\``,
    required ? "required" : fallback === null ? "" : `\`${String(fallback)}\``,
    about,
    kind.rule.replace(/^must be /, ""),
  ]);
  const { query, data } = EXAMPLES[action];
  return `### ${action}

Answers ${about}.

${table(["parameter", "default", "what", "must be"], rows)}
\`\`\`
GET /v1/maps?action=${action}&${query}
\`\`\`

\`\`\`json
${JSON.stringify(data, null, 2)}
\`\`\`
`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => [...(row[at] ?? "")].length)));
  const pad = (text: string, at: number) => text + " ".repeat((widths[at] ?? 0) - [...text].length);
  const lineOf = (row: readonly string[]) => `| ${row.map(pad).join(" | ")} |\n`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |\n`;
  return lineOf(head) + rule + rows.map(lineOf).join("");
}

if (import.meta.main) await Bun.write(PAGE, renewed(await Bun.file(PAGE).text()));
