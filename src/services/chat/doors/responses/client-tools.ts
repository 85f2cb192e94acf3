// Tools that the caller's own machine runs, such as a shell. A server of the same form knows them;
// for any other server each is a function, whose calls come back as calls of the tool (D-802).

import { isObject, type Json, jsonOrNull, textOrEmpty } from "../../../../core/text/json.ts";
import { isAbsent } from "../../../../http/body/checks.ts";
import { type CLIENT_TOOL_KINDS, COMPUTER_KINDS } from "./response-tools.ts";
import type { ItemFields, ItemOf, ToolFields } from "./responses-body.ts";

export type ClientToolKind = (typeof CLIENT_TOOL_KINDS)[number];
type LocalTool = Extract<ToolFields, { readonly type: ClientToolKind }>;

interface ClientTool {
  /** The kind of the item of a call, and the beginning of its id. */
  readonly item: string;
  readonly prefix: string;
  /** The field of the item that has the arguments of the call. */
  readonly field: "action" | "operation";
  readonly description: string;
  readonly properties: Json;
  readonly required: readonly string[];
  /** The field of a call with these arguments, which a model wrote. */
  readonly fieldOf: (args: Json) => Json;
}

const TEXT = { type: "string" };
const TEXTS = { type: "array", items: TEXT };
const MILLISECONDS = { type: "integer", description: "The longest run, in milliseconds" };

/** By the kind of the tool, which is also the name of the function. */
export const CLIENT_TOOLS = {
  shell: {
    item: "shell_call",
    prefix: "sh",
    field: "action",
    description: "Runs commands in a shell on the user's machine.",
    properties: {
      commands: TEXTS,
      timeout_ms: MILLISECONDS,
      max_output_length: { type: "integer", description: "The most characters of the output" },
    },
    required: ["commands"],
    fieldOf: ({ commands, timeout_ms, max_output_length }) => ({
      commands: textsOf(commands),
      timeout_ms: countOrNull(timeout_ms),
      max_output_length: countOrNull(max_output_length),
    }),
  },
  local_shell: {
    item: "local_shell_call",
    prefix: "lsh",
    field: "action",
    description: "Runs a command, without a shell, on the user's machine.",
    properties: {
      command: { ...TEXTS, description: "The program and its arguments" },
      working_directory: TEXT,
      env: { type: "object", additionalProperties: TEXT },
      timeout_ms: MILLISECONDS,
    },
    required: ["command"],
    fieldOf: ({ command, working_directory, env, timeout_ms }) => ({
      type: "exec",
      command: textsOf(command),
      env: isObject(env) ? env : {},
      timeout_ms: countOrNull(timeout_ms),
      working_directory: typeof working_directory === "string" ? working_directory : null,
    }),
  },
  apply_patch: {
    item: "apply_patch_call",
    prefix: "apc",
    field: "operation",
    description:
      "Creates, changes or deletes a file on the user's machine. The diff has a line `@@` before " +
      "each changed place; after it each line begins with a blank if it stays, with - if it is " +
      "removed, and with + if it is added. A new file has only lines with +.",
    properties: {
      type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
      path: TEXT,
      diff: { ...TEXT, description: "Not for delete_file" },
    },
    required: ["type", "path"],
    fieldOf: ({ type, path, diff }) => ({
      type: textOrEmpty(type),
      path: textOrEmpty(path),
      ...(typeof diff === "string" && { diff }),
    }),
  },
} as const satisfies Record<ClientToolKind, ClientTool>;

const OWN_MODELS_KINDS: ReadonlySet<string> = new Set(COMPUTER_KINDS);

/** The kinds of items of calls that the caller runs. A call of a computer has no function. */
export const CLIENT_CALLS: ReadonlySet<unknown> = new Set([
  ...Object.values(CLIENT_TOOLS).map(({ item }) => item),
  "computer_call",
]);

/** True for a kind of tool that has a function in its place. */
export function isClientToolKind(kind: string): kind is ClientToolKind {
  return Object.hasOwn(CLIENT_TOOLS, kind);
}

/** True for a tool that the caller runs and any server can serve. */
export function isClientTool(tool: ToolFields): tool is LocalTool {
  if (!isClientToolKind(tool.type)) return false;
  const environment = "environment" in tool ? tool.environment : null;
  // In any other environment the provider runs the commands.
  return isAbsent(environment) || (isObject(environment) && environment.type === "local");
}

/** True for a kind of tool that the caller runs, and that only servers of the same form serve. */
export function isOfOwnModels({ type }: { readonly type: string }): boolean {
  return OWN_MODELS_KINDS.has(type);
}

/** A tool as the function that stands for it. */
export function clientFunction(tool: LocalTool): Json {
  const { description, properties, required } = CLIENT_TOOLS[tool.type];
  const parameters = { type: "object", properties, required, additionalProperties: false };
  const called = { name: tool.type, description: description + skillsOf(tool), parameters };
  return { type: "function", function: called };
}

function skillsOf({ environment }: LocalTool): string {
  const skills = environment?.skills ?? [];
  if (skills.length === 0) return "";
  const lines = skills.map(({ name, path, description }) => {
    return `- ${name ?? ""} (${path ?? ""}): ${description ?? ""}`;
  });
  return `\nThere are instructions for these tasks in files:\n${lines.join("\n")}`;
}

/** The field of a call's item by the arguments of the function, as a model wrote them. */
export function clientField(kind: ClientToolKind, args: string): Json {
  const { field, fieldOf } = CLIENT_TOOLS[kind];
  const read = jsonOrNull(args);
  return { [field]: fieldOf(isObject(read) ? read : {}) };
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function countOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}

type FunctionCall = ItemOf<"function_call">;
type FunctionOutput = ItemOf<"function_call_output">;

/** The item of a tool that the caller ran, as that of a function; null for any other item. */
export function clientCallAsFunction(item: ItemFields): FunctionCall | FunctionOutput | null {
  switch (item.type) {
    case "shell_call":
      return functionCall("shell", item.call_id, item.action);
    case "local_shell_call": {
      const { type: _, ...action } = item.action;
      return functionCall("local_shell", item.call_id, action);
    }
    case "apply_patch_call":
      return functionCall("apply_patch", item.call_id, item.operation);
    case "computer_call":
      return functionCall("computer", item.call_id, { actions: item.actions ?? [item.action] });
    case "shell_call_output":
      return functionOutput(item.call_id, JSON.stringify(item.output));
    case "local_shell_call_output":
      return functionOutput(item.call_id ?? item.id ?? "", item.output);
    case "apply_patch_call_output":
      return functionOutput(item.call_id, `${item.status}\n${item.output ?? ""}`.trim());
    case "computer_call_output": {
      const { image_url } = item.output;
      return functionOutput(item.call_id, [{ type: "input_image", image_url }]);
    }
    default:
      return null;
  }
}

/** The item of a call of a function. Fields without a value say nothing to a model. */
export function functionCall(name: string, call_id: string, args: object): FunctionCall {
  const set = Object.entries(args).filter(([, value]) => !isAbsent(value));
  const text = JSON.stringify(Object.fromEntries(set));
  return { type: "function_call", call_id, name, arguments: text };
}

/** The item of the output of a function. */
export function functionOutput(call_id: string, output: FunctionOutput["output"]): FunctionOutput {
  return { type: "function_call_output", call_id, output };
}
