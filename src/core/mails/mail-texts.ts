// The texts of the service's own mails by language, and a mail that waits for the language of its
// reader.

import type { Brand } from "../brand/brand.ts";
import { type Language, offeredLanguage } from "../languages.ts";
import { type ServiceMail, type ServiceMailParts, serviceMail } from "../service-mail.ts";
import { chineseMails } from "./chinese.ts";
import { englishMails, type MailTexts } from "./english.ts";
import { germanMails } from "./german.ts";

export type { MailTexts } from "./english.ts";

const MAILS: Readonly<Record<Language, MailTexts>> = {
  en: englishMails,
  de: germanMails,
  "zh-Hans": chineseMails,
};

/** Writes a mail in the language that is stored with its reader; null if there is none. */
export type WriteMail = (stored: string | null) => ServiceMail;

/** The content of a mail, by the texts of a language. */
export type MailContentOf = (texts: MailTexts) => Omit<ServiceMailParts, "brand" | "reader">;

/**
 * A mail in the language of its reader (D-819). Whoever has none stored gets `asked`, the language
 * of the request that caused the mail, or the first language of the brand.
 */
export function mailOfReader(
  brand: Brand,
  contentOf: MailContentOf,
  asked: Language | null = null,
): WriteMail {
  return (stored) => {
    const [first] = brand.languages;
    const language = offeredLanguage(stored, brand.languages) ?? asked ?? first;
    const texts = MAILS[language];
    return serviceMail({ brand, reader: texts.reader, ...contentOf(texts) });
  };
}
