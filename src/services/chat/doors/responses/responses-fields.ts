// The fate of each top-level field of a Responses body that is passed through to a server of the
// same form: forwarded, set, echoed to the caller alone, or refused.

import type { Json } from "../../../../core/text/json.ts";
import { isAbsent } from "../../../../http/body/checks.ts";
import { isSealed } from "../sealed-extra.ts";
import type { ItemFields, ResponsesFields } from "./responses-body.ts";
import type { PlacedItem } from "./responses-prompt.ts";
import { ownChoice, withoutHosted } from "./served-tools.ts";

/**
 * `set`: the protocol sends its own value (responses-form.ts), or `forwardedBody` does. `refuse`:
 * the schema allows no value with an effect.
 */
const FIELDS = {
  model: "set",
  max_output_tokens: "set",
  stream: "set",
  store: "set",
  service_tier: "set",
  user: "set",
  safety_identifier: "set",
  prompt_cache_key: "set",
  input: "set",
  tools: "set",
  tool_choice: "set",
  include: "set",
  instructions: "forward",
  parallel_tool_calls: "forward",
  text: "forward",
  reasoning: "forward",
  temperature: "forward",
  top_p: "forward",
  top_logprobs: "forward",
  truncation: "forward",
  stream_options: "forward",
  metadata: "echo",
  max_tool_calls: "echo",
  background: "refuse",
  previous_response_id: "refuse",
  conversation: "refuse",
  prompt: "refuse",
} as const satisfies Record<keyof ResponsesFields, "forward" | "set" | "echo" | "refuse">;

const FORWARDED = Object.entries(FIELDS).flatMap(([name, fate]) =>
  fate === "forward" ? [name as keyof ResponsesFields] : [],
);

/** The includes that are served here. */
export const INCLUDES: ReadonlySet<string> = new Set([
  "message.output_text.logprobs",
  "reasoning.encrypted_content",
]);

/** The body for a server of the same form, with the items that were referred to. */
export function forwardedBody(fields: ResponsesFields, items: readonly PlacedItem[]): Json {
  const body: Record<string, unknown> = {};
  for (const name of FORWARDED) if (!isAbsent(fields[name])) body[name] = fields[name];
  const { input, tools, tool_choice: choice, include } = fields;
  body.input = typeof input === "string" ? input : items.flatMap(({ item }) => forwarded(item));
  const served = withoutHosted(tools ?? []);
  if (served.length > 0) body.tools = served;
  if (!isAbsent(choice) && (served.length > 0 || hasTools(items)))
    body.tool_choice = ownChoice(choice);
  const included = (include ?? []).filter((name) => INCLUDES.has(name));
  if (included.length > 0) body.include = included;
  return body;
}

/** The name of thoughts that no model reads, for `svc.ignored`. */
export const THOUGHT = "input: reasoning";

/** The names of items that a server of the same form does not get, for `svc.ignored`. */
export function unsentItems(items: readonly PlacedItem[]): readonly string[] {
  return items.some(({ item }) => isUnreadable(item) && hasThought(item)) ? [THOUGHT] : [];
}

/** The names of includes that nothing serves here. */
export function unservedIncludes({ include }: ResponsesFields): readonly string[] {
  return (include ?? []).filter((name) => !INCLUDES.has(name));
}

function hasTools(items: readonly PlacedItem[]): boolean {
  return items.some(
    ({ item }) => item.type === "additional_tools" && withoutHosted(item.tools).length > 0,
  );
}

/** The longest id that servers take. */
const ID_LENGTH_MAX = 64;

/** The item as its server can read it: nothing of it is kept there. */
function forwarded(item: ItemFields): readonly ItemFields[] {
  if (isUnreadable(item) || isEmptyImage(item)) return [];
  if (item.type === "additional_tools") return [{ ...item, tools: [...withoutHosted(item.tools)] }];
  return [withoutLongId(item)];
}

/**
 * True for a thought that no server of this form can read: one without its data exists only where
 * the thought was stored, and data that we sealed belong to a server of another form.
 */
function isUnreadable(item: ItemFields): boolean {
  return item.type === "reasoning" && (!item.encrypted_content || isSealed(item.encrypted_content));
}

/** False for the index at the end of a stream, which says nothing to a model (D-686). */
function hasThought(item: ItemFields): boolean {
  if (item.type !== "reasoning") return false;
  const { id, summary, content, encrypted_content: data } = item;
  return !isAbsent(id) || !!data || !!summary?.length || !!content?.length;
}

/** True for an image of an earlier reply without its content. */
export function isEmptyImage(item: ItemFields): boolean {
  return item.type === "image_generation_call" && isAbsent(item.result);
}

function withoutLongId(item: ItemFields): ItemFields {
  const { id, ...others } = item;
  return isAbsent(id) || id.length <= ID_LENGTH_MAX ? item : (others as ItemFields);
}
