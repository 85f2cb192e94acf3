// Documents GET /v1/maps from the table of actions: its parameters, and an example of every action.

import type { Example, ParameterInfo } from "../../http/endpoint-info.ts";
import { oneOf, type TSchema, Type } from "../../http/schema.ts";
import { ACTIONS, type MapsAction } from "./actions.ts";
import { EXAMPLES } from "./maps-examples.ts";
import type { Parameter } from "./parameters.ts";

const NAMES = Object.keys(ACTIONS) as MapsAction[];

/** The use of a parameter by one action. */
interface Use {
  readonly action: MapsAction;
  readonly parameter: Parameter<unknown>;
}

export const MAPS_PARAMETERS: readonly ParameterInfo[] = [
  {
    name: "action",
    in: "query",
    required: true,
    description: NAMES.map((name) => `- \`${name}\`: ${ACTIONS[name].about}`).join("\n"),
    schema: oneOf(NAMES),
  },
  ...[...usesByName()].map(([name, uses]) => infoOf(name, uses)),
];

export const MAPS_EXAMPLES: readonly Example[] = NAMES.map((action) => ({
  summary: `${action}: ${ACTIONS[action].about}`,
  query: `action=${action}&${EXAMPLES[action].query}`,
  reply: {
    object: "maps.result",
    action,
    data: EXAMPLES[action].data,
    attribution: ["© Example contributors"],
    provider: "example",
    svc: {
      request_id: "req_0351Ki6Po6Ze8c7RSniYDy",
      cost_usd: ACTIONS[action].category === "tiles" ? 0.000005 : 0.00005,
      free_credit_usd: 0,
    },
  },
}));

function usesByName(): Map<string, Use[]> {
  const uses = new Map<string, Use[]>();
  for (const action of NAMES) {
    const parameters: Readonly<Record<string, Parameter<unknown>>> = ACTIONS[action].parameters;
    for (const [name, parameter] of Object.entries(parameters)) {
      uses.set(name, [...(uses.get(name) ?? []), { action, parameter }]);
    }
  }
  return uses;
}

/** Each action requires some parameters, but none is required by all of them. */
function infoOf(name: string, uses: readonly Use[]): ParameterInfo {
  const schemas = new Map(
    uses.map(({ parameter: { kind } }) => [JSON.stringify(kind.schema), kind.schema]),
  );
  const [only, ...others]: readonly TSchema[] = [...schemas.values()];
  const schema = only === undefined || others.length > 0 ? Type.Union([...schemas.values()]) : only;
  return {
    name,
    in: "query",
    required: false,
    description: [...linesOf(uses), ...refusalLine(uses)].join("\n"),
    schema,
  };
}

/** No schema of a query can say which parameters belong to which action. */
function refusalLine(uses: readonly Use[]): readonly string[] {
  return uses.length === NAMES.length ? [] : ["- any other action refuses it"];
}

/** One line for each distinct description, with its actions. */
function linesOf(uses: readonly Use[]): string[] {
  const lines = new Map<string, string[]>();
  for (const { action, parameter } of uses) {
    const { about, required, fallback, kind } = parameter;
    const note = required ? "; required" : fallback === null ? "" : `; default ${fallback}`;
    const line = `${about} (${kind.rule})${note}`;
    lines.set(line, [...(lines.get(line) ?? []), `\`${action}\``]);
  }
  return [...lines].map(([line, actions]) => `- ${actions.join(", ")}: ${line}`);
}
