// Calls that another provider ran are only history here: no server here ran them, so none can
// continue them. Every server gets each call as a function call with its output (D-802).

import { isAbsent } from "../../../../http/body/checks.ts";
import { unfinishedCall } from "../unfinished-call.ts";
import { ProviderCallItem } from "./call-items.ts";
import { functionCall, functionOutput } from "./client-tools.ts";
import type { ItemFields, ItemOf } from "./responses-body.ts";
import type { PlacedItem } from "./responses-prompt.ts";
import { flatName } from "./served-tools.ts";

/** The items, with a function's call and output in the place of each call of a provider. */
export function shownProviderCalls(items: readonly PlacedItem[]): readonly PlacedItem[] {
  if (!items.some(({ item }) => KINDS.has(item.type) || hasCaller(item))) return items;
  const ends = endsIn(items);
  return items.flatMap(({ item, param }, index) => {
    const shown = isSilent(item) ? [] : shownItems(withoutCaller(item), { ends, param, index });
    return shown.map((one) => ({ item: one, param }));
  });
}

/** The names of items that are left out because they tell a model nothing, for `svc.ignored`. */
export function silentCalls(items: readonly PlacedItem[]): readonly string[] {
  const silent = items.filter(({ item }) => isSilent(item)).map(({ item }) => item.type);
  return [...new Set(silent)].map((type) => `input: ${type}`);
}

const KINDS: ReadonlySet<unknown> = new Set(
  ProviderCallItem.anyOf.map(({ properties }) => properties.type.const),
);

function isSilent(item: ItemFields): boolean {
  switch (item.type) {
    case "mcp_list_tools":
    case "tool_search_call":
      return true;
    case "code_interpreter_call":
      return isAbsent(item.outputs);
    case "file_search_call":
      return isAbsent(item.results);
    default:
      return false;
  }
}

/** The ends of calls that have their end in another item. */
interface Ends {
  /** The decisions of the user by the ids of the requests for them; null if there is none. */
  readonly approved: ReadonlyMap<string, boolean | null>;
  /** The ids of the requests whose tool has run. */
  readonly run: ReadonlySet<string>;
  readonly programs: ReadonlySet<string>;
  readonly programOutputs: ReadonlySet<string>;
}

function endsIn(items: readonly PlacedItem[]): Ends {
  const approved = new Map<string, boolean | null>();
  const run = new Set<string>();
  const programs = new Set<string>();
  const programOutputs = new Set<string>();
  for (const { item } of items) {
    if (item.type === "mcp_approval_request") approved.set(item.id, null);
    else if (item.type === "mcp_call") run.add(item.approval_request_id ?? "");
    else if (item.type === "program") programs.add(item.call_id);
    else if (item.type === "program_output") programOutputs.add(item.call_id);
    else if (item.type === "mcp_approval_response" && approved.has(item.approval_request_id)) {
      approved.set(item.approval_request_id, item.approve);
    }
  }
  return { approved, run, programs, programOutputs };
}

interface Place {
  readonly ends: Ends;
  readonly param: string;
  readonly index: number;
}

/** The items that replace an item. Throws for a call that has no end. */
function shownItems(item: ItemFields, place: Place): readonly ItemFields[] {
  const { ends, param, index } = place;
  const id = `${item.type}_${index}`;
  switch (item.type) {
    case "mcp_call":
      return [mcpCall(item, id), functionOutput(id, item.output ?? wordsOf(item.error))];
    case "code_interpreter_call": {
      const call = functionCall("code_interpreter", id, { code: item.code });
      return [call, functionOutput(id, JSON.stringify(item.outputs))];
    }
    case "file_search_call": {
      const call = functionCall("file_search", id, { queries: item.queries });
      return [call, functionOutput(id, JSON.stringify(item.results))];
    }
    case "mcp_approval_request":
      // An approved call has an item of its own, and a request without a decision is left out.
      return ends.approved.get(item.id) === false ? [mcpCall(item, item.id)] : [];
    case "mcp_approval_response":
      return shownAnswer(item, place);
    case "program":
      if (!ends.programOutputs.has(item.call_id)) throw unfinishedCall(item.type, param);
      return [functionCall("program", item.call_id, { code: item.code })];
    case "program_output":
      if (!ends.programs.has(item.call_id)) throw unfinishedCall(item.type, param);
      return [functionOutput(item.call_id, item.result)];
    case "tool_search_output":
      return [{ type: "additional_tools", role: "developer", tools: item.tools }];
    default:
      return [item];
  }
}

function mcpCall(
  { name, server_label, arguments: args }: ItemOf<"mcp_call" | "mcp_approval_request">,
  id: string,
): ItemFields {
  return { ...functionCall(flatName(name, server_label), id, {}), arguments: args };
}

function shownAnswer(
  { type, approval_request_id: id, approve, reason }: ItemOf<"mcp_approval_response">,
  { ends, param }: Place,
): readonly ItemFields[] {
  if (approve && ends.run.has(id)) return [];
  if (approve || !ends.approved.has(id)) throw unfinishedCall(type, param);
  return [functionOutput(id, `The user did not approve the call. ${reason ?? ""}`.trim())];
}

function wordsOf(error: ItemOf<"mcp_call">["error"]): string {
  if (isAbsent(error)) return "";
  return typeof error === "string" ? error : JSON.stringify(error);
}

/** True for an item that names its caller: no server here can return to a provider's program. */
function hasCaller(item: ItemFields): boolean {
  return "caller" in item && !isAbsent(item.caller);
}

function withoutCaller(item: ItemFields): ItemFields {
  if (!("caller" in item)) return item;
  const { caller: _, ...others } = item;
  return others as ItemFields;
}
