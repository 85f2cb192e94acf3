// The parts of the brand on every page for visitors: the mark, the colours and the foot.

import { type Html, html } from "../text/html.ts";
import type { Brand } from "./brand.ts";
import { textOn } from "./colours.ts";
import { logoAddress } from "./mark.ts";

/** The rule of a style sheet that sets the brand's colours, for light and dark. */
export function accentRule({ accent }: Brand): string {
  const variables = (["light", "dark"] as const).map((scheme) => {
    const colour = accent[scheme];
    return `--accent-${scheme}:${colour};--on-accent-${scheme}:${textOn(colour)}`;
  });
  return `:root{${variables.join(";")}}\n`;
}

/** The mark and the name, which lead to the front page. */
export function brandLink(brand: Brand): Html {
  return html`<a class="brand" href="/"><img src="${logoAddress(brand)}" alt="" width="28"
 height="28"><span>${brand.name}</span></a>`;
}

/**
 * The foot of a page: the brand's own links, where customers ask for help, and the languages of the
 * page.
 */
export function siteFooter(
  { name, supportEmail, links }: Brand,
  docs = "Docs",
  languages: Html | null = null,
): Html {
  const support = html`<a href="mailto:${supportEmail}">${supportEmail}</a>`;
  return html`<footer><div class="wide"><span>${name}</span>
<a href="/docs">${docs}</a>
${links.map(({ label, url }) => html`<a href="${url}">${label}</a>`)}
${supportEmail === null ? null : support}
${languages}
</div></footer>`;
}
