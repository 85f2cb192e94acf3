// The tools of a Messages body. Tools that the provider would run have no price here: they are left
// out and named to the caller, unless the caller forces one (D-874).

import { invalid, isAbsent } from "../../../../http/body/checks.ts";
import { shortName } from "../door-meta.ts";
import type { CountFields, ToolFields } from "./messages-body.ts";

/** Tools that Claude knows by their type, and that the caller runs. */
const CLIENT_TOOLS = /^(?:bash|text_editor|computer|memory)_\d{8}$/;
/** Fields of tools that a server takes only beside a tool of the provider. */
const DEPENDENT_FIELDS = [
  { provider: /^tool_search_tool_/, field: "defer_loading" },
  { provider: /^code_execution_/, field: "allowed_callers" },
] as const;
const NOT_SERVED = "must not force a tool that the provider would run: such tools are not served";
const NAMES_MAX = 16;

/** True for a tool with a schema of its own, which can be sent to every server. */
export function hasOwnSchema({ type }: Pick<ToolFields, "type">): boolean {
  return isAbsent(type) || type === "custom";
}

/** True for a tool that Claude knows by its type, and that the caller runs. */
export function isClientTool({ type }: Pick<ToolFields, "type">): boolean {
  return !isAbsent(type) && CLIENT_TOOLS.test(type);
}

/**
 * The body without the tools that the provider would run. Throws an `invalid_parameter` for a tool
 * without its schema, and for a choice that forces a tool which is left out.
 */
export function withoutProviderTools<Fields extends CountFields>(fields: Fields): Fields {
  const { tools, tool_choice: choice } = fields;
  if (isAbsent(tools)) return fields;
  checkSchemas(tools);
  const leftOut = tools.filter(isOfProvider);
  if (leftOut.length === 0) return fields;
  const left = tools.filter((tool) => !isOfProvider(tool));
  const isNamed = (list: readonly ToolFields[]) =>
    choice?.type === "tool" && list.some(({ name }) => name === choice.name);
  if (isNamed(leftOut) && !isNamed(left)) throw invalid("tool_choice.name", NOT_SERVED);
  if (left.length > 0) {
    const lost = dependentFields(leftOut);
    return { ...fields, tools: left.map((tool) => withoutFields(tool, lost)) };
  }
  if (choice?.type === "any") throw invalid("tool_choice.type", NOT_SERVED);
  // Servers refuse a choice without tools.
  return { ...fields, tools: null, tool_choice: null };
}

/** The tools that are left out, as `svc.ignored` names them. */
export function leftOutTools({ tools }: Pick<CountFields, "tools">): readonly string[] {
  const kinds = new Set((tools ?? []).filter(isOfProvider).map(({ type }) => String(type)));
  return [...kinds].slice(0, NAMES_MAX).map((kind) => `tools: ${shortName(kind)}`);
}

function isOfProvider(tool: ToolFields): boolean {
  return !hasOwnSchema(tool) && !isClientTool(tool);
}

function checkSchemas(tools: readonly ToolFields[]): void {
  tools.forEach((tool, index) => {
    if (!hasOwnSchema(tool) || !isAbsent(tool.input_schema)) return;
    throw invalid(`tools[${index}].input_schema`, "must be an object");
  });
}

/** The names of fields that need one of these tools. */
function dependentFields(tools: readonly ToolFields[]): ReadonlySet<string> {
  const found = DEPENDENT_FIELDS.filter(({ provider }) =>
    tools.some(({ type }) => provider.test(String(type))),
  );
  return new Set(found.map(({ field }) => field));
}

function withoutFields(tool: ToolFields, names: ReadonlySet<string>): ToolFields {
  if (names.size === 0) return tool;
  const kept = Object.entries(tool).filter(([name]) => !names.has(name));
  return Object.fromEntries(kept) as ToolFields;
}
