// The type of the English texts asks each language for every text. A rule that a type cannot state
// is tested here: that a text is not empty, and not left in English.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { texts as german } from "../../../dashboard/src/texts/de/german.ts";
import { texts as english } from "../../../dashboard/src/texts/en/english.ts";
import { texts as chinese } from "../../../dashboard/src/texts/zh-hans/chinese.ts";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { textsIn } from "../../support/texts-in.ts";

const SOURCE = join(PROJECT, "dashboard/src");

/** Texts that are the same in all languages: names, examples, and words that were taken over. */
const SHARED = new RegExp(
  "^(?:Gateway|Application API|SSO|Playground|Webhooks?|Team|Limits|Budgets?|Tags?|Status|" +
    "Tokens?|Streams|Bonus|Name|Text|Code|Passkeys|Route|Person|p95|curl|JavaScript|Python|" +
    "MODEL|\\.env|production|https:.*)?$",
);

/** Words of a language with a separator between them, which each language writes in its own way. */
const JOINED = /aria-label[^\n]*`[^`\n]*\}[:,;] \$\{|\)\s*\.join\("[,;] "\)/;

test("the separators between words are texts, and stand in no page of customers", () => {
  const pages = [...new Bun.Glob("**/*.tsx").scanSync(SOURCE)];
  expect(pages.length).toBeGreaterThan(50);
  // The console of operators has words of its own.
  const own = pages.filter((file) => !file.startsWith("operator/"));
  const joined = own.filter((file) => JOINED.test(readFileSync(join(SOURCE, file), "utf8")));
  expect(joined).toEqual([]);
});

const inEnglish = new Map(textsIn(english));

describe.each([
  ["German", german],
  ["Chinese", chinese],
] as const)("in %s", (_, texts) => {
  const translated = [...textsIn(texts)];

  test("each text says something where the English one does", () => {
    const empty = translated.filter(([path, text]) => text === "" && inEnglish.get(path) !== "");
    // Chinese says "held" before the amount, not after it.
    expect(empty.map(([path]) => path)).toEqual(texts === chinese ? ["t.usage.ticket.held"] : []);
  });

  test("no text is left in English", () => {
    const same = translated.filter(([path, text]) => inEnglish.get(path) === text);
    expect(same.filter(([, text]) => !SHARED.test(text))).toEqual([]);
  });

  test("a person is called by the polite form", () => {
    const familiar = texts === german ? /\b(?:du|dein\w*|dich|dir)\b/i : /\u4f60/;
    expect(translated.filter(([, text]) => familiar.test(text))).toEqual([]);
  });
});
