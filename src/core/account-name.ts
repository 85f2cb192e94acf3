// The name of a person's first account, until somebody renames it.

import type { Language } from "./languages.ts";

const NAMES: Readonly<Record<Language, (owner: string) => string>> = {
  en: (owner) => `${owner}'s account`,
  de: (owner) => `Konto von ${owner}`,
  "zh-Hans": (owner) => `${owner} 的账户`,
};

/** The name in the language of its owner (D-819). */
export function firstAccountName(owner: string, language: Language): string {
  return NAMES[language](owner);
}
