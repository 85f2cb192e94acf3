// The languages in which people read pages and mails, and the choice among them: a person's choice
// in a page before the languages of the browser (D-819).

interface LanguageRow {
  /** The name of the language in the language itself. */
  readonly name: string;
  /** The locale by which numbers, dates and amounts are written. */
  readonly locale: string;
}

/**
 * The languages by their tags (BCP 47). A row needs catalogues of texts, which the compiler asks
 * for.
 */
export const LANGUAGES = {
  en: { name: "English", locale: "en-GB" },
  de: { name: "Deutsch", locale: "de-DE" },
  "zh-Hans": { name: "简体中文", locale: "zh-CN" },
} as const satisfies Readonly<Record<string, LanguageRow>>;

export type Language = keyof typeof LANGUAGES;

/** The languages that an installation offers; the first is for people who ask for none. */
export type OfferedLanguages = readonly [Language, ...Language[]];

export const LANGUAGE_TAGS = Object.keys(LANGUAGES) as readonly Language[];

/** All languages, as an installation that chooses none offers them. */
export const ALL_LANGUAGES: OfferedLanguages = ["en", "de", "zh-Hans"];

/** The cookie with the language chosen in a page; scripts of our pages write it too. */
export const LANGUAGE_COOKIE = "farebox-language";

/** The field of an address that chooses a language. */
export const LANGUAGE_FIELD = "language";

const COOKIE_SECONDS = 365 * 24 * 60 * 60;
/** More preferences than a browser sends are not read. */
const PREFERENCES_MAX = 32;

/** True for the tag of a language that we have. */
export function isLanguage(tag: unknown): tag is Language {
  return typeof tag === "string" && Object.hasOwn(LANGUAGES, tag);
}

/** The value that stores a chosen language, as a script or `Set-Cookie` writes it. */
export function languageCookie(language: Language): string {
  return `${LANGUAGE_COOKIE}=${language}; Path=/; Max-Age=${COOKIE_SECONDS}; SameSite=Lax`;
}

/** The language of the pages for a request with these headers: chosen before, or preferred. */
export function languageOf(headers: Headers, offered: OfferedLanguages): Language {
  const chosen = new RegExp(`(?:^|;)\\s*${LANGUAGE_COOKIE}=([\\w-]+)`);
  const [, tag] = chosen.exec(headers.get("cookie") ?? "") ?? [];
  const accepts = headers.get("accept-language") ?? "";
  return offeredLanguage(tag, offered) ?? preferredLanguage(accepts, offered);
}

/**
 * The offered language that the field of an address names; null for none. Any tag of a language
 * counts, as in `Accept-Language`: people write `de-AT` and `zh-CN` in links.
 */
export function chosenLanguage(address: string, offered: OfferedLanguages): Language | null {
  const tag = new URL(address).searchParams.get(LANGUAGE_FIELD) ?? "";
  return offeredLanguage(languageOfTag(tag), offered);
}

/** A stored language, as long as it is offered; otherwise null. */
export function offeredLanguage(
  stored: string | null | undefined,
  offered: OfferedLanguages,
): Language | null {
  return isLanguage(stored) && offered.includes(stored) ? stored : null;
}

/** The offered language that an `Accept-Language` header (RFC 9110, 12.5.4) prefers. */
export function preferredLanguage(accepts: string, offered: OfferedLanguages): Language {
  const preferred = accepts
    .split(",", PREFERENCES_MAX)
    .map((one) => {
      const [tag = "", ...parameters] = one.split(";").map((part) => part.trim());
      const weight = parameters.find((part) => /^q=/i.test(part))?.slice(2) ?? "1";
      return { language: languageOfTag(tag), weight: Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  const found = preferred.find(({ language }) => language !== null && offered.includes(language));
  return found?.language ?? offered[0];
}

/**
 * The language of ours for a tag such as `de-AT` or `zh-CN`; null for none. Readers of Traditional
 * Chinese get Simplified Chinese only if they ask for it too.
 */
function languageOfTag(tag: string): Language | null {
  const [base = "", ...parts] = tag.toLowerCase().split(/[-_]/);
  if (base === "zh") {
    const isSimplified = parts.includes("hans");
    const isTraditional = parts.some((part) => ["hant", "tw", "hk", "mo"].includes(part));
    return isTraditional && !isSimplified ? null : "zh-Hans";
  }
  return isLanguage(base) ? base : null;
}
