// The tools of a request to Responses, for servers that know only functions: a custom tool becomes
// a function with one text, and the tools of a namespace get names that say where they belong
// (D-688).

import type { Json } from "../../../../core/text/json.ts";
import { copyJson, invalid, isAbsent } from "../../../../http/body/checks.ts";
import {
  CLIENT_TOOLS,
  type ClientToolKind,
  clientFunction,
  isClientTool,
  isClientToolKind,
  isOfOwnModels,
} from "./client-tools.ts";
import type { InputFields, ToolChoiceFields, ToolFields } from "./responses-body.ts";

type Namespace = Extract<ToolFields, { readonly type: "namespace" }>;
type Called = Namespace["tools"][number];
type Custom = Extract<Called, { readonly type: "custom" }>;

/** A tool as its caller knows it. */
export interface ServedTool {
  readonly kind: "function" | "custom" | ClientToolKind;
  readonly name: string;
  readonly namespace: string | null;
}

/** The item of a call and the beginning of its id, by the kind of the tool. */
export const CALL_ITEMS = {
  function: { item: "function_call", prefix: "fc" },
  custom: { item: "custom_tool_call", prefix: "ctc" },
  ...CLIENT_TOOLS,
} as const satisfies Record<ServedTool["kind"], object>;

/** The tools of a request. */
export interface ServedTools {
  /** The tools by the names under which servers of other forms know them. */
  readonly byName: ReadonlyMap<string, ServedTool>;
  /** The tools as chat completions have them. */
  readonly functions: readonly Json[];
  /** The kinds of tools that are left out, each once. */
  readonly leftOut: readonly string[];
  /** The kinds of tools that only a server of the same form serves, each once. */
  readonly ownOnly: readonly string[];
  /** The tools that a server of the same form describes to its model in words of its own. */
  readonly described: readonly ToolFields[];
}

/** The one argument of a function that stands for a custom tool. */
export const CUSTOM_INPUT = "input";

/** The longest name that all servers take. */
const NAME_LENGTH_MAX = 64;
const PLAIN_NAME = /^[\w-]+$/;
const DIGEST_LENGTH = 16;

/** The name of a tool for servers without namespaces; the same for the same tool, always. */
export function flatName(name: string, namespace: string | null | undefined): string {
  if (isAbsent(namespace)) return name;
  const whole = `${namespace}__${name}`;
  if (whole.length <= NAME_LENGTH_MAX && PLAIN_NAME.test(whole)) return whole;
  const digest = new Bun.CryptoHasher("sha256", "namespace").update(whole).digest("hex");
  const start = whole.slice(0, NAME_LENGTH_MAX - DIGEST_LENGTH - 1).replaceAll(/[^\w-]/g, "_");
  return `${start}_${digest.slice(0, DIGEST_LENGTH)}`;
}

/** A list of tools, and the field that it stands in. */
interface ToolList {
  readonly tools: readonly ToolFields[];
  readonly param: string;
}

/** The tools of these lists. Throws an `invalid_parameter` for two tools with one name. */
export function servedTools(lists: readonly ToolList[]): ServedTools {
  const byName = new Map<string, ServedTool>();
  const functions = new Map<string, Json>();
  const leftOut = new Set<string>();
  const ownOnly = new Set<string>();
  const described: ToolFields[] = [];
  const add = (tool: Called, namespace: Namespace | null, param: string) => {
    const name = flatName(tool.name, namespace?.name);
    const served = { kind: tool.type, name: tool.name, namespace: namespace?.name ?? null };
    const known = byName.get(name);
    // Agents repeat tools within one conversation.
    if (known !== undefined && !isSame(known, served)) {
      throw invalid(`${param}.name`, "must not be the name of another tool");
    }
    // The description of a namespace stands with its first tool.
    const about = namespace?.tools[0] === tool ? (namespace.description ?? "") : "";
    byName.set(name, served);
    functions.set(name, toFunction(tool, { name, about }));
  };
  for (const { tools, param } of lists) {
    tools.forEach((tool, index) => {
      const at = `${param}[${index}]`;
      if (isServed(tool)) add(tool, null, at);
      else if (isDescribed(tool)) described.push(tool);
      else if (tool.type !== "namespace") leftOut.add(tool.type);
      else {
        for (const [place, inner] of tool.tools.entries())
          add(inner, tool, `${at}.tools[${place}]`);
      }
    });
  }
  for (const tool of described) {
    const { type: name } = tool;
    const known = byName.get(name);
    // A function of the caller may have the name of the tool.
    if (!isClientTool(tool) || (known !== undefined && known.kind !== name)) ownOnly.add(name);
    else {
      byName.set(name, { kind: tool.type, name, namespace: null });
      functions.set(name, clientFunction(tool));
    }
  }
  return {
    byName,
    functions: [...functions.values()],
    leftOut: [...leftOut],
    ownOnly: [...ownOnly],
    described,
  };
}

/** True for a tool of the caller's machine, whose description its provider writes. */
function isDescribed(tool: ToolFields): boolean {
  return isClientTool(tool) || isOfOwnModels(tool);
}

/** The tools for a server of the same form: without hosted ones and empty namespaces. */
export function withoutHosted(tools: readonly ToolFields[]): readonly ToolFields[] {
  return tools.filter((tool) =>
    tool.type === "namespace" ? tool.tools.length > 0 : isServed(tool) || isDescribed(tool),
  );
}

/** The choice of tools for a server of the same form. */
export function ownChoice(choice: ToolChoiceFields): unknown {
  if (typeof choice === "string" || choice.type !== "allowed_tools") return choice;
  const isOwn = (one: { readonly type: string }) =>
    isServed(one) || isClientToolKind(one.type) || isOfOwnModels(one);
  return { ...choice, tools: choice.tools.filter(isOwn) };
}

/** True for a tool that is served, or the choice of one; other kinds can have names, too. */
export function isServed<Tool extends { readonly type: string }>(
  tool: Tool,
): tool is Extract<Tool, { readonly type: "function" | "custom" }> {
  return tool.type === "function" || tool.type === "custom";
}

function isSame(one: ServedTool, other: ServedTool): boolean {
  return one.kind === other.kind && one.name === other.name && one.namespace === other.namespace;
}

interface FlatTool {
  readonly name: string;
  /** A text before its own description. */
  readonly about: string;
}

function toFunction(tool: Called, { name, about }: FlatTool): Json {
  const texts = [about, tool.description ?? "", tool.type === "custom" ? grammarOf(tool) : ""];
  const description = texts.filter((text) => text !== "").join("\n\n");
  const called = {
    name,
    ...(description !== "" && { description }),
    ...(tool.type === "custom" ? { parameters: CUSTOM_PARAMETERS } : ownParameters(tool)),
  };
  return { type: "function", function: called };
}

function ownParameters({ parameters, strict }: Exclude<Called, Custom>): Json {
  return {
    ...(!isAbsent(parameters) && { parameters: copyJson(parameters) }),
    ...(!isAbsent(strict) && { strict }),
  };
}

const CUSTOM_PARAMETERS: Json = {
  type: "object",
  properties: { [CUSTOM_INPUT]: { type: "string", description: "The input, as plain text" } },
  required: [CUSTOM_INPUT],
  additionalProperties: false,
};

function grammarOf({ format }: Custom): string {
  if (isAbsent(format) || format.type === "text") return "";
  const kind = format.syntax === "lark" ? "this Lark grammar" : "this regular expression";
  return `The input must match ${kind}:\n${format.definition}`;
}

/** The parameters of chat completions about tools. Throws for a choice that cannot be served. */
export function toolParameters(
  { functions, byName, leftOut, ownOnly }: ServedTools,
  { tool_choice: choice, parallel_tool_calls: parallel }: InputFields,
): Json {
  const allowed = allowedNames(choice);
  const tools =
    allowed === null ? functions : functions.filter((tool) => allowed.has(nameOf(tool)));
  if (isForced(choice) && tools.length === 0 && leftOut.length > 0) {
    throw invalid("tool_choice", `must not force a tool of a kind that is not served: ${leftOut}`);
  }
  const forced = isAbsent(choice) ? undefined : toChoice(choice, byName, ownOnly);
  if (tools.length === 0) return {};
  return {
    tools,
    ...(forced !== undefined && { tool_choice: forced }),
    ...(!isAbsent(parallel) && { parallel_tool_calls: parallel }),
  };
}

/** True for a choice by which the model must call a tool, whichever it is. */
export function isForced(choice: Choice): boolean {
  return choice === "required" || modeOf(choice) === "required";
}

function nameOf({ function: called }: Json): string {
  return (called as { readonly name: string }).name;
}

type Choice = ToolChoiceFields | null | undefined;

/** The tools that a choice is limited to; null for all. */
function allowedNames(choice: Choice): ReadonlySet<string> | null {
  if (typeof choice !== "object" || choice?.type !== "allowed_tools") return null;
  return new Set(
    choice.tools.map((one) => (isServed(one) ? flatName(one.name, one.namespace) : one.type)),
  );
}

function modeOf(choice: Choice): string | null {
  if (typeof choice !== "object" || choice?.type !== "allowed_tools") return null;
  return choice.mode ?? "auto";
}

function toChoice(
  choice: ToolChoiceFields,
  byName: ServedTools["byName"],
  ownOnly: ServedTools["ownOnly"],
): unknown {
  if (typeof choice === "string") return choice;
  if (choice.type === "allowed_tools") return modeOf(choice);
  if (!("name" in choice)) {
    const { type } = choice;
    if (byName.get(type)?.kind === type) return { type: "function", function: { name: type } };
    if (ownOnly.includes(type)) return undefined;
    throw invalid("tool_choice.type", `must not be '${choice.type}': such tools are not served`);
  }
  const name = flatName(choice.name, choice.namespace);
  if (!byName.has(name)) throw invalid("tool_choice.name", "must be the name of one of the tools");
  return { type: "function", function: { name } };
}
