// Reads the texts of a message or delta, which servers send under several names and in parts.

import { isObject, type Json, textOrEmpty } from "../../../../core/text/json.ts";
import { type GivenImage, givenImageAt } from "../../media/model-images.ts";
import { textOfJson } from "./tool-calls.ts";

const SHOWN_PARTS: ReadonlySet<unknown> = new Set(["text", "output_text", "refusal"]);

/**
 * The text of a message or delta; null if there is none. Parts of other types are reasoning, and
 * are skipped. In JSON mode some servers send an object in place of the text.
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
  return textOrEmpty(refusal) + parts || null;
}

/** The images of a message or delta; null if it has none that are whole. */
export function readImages({ images }: Json): readonly GivenImage[] | null {
  if (!Array.isArray(images)) return null;
  const given = images
    .map((image) => (isObject(image) && isObject(image.image_url) ? image.image_url.url : null))
    .filter((url): url is string => givenImageAt(url) !== null)
    .map((url) => ({ type: "image_url", image_url: { url } }) as const);
  return given.length === 0 ? null : given;
}

/** The reasoning of a message or delta, under any of the names that servers use. */
export function readReasoning(from: Json): string {
  const { reasoning_content, reasoning, thinking, content, reasoning_details: details } = from;
  const text = textOrEmpty(reasoning_content) || textOrEmpty(reasoning) || textOrEmpty(thinking);
  if (text !== "") return text;
  if (Array.isArray(content)) return joined(content, (part) => (isShown(part) ? "" : textIn(part)));
  return Array.isArray(details) ? joined(details, (part) => part.text ?? part.summary) : "";
}

/** True if a message or delta has reasoning, readable or not. */
export function hasReasoning(from: Json): boolean {
  const { content, reasoning_details: details } = from;
  if (readReasoning(from) !== "" || (Array.isArray(details) && details.length > 0)) return true;
  return Array.isArray(content) && !content.every(isShown);
}

/** The text of a part of reasoning; the text may be in parts again. */
function textIn({ thinking, reasoning, text }: Json): string {
  const value = thinking ?? reasoning ?? text;
  return Array.isArray(value) ? joined(value, (part) => part.text) : textOrEmpty(value);
}

function isShown(part: unknown): boolean {
  return typeof part === "string" || (isObject(part) && SHOWN_PARTS.has(part.type));
}

function isText({ type }: Json): boolean {
  return type === "text" || type === "output_text";
}

/** The texts of all parts in a row. A part that is a string is text. */
function joined(parts: readonly unknown[], textOf: (part: Json) => unknown): string {
  let text = "";
  for (const part of parts) {
    text += textOrEmpty(textOf(isObject(part) ? part : { type: "text", text: part }));
  }
  return text;
}
