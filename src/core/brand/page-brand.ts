// Gives the pages of the dashboard the brand: in a meta element of the page, and as the colours of
// its styles.

import type { OfferedLanguages } from "../languages.ts";
import type { Brand, BrandLink } from "./brand.ts";
import { DEFAULT_BRAND } from "./brand.ts";
import { type Colour, shadesOf, tintOf } from "./colours.ts";
import { logoAddress } from "./mark.ts";

export interface PageBrand {
  readonly name: string;
  /** Null for our own mark, which pages draw themselves. */
  readonly logo: string | null;
  /** The shades of the accent for the component library; null for ours. */
  readonly shades: readonly Colour[] | null;
  readonly supportEmail: string | null;
  readonly languages: OfferedLanguages;
  readonly links: readonly BrandLink[];
}

/** The brand as pages read it. */
export function pageBrand(brand: Brand): PageBrand {
  const { name, logo, accent, supportEmail, languages, links } = brand;
  return {
    name,
    logo: logo === null ? null : logoAddress(brand),
    shades: hasOwnAccent(brand) ? shadesOf(accent) : null,
    supportEmail,
    languages,
    links,
  };
}

/** The colours that differ from the style sheet of the pages; empty without an own accent. */
export function pageStyle(brand: Brand): string {
  if (!hasOwnAccent(brand)) return "";
  const { accent } = brand;
  const [light, dark] = (["light", "dark"] as const).map(
    (scheme) => `--fb-accent:${accent[scheme]};--fb-accent-tint:${tintOf(accent, scheme)}`,
  );
  return `:root{${light}}` + `@media screen{:root[data-mantine-color-scheme="dark"]{${dark}}}`;
}

function hasOwnAccent({ accent }: Brand): boolean {
  return accent !== DEFAULT_BRAND.accent;
}
