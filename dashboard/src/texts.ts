// The texts of the pages, in the language of the page: a catalogue for each language, of which a
// page loads one. The English catalogue is the pattern: a text that another lacks is a type error
// (D-816).

import type { Language } from "../../src/core/languages.ts";
import { setLanguage } from "./locale.ts";
import type { Texts } from "./texts/en/english.ts";

export type { Texts } from "./texts/en/english.ts";

/** The texts in use. Other modules of the pages are loaded after they are set. */
export let t: Texts;

const CATALOGUES: Readonly<Record<Language, () => Promise<{ readonly texts: Texts }>>> = {
  en: () => import("./texts/en/english.ts"),
  de: () => import("./texts/de/german.ts"),
  "zh-Hans": () => import("./texts/zh-hans/chinese.ts"),
};

/** Loads the texts of a language, and writes in this language from now on. */
export async function loadTexts(language: Language): Promise<void> {
  t = (await CATALOGUES[language]()).texts;
  setLanguage(language);
}
