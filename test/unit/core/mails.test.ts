// The type of the English texts asks each language for every text of a mail. Rules that a type
// cannot state are tested here: that none is empty or left in English, and that amounts keep their
// digits.

import { describe, expect, test } from "bun:test";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { chineseMails } from "../../../src/core/mails/chinese.ts";
import { englishMails } from "../../../src/core/mails/english.ts";
import { germanMails } from "../../../src/core/mails/german.ts";
import { mailOfReader } from "../../../src/core/mails/mail-texts.ts";
import { usd } from "../../../src/core/money/money.ts";
import { textsIn } from "../../support/texts-in.ts";

const SHARED = /^(?:Code|Bonus|Webhook| |)$/;
const inEnglish = new Map(textsIn(englishMails));
const AT = new Date("2026-11-21T14:30:00Z");

describe.each([
  ["de", germanMails, "1.234,000000001\u00a0$", "21.11.2026, 14:30 UTC"],
  ["zh-Hans", chineseMails, "$1,234.000000001", "2026年11月21日 14:30 UTC"],
] as const)("a mail in %s", (language, texts, amount, time) => {
  test("has every text, and none in English", () => {
    const same = [...textsIn(texts)].filter(([path, text]) => inEnglish.get(path) === text);
    expect(same.filter(([, text]) => !SHARED.test(text))).toEqual([]);
    const empty = [...textsIn(texts)].filter(([, text]) => text === "");
    expect(empty.map(([path]) => path)).toEqual(language === "de" ? [] : ["t.gap"]);
  });

  test("writes amounts with all their digits, and times in UTC", () => {
    expect(texts.usd(usd("1234.000000001"))).toBe(amount);
    expect(texts.time(AT)).toBe(time);
  });

  test("goes to whoever reads it, with its language in the page", () => {
    const content = ({ receipt, usd: written }: typeof englishMails) => ({
      subject: receipt.subject(written(usd("25"))),
      paragraphs: [receipt.paragraph(written(usd("25")))],
    });
    const write = mailOfReader({ ...DEFAULT_BRAND, supportEmail: "help@acme.example" }, content);
    const mail = write(language);
    expect(mail.subject).toBe(texts.receipt.subject(texts.usd(usd("25"))));
    expect(mail.html).toContain(`<html lang="${language}">`);
    expect(mail.text).toContain(texts.reader.why(DEFAULT_BRAND.name));
    expect(mail.text).toContain(texts.reader.questions("help@acme.example"));
    // A language that the brand no longer offers, or never had, is its first one.
    const other = mailOfReader({ ...DEFAULT_BRAND, languages: ["en"] }, content);
    for (const stored of [language, "klingon", null]) {
      expect(other(stored).html).toContain('<html lang="en">');
    }
  });
});

test("a reader without a language of their own gets that of the request", () => {
  const content = () => ({ subject: "Hi", paragraphs: [] });
  const write = mailOfReader(DEFAULT_BRAND, content, "de");
  expect(write(null).html).toContain('<html lang="de">');
  expect(write("zh-Hans").html).toContain('<html lang="zh-Hans">');
});
