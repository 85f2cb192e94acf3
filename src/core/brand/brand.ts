// The brand of an installation: the name of the service in pages, mails and documents, and how they
// look. Every place that names the service to people reads it here (D-760).

import { ALL_LANGUAGES, type OfferedLanguages } from "../languages.ts";
import type { Accent } from "./colours.ts";
import type { Logo } from "./logo.ts";

/** A page of the operator, in the foot of our pages. */
export interface BrandLink {
  readonly label: string;
  readonly url: string;
}

/** The pages of the documentation that `/docs` shows: all, or those for customers. */
export const DOCS_SHOWN = ["all", "customers"] as const;

export interface Brand {
  readonly name: string;
  /** One sentence about the service. */
  readonly about: string;
  /** The sender of mails. */
  readonly senderName: string;
  /** The logo; null for our own mark in the accent colour. */
  readonly logo: Logo | null;
  readonly accent: Accent;
  readonly supportEmail: string | null;
  /** The languages of pages and mails; the first one is for people who ask for none of them. */
  readonly languages: OfferedLanguages;
  /** Terms, privacy and imprint first, as far as they are given. */
  readonly links: readonly BrandLink[];
  /** False if `/` leads to the dashboard. */
  readonly hasFrontPage: boolean;
  /** False if search engines are asked to list nothing. */
  readonly isListed: boolean;
  readonly docs: (typeof DOCS_SHOWN)[number];
}

/** Reads the brand of this moment. */
export type ReadBrand = () => Brand;

/** The name of the software, and of an installation without a brand. */
export const PRODUCT = "Farebox";

const PRODUCT_WORD = /\bFarebox\b/g;

/** One of our texts with the name of a brand in it. Commands and ids, in lower case, stay. */
export function inBrand(text: string, { name }: Pick<Brand, "name">): string {
  return name === PRODUCT ? text : text.replaceAll(PRODUCT_WORD, () => name);
}

/** The brand of an installation that configures none. */
export const DEFAULT_BRAND: Brand = {
  name: PRODUCT,
  about: "Models, web search, maps and mail behind one key, paid from one prepaid balance.",
  senderName: PRODUCT,
  logo: null,
  accent: { light: "#0b6b50", dark: "#39b58a" },
  supportEmail: null,
  languages: ALL_LANGUAGES,
  links: [],
  hasFrontPage: true,
  isListed: true,
  docs: "all",
};
