// The mark of the brand: the operator's logo, or ours in the accent.

import type { Brand } from "./brand.ts";
import type { Colour } from "./colours.ts";

/** The path at which the mark is served as a picture. */
export const LOGO_PATH = "/brand/logo.svg";
const SLOT: Colour = "#ffffff";

/** The address of the mark; it changes with the mark. */
export function logoAddress({ logo, accent }: Brand): string {
  return `${LOGO_PATH}?v=${logo?.version ?? accent.light.slice(1)}`;
}

/** The mark as a picture: a slot and a coin that falls into it, unless the brand has a logo. */
export function logoSvg({ logo, accent }: Brand): string {
  if (logo !== null) return logo.svg;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">
<rect width="24" height="24" rx="6" fill="${accent.light}"/>
<rect x="5.5" y="6" width="13" height="2.4" rx="1.2" fill="${SLOT}"/>
<rect x="10.4" y="10.4" width="3.2" height="8" rx="1.6" fill="${SLOT}"/>
</svg>
`;
}
