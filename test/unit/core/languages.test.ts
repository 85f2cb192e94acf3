import { describe, expect, test } from "bun:test";
import {
  ALL_LANGUAGES,
  languageCookie,
  languageOf,
  preferredLanguage,
} from "../../../src/core/languages.ts";

describe("the language that a browser prefers", () => {
  test.each([
    ["", "en"],
    ["*", "en"],
    ["fr-FR, fr;q=0.9", "en"],
    ["de", "de"],
    ["DE-ch", "de"],
    ["en;q=0.5, de;q=0.8", "de"],
    ["de;q=0, en", "en"],
    ["zh", "zh-Hans"],
    ["zh-CN", "zh-Hans"],
    ["zh-SG", "zh-Hans"],
    ["zh-Hans-HK", "zh-Hans"],
    // Readers of Traditional Chinese name the other languages that they read.
    ["zh-TW", "en"],
    ["zh-Hant, de;q=0.5", "de"],
    ["zh-TW, zh;q=0.9, en;q=0.8", "zh-Hans"],
    ["de;q=abc, en;q=0.1", "en"],
    ["deutsch", "en"],
    ["__proto__, constructor", "en"],
  ] as const)("of %s is %s", (accepts, language) => {
    expect(preferredLanguage(accepts, ALL_LANGUAGES)).toBe(language);
  });

  test("is one that is offered, or the first of those", () => {
    expect(preferredLanguage("en, zh;q=0.5", ["de", "zh-Hans"])).toBe("zh-Hans");
    expect(preferredLanguage("en", ["de", "zh-Hans"])).toBe("de");
  });
});

test("a chosen language comes before the preferred one, as long as it is offered", () => {
  const [cookie = ""] = languageCookie("zh-Hans").split(";");
  const headers = new Headers({ cookie: `a=b; ${cookie}; c=d`, "accept-language": "en" });
  expect(languageOf(headers, ALL_LANGUAGES)).toBe("zh-Hans");
  expect(languageOf(headers, ["de", "en"])).toBe("en");
});
