// The languages of the pages, and the choice of another one.

import {
  LANGUAGE_FIELD,
  type Language,
  languageCookie,
  type OfferedLanguages,
} from "../../src/core/languages.ts";
import { BRAND } from "./brand.ts";
import { language } from "./locale.ts";

/** The languages that somebody can choose here. */
export const OFFERED: OfferedLanguages = BRAND.languages;

/**
 * Keeps the choice of a language in this browser, and reloads the page in it. Returns false if the
 * page is in that language already, or if this browser keeps no choice, so that a reload would
 * change nothing.
 */
export function showIn(chosen: Language): boolean {
  if (chosen === language) return false;
  const cookie = languageCookie(chosen);
  // biome-ignore lint/suspicious/noDocumentCookie: the server reads the choice with the next page
  document.cookie = cookie;
  const [kept = ""] = cookie.split(";", 1);
  if (!document.cookie.split("; ").includes(kept)) return false;
  // An address that names a language would choose it again. The router follows changes of the
  // history, so the address is changed by loading the page.
  const address = new URL(window.location.href);
  const isNamed = address.searchParams.has(LANGUAGE_FIELD);
  address.searchParams.delete(LANGUAGE_FIELD);
  if (isNamed) window.location.replace(address);
  else window.location.reload();
  return true;
}

/**
 * Shows the page in the language that a person chose elsewhere. If the page reloads for that, this
 * function never returns, so that nothing is drawn before.
 */
export async function followPerson(chosen: Language | null): Promise<void> {
  if (chosen !== null && showIn(chosen)) await new Promise(() => {});
}
