// The texts of the sandbox's pages by language.

import type { Language } from "../../../core/languages.ts";
import { chineseSandbox } from "./chinese.ts";
import { englishSandbox, type SandboxTexts } from "./english.ts";
import { germanSandbox } from "./german.ts";

export const SANDBOX_TEXTS: Readonly<Record<Language, SandboxTexts>> = {
  en: englishSandbox,
  de: germanSandbox,
  "zh-Hans": chineseSandbox,
};
