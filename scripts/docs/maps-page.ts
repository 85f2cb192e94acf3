// Makes the part of docs/maps.md that is generated from the table of actions and their examples.

import type { TSchema } from "@sinclair/typebox";
import { pricePerUnit } from "../../src/core/money/money.ts";
import { fieldGroups } from "../../src/http/docs/schema-fields.ts";
import { ACTIONS, type MapsAction } from "../../src/services/maps/actions.ts";
import { EXAMPLES } from "../../src/services/maps/maps-examples.ts";
import { DATA } from "../../src/services/maps/maps-replies.ts";
import type { Parameter } from "../../src/services/maps/parameters.ts";
import { MAPS_PRICES } from "../../src/services/maps/prices.ts";
import { canServe, EMBEDDED, MAPS_KINDS } from "../../src/services/maps/servers.ts";
import { table } from "./markdown.ts";

const NAMES = Object.keys(ACTIONS) as MapsAction[];

export function mapsActions(): string {
  return [overview(), ...NAMES.map(chapter)].join("\n");
}

function overview(): string {
  const head = ["action", "price of a call", "answers", "built in", "servers"];
  const rows = NAMES.map((action) => [
    `[\`${action}\`](#${action})`,
    `$${pricePerUnit(MAPS_PRICES[ACTIONS[action].category])}`,
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

${table(["field of `data`", "type", "what"], fieldRows(DATA[action]))}`;
}

function fieldRows(schema: TSchema): string[][] {
  return fieldGroups(schema).flatMap(({ rows }) =>
    rows.map(({ path, type, about }) => [`\`${path}\``, type, about]),
  );
}
