// Finds texts that a page of another language shows in English.

import { texts } from "../../../dashboard/src/texts/en/english.ts";
import { operatorTexts } from "../../../dashboard/src/texts/en/operator.ts";
import { textsIn } from "../texts-in.ts";
import type { Visitor } from "./browser.ts";

/** English sentences of the pages: whole enough to stand in no text of another language. */
const SENTENCES = [...textsIn({ texts, operatorTexts })]
  .map(([, text]) => text)
  .filter((text) => text.length > 11 && text.includes(" "));

/**
 * What people read on a page, and what screen readers say of its parts. Parts that say that they
 * are in English, such as records of the server, are left out.
 */
const SHOWN = `[
  [...document.querySelectorAll("body [lang=en]")].reduce(
    (text, part) => text.replace(part.innerText, ""), document.body.innerText),
  ...[...document.querySelectorAll("[aria-label]")].map((one) => one.getAttribute("aria-label")),
  ...[...document.querySelectorAll("[placeholder]")].map((one) => one.placeholder),
].join("\\n")`;

/** Inspects a page, and complains about sentences of it that are in English. */
export async function inspectIn(own: object, one: Visitor, name: string): Promise<void> {
  await one.inspect(name);
  const shown = String(await one.page.evaluate(SHOWN));
  const known = new Set([...textsIn(own)].map(([, text]) => text));
  const left = SENTENCES.filter((text) => shown.includes(text) && !known.has(text));
  if (left.length > 0) one.complaints.push(`${name} has in English: ${left.join(" | ")}`);
}
