// Texts of the HTML page itself, which the build writes into the page of each language.

import type { Language } from "../../../src/core/languages.ts";

interface PageTexts {
  readonly needsScript: string;
  readonly cannotLoad: string;
}

export const PAGE_TEXTS: Readonly<Record<Language, PageTexts>> = {
  en: {
    needsScript: "This page needs JavaScript.",
    cannotLoad: "This page cannot be loaded now. Try it again later.",
  },
  de: {
    needsScript: "Diese Seite benötigt JavaScript.",
    cannotLoad: "Diese Seite kann gerade nicht geladen werden. Versuchen Sie es später erneut.",
  },
  "zh-Hans": {
    needsScript: "此页面需要启用 JavaScript。",
    cannotLoad: "页面暂时无法加载，请稍后再试。",
  },
};
