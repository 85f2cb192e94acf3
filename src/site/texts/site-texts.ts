// The texts of the front page by language.

import type { Language } from "../../core/languages.ts";
import { chineseSite } from "./chinese.ts";
import { englishSite, type SiteTexts } from "./english.ts";
import { germanSite } from "./german.ts";

export const SITE_TEXTS: Readonly<Record<Language, SiteTexts>> = {
  en: englishSite,
  de: germanSite,
  "zh-Hans": chineseSite,
};
