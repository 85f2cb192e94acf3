// Reads the texts of a message or delta, which servers send under several names and in parts.

import { isObject, type Json } from "../../../../upstream/upstream-http.ts";
import { textOfJson } from "./tool-calls.ts";

const SHOWN_PARTS: ReadonlySet<unknown> = new Set(["text", "output_text", "refusal"]);

/**
 * The text of a message or delta; null if it has none. Parts of other types are skipped: they are
 * reasoning. In JSON mode some servers send the object itself.
 */
export function readContent({ content }: Json): string | null {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return joined(content, (part) => (isText(part) ? part.text : ""));
  if (!isObject(content)) return null;
  return typeof content.text === "string" ? content.text : textOfJson(content);
}

/** The text with which the model refuses to answer, or null. */
export function readRefusal({ content, refusal }: Json): string | null {
  const parts = Array.isArray(content) ? joined(content, (part) => part.refusal) : "";
  return textOr(refusal) + parts || null;
}

/** The reasoning of a message or delta, by any of the names that servers use. */
export function readReasoning(from: Json): string {
  const { reasoning_content, reasoning, thinking, content, reasoning_details: details } = from;
  const told = textOr(reasoning_content) || textOr(reasoning) || textOr(thinking);
  if (told !== "") return told;
  if (Array.isArray(content)) return joined(content, (part) => (isShown(part) ? "" : textIn(part)));
  return Array.isArray(details) ? joined(details, (part) => part.text ?? part.summary) : "";
}

/** True if a message or delta has reasoning, readable or not. */
export function hasReasoning(from: Json): boolean {
  const { content, reasoning_details: details } = from;
  if (readReasoning(from) !== "" || (Array.isArray(details) && details.length > 0)) return true;
  return Array.isArray(content) && !content.every(isShown);
}

/** The text of a part of reasoning, which may itself be in parts. */
function textIn({ thinking, reasoning, text }: Json): string {
  const told = thinking ?? reasoning ?? text;
  return Array.isArray(told) ? joined(told, (part) => part.text) : textOr(told);
}

function isShown(part: unknown): boolean {
  return typeof part === "string" || (isObject(part) && SHOWN_PARTS.has(part.type));
}

function isText({ type }: Json): boolean {
  return type === "text" || type === "output_text";
}

/** A part that is a string is text. */
function joined(parts: readonly unknown[], textOf: (part: Json) => unknown): string {
  let text = "";
  for (const part of parts) {
    text += textOr(textOf(isObject(part) ? part : { type: "text", text: part }));
  }
  return text;
}

function textOr(value: unknown): string {
  return typeof value === "string" ? value : "";
}
