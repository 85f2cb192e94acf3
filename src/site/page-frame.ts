// The frame of all pages for visitors: head with the brand, colours, foot.

import { readFileSync } from "node:fs";
import type { Brand } from "../core/brand/brand.ts";
import { textOn } from "../core/brand/colours.ts";
import { logoAddress } from "../core/brand/mark.ts";
import { type Html, html } from "../core/text/html.ts";

const SITE_SHEET = new URL("./site.css", import.meta.url);

/** The styles of a page: those of all pages, and its own, in the colours of the brand. */
export function styleSheet(own: URL, { accent }: Brand): string {
  const sheets = [SITE_SHEET, own].map((file) => readFileSync(file, "utf8")).join("");
  const variables = (["light", "dark"] as const).map((scheme) => {
    const colour = accent[scheme];
    return `--accent-${scheme}:${colour};--on-accent-${scheme}:${textOn(colour)}`;
  });
  return `:root{${variables.join(";")}}\n${sheets.replaceAll(/\s*\n\s*/g, "\n")}`;
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
