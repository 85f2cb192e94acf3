// The texts by which a holder agrees that a saved card is charged without them. Each version stays
// here as it was shown: rows name the version that was agreed to.

const TEXTS = {
  "2026-11":
    "I agree that this card is saved, and that it is charged without my being asked again when I " +
    "order a top-up or have set up automatic top-ups. I can remove the card at any time.",
  "plan-2026-11":
    "I agree that my saved card, or the newest one once it is removed, is charged the price of " +
    "this plan now and again at the beginning of each of its months, until I cancel it. For a " +
    "higher plan it is charged the difference for the rest of the month.",
} as const;

export type ConsentVersion = keyof typeof TEXTS;

/** A translation has every version. */
export type ConsentTexts = Readonly<Record<ConsentVersion, string>>;

/** The texts that rows, and providers of payments, get. */
export const ENGLISH_CONSENTS: ConsentTexts = TEXTS;

export const CONSENT_VERSIONS = Object.keys(TEXTS) as readonly ConsentVersion[];

/** The version that is shown from now on. */
export const CONSENT_VERSION = "2026-11";

/** The version for plans that are paid by the month. */
export const PLAN_CONSENT_VERSION = "plan-2026-11";

/** The text of a version. */
export function consentText(version: string): string {
  const texts: Readonly<Record<string, string>> = TEXTS;
  const text = texts[version];
  if (text === undefined) throw new Error(`There is no consent text of version '${version}'`);
  return text;
}
