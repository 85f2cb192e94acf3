// The round trip of a model's thoughts: a provider signs or seals them, and wants them back with
// the result of a tool. Thoughts travel in `extra_content` of the tool call (D-677).

import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { isObject, type Json } from "../../../../core/text/json.ts";
import type { ToolCall } from "../provider.ts";
import type { SdkForm } from "./sdk-form.ts";

type MetadataForm = Pick<SdkForm, "extraName" | "metadata" | "optionsName">;
type AssistantPart = Extract<
  LanguageModelV4Prompt[number],
  { role: "assistant" }
>["content"][number];
/** A thought of an earlier turn, as the packages take it. */
export type ReasoningPart = Extract<AssistantPart, { type: "reasoning" }>;

/** A thought of this reply. `text` is empty if callers do not get the text of thoughts. */
export interface Thought {
  text: string;
  metadata: unknown;
}

const THOUGHTS_MAX = 64;

/** The thoughts that led to a tool call, which the caller sent back with it. */
export function thoughtsBefore(call: ToolCall, form: MetadataForm): ReasoningPart[] {
  const extra = (call.hidden_extra ?? call.extra_content)?.[form.extraName];
  const thoughts = isObject(extra) && Array.isArray(extra.thoughts) ? extra.thoughts : [];
  return thoughts.slice(0, THOUGHTS_MAX).flatMap((thought: unknown): ReasoningPart[] => {
    const metadata = ownMetadata(thought, form);
    if (!isObject(thought) || metadata === null) return [];
    const text = typeof thought.text === "string" ? thought.text : "";
    return [{ type: "reasoning", text, providerOptions: metadata }];
  });
}

/**
 * The package's options in the data of a caller: only the known fields, and of these only texts. A
 * caller must not set other options, some of which cost more.
 */
export function ownMetadata(
  extra: unknown,
  { metadata, optionsName }: MetadataForm,
): { [name: string]: Record<string, string> } | null {
  if (!isObject(extra)) return null;
  const own: Record<string, string> = {};
  for (const [theirs, ours] of Object.entries(metadata)) {
    const value = extra[ours];
    if (typeof value === "string") own[theirs] = value;
  }
  return Object.keys(own).length === 0 ? null : { [optionsName]: own };
}

/** The data that a caller must send back with a tool call; null if there is none. */
export function extraOf(
  callMetadata: unknown,
  thoughts: readonly Thought[],
  form: MetadataForm,
): Json | null {
  const own = readable(callMetadata, form);
  const kept = thoughts.flatMap(({ text, metadata }) => {
    const signed = readable(metadata, form);
    return signed === null ? [] : [{ ...(text !== "" && { text }), ...signed }];
  });
  if (own === null && kept.length === 0) return null;
  return { [form.extraName]: { ...own, ...(kept.length > 0 && { thoughts: kept }) } };
}

/** The known fields of a package's metadata, by our names. */
function readable(given: unknown, { metadata, optionsName }: MetadataForm): Json | null {
  const own = isObject(given) ? given[optionsName] : null;
  if (!isObject(own)) return null;
  const fields = Object.entries(metadata).flatMap(([theirs, ours]) =>
    typeof own[theirs] === "string" ? [[ours, own[theirs]] as const] : [],
  );
  return fields.length === 0 ? null : Object.fromEntries(fields);
}
