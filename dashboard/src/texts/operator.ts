// The texts of the operators' console, in the language of the page. Only the pages of operators
// load them (D-878). The English catalogue is the pattern, as it is for the texts of customers.

import type { Language } from "../../../src/core/languages.ts";
import { language } from "../locale.ts";
import type { OperatorTexts } from "./en/operator.ts";

export type { OperatorTexts } from "./en/operator.ts";

/** The texts in use. The other modules of the console are loaded after they are set. */
export let ot: OperatorTexts;

const CATALOGUES: Readonly<
  Record<Language, () => Promise<{ readonly operatorTexts: OperatorTexts }>>
> = {
  en: () => import("./en/operator.ts"),
  de: () => import("./de/operator.ts"),
  "zh-Hans": () => import("./zh-hans/operator.ts"),
};

/** Loads the texts of the console in the language of the page. */
export async function loadOperatorTexts(): Promise<void> {
  ot = (await CATALOGUES[language]()).operatorTexts;
}
