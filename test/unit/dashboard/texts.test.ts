// The type of the English texts asks each language for every text. A rule that a type cannot state
// is tested here: that a text is not empty, not left in English, and has all its values.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { texts as german } from "../../../dashboard/src/texts/de/german.ts";
import { operatorTexts as germanOperator } from "../../../dashboard/src/texts/de/operator.ts";
import { texts as english } from "../../../dashboard/src/texts/en/english.ts";
import { operatorTexts as englishOperator } from "../../../dashboard/src/texts/en/operator.ts";
import { texts as chinese } from "../../../dashboard/src/texts/zh-hans/chinese.ts";
import { operatorTexts as chineseOperator } from "../../../dashboard/src/texts/zh-hans/operator.ts";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { ACCOUNT_ACTIONS } from "../../../src/operator/account-actions.ts";
import { filledTextsIn, textsIn } from "../../support/texts-in.ts";

const SOURCE = join(PROJECT, "dashboard/src");

/** Texts that are the same in all languages: names, examples, and words that were taken over. */
const SHARED = new RegExp(
  "^(?:Gateway|Application API|Enterprise|SSO|Playground|Webhooks?|Team|Limits|Budgets?|Tags?|" +
    "Status|Tokens?|Streams|Bonus|Name|Text|Code|Passkeys|Route|Person|p95|curl|JavaScript|" +
    "Python|Version|Layouts|Server|Host|Journal|MODEL|\\.env|production|https:.*)?$",
);

/** Words of a language with a separator between them, which each language writes in its own way. */
const JOINED = /aria-label[^\n]*`[^`\n]*\}[:,;] \$\{|\)\s*\.join\("[,;] "\)/;

test("the separators between words are texts, and stand in no page", () => {
  const pages = [...new Bun.Glob("**/*.tsx").scanSync(SOURCE)];
  expect(pages.length).toBeGreaterThan(50);
  const joined = pages.filter((file) => JOINED.test(readFileSync(join(SOURCE, file), "utf8")));
  expect(joined).toEqual([]);
});

const pattern = { ...english, operator: englishOperator };
const inEnglish = new Map(textsIn(pattern));

describe.each([
  ["German", { ...german, operator: germanOperator }],
  ["Chinese", { ...chinese, operator: chineseOperator }],
] as const)("in %s", (language, texts) => {
  const translated = [...textsIn(texts)];

  test("each text says something where the English one does", () => {
    const empty = translated.filter(([path, text]) => text === "" && inEnglish.get(path) !== "");
    // Chinese says "held" before the amount, not after it.
    const known = language === "Chinese" ? ["t.usage.ticket.held"] : [];
    expect(empty.map(([path]) => path)).toEqual(known);
  });

  test("no text is left in English", () => {
    const same = translated.filter(([path, text]) => inEnglish.get(path) === text);
    expect(same.filter(([, text]) => !SHARED.test(text))).toEqual([]);
  });

  test("a person is called by the polite form", () => {
    const familiar = language === "German" ? /\b(?:du|dein\w*|dich|dir)\b/i : /\u4f60/;
    expect(translated.filter(([, text]) => familiar.test(text))).toEqual([]);
  });

  test("no text begins or ends with a space, or has two", () => {
    expect(translated.filter(([, text]) => /^\s|\s$|\s\s/.test(text))).toEqual([]);
  });

  test("operators read a refusal with the words of the server, customers without them", () => {
    const [sentence, quoted] = [false, true].map((isQuoted) =>
      texts.refusals.message("not_found", "There is no mail 7", isQuoted),
    );
    expect(sentence).not.toContain("mail 7");
    expect(quoted).toBe(`${sentence} (There is no mail 7)`);
  });

  test("each text of operators has the values that the English one has", () => {
    const valuesIn = (catalogue: object) =>
      [...filledTextsIn(catalogue)].map(([path, text]) => [path, text.match(/<\d>/g)?.toSorted()]);
    expect(valuesIn(texts.operator)).toEqual(valuesIn(englishOperator));
    expect(valuesIn(englishOperator).length).toBeGreaterThan(10);
  });
});

test("each change of an account has its words in the trail", () => {
  const names = ACCOUNT_ACTIONS.map(({ path }) => path.split("/").at(-1)?.replaceAll("-", "_"));
  expect(names).toContain("grant_free");
  const known = Object.keys(englishOperator.deeds);
  expect(names.filter((name) => !known.includes(name ?? ""))).toEqual([]);
});
