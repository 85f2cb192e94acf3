// The language of the page, by which numbers, dates and amounts are written. The language is set
// with the texts, before anything is drawn.

import { LANGUAGES, type Language } from "../../src/core/languages.ts";

/** The language of the page. */
export let language: Language = "en";

/** The locale of the language of the page (BCP 47). */
export let locale: string = LANGUAGES.en.locale;

/** Writes in this language from now on. */
export function setLanguage(next: Language): void {
  language = next;
  locale = LANGUAGES[next].locale;
}
