// Writes the page at `/`: the offers and their prices now, how to sign up, and where the
// documentation is. One page without a script; it loads nothing but the mark (D-765).

import { type Brand, DEFAULT_BRAND } from "../core/brand/brand.ts";
import { LOGO_PATH, logoAddress, logoSvg } from "../core/brand/mark.ts";
import { brandLink, siteFooter } from "../core/brand/page-parts.ts";
import { LANGUAGE_FIELD, LANGUAGES, type Language } from "../core/languages.ts";
import { localDecimal } from "../core/money/local-usd.ts";
import { Html, html, jsonHtml } from "../core/text/html.ts";
import {
  type SoldModel,
  type SoldService,
  type SoldThings,
  sampleReceipt,
  soldModels,
  soldServices,
} from "./offer.ts";
import { styleSheet } from "./style-sheet.ts";
import { SITE_TEXTS } from "./texts/site-texts.ts";

/** The texts of the page beside the prices. */
export interface FrontPageTerms {
  readonly brand: Brand;
  /** The address under which people open the service; null if none is configured. */
  readonly origin: string | null;
  /** False if no dashboard is served: then people cannot sign up. */
  readonly hasDashboard: boolean;
  readonly language: Language;
  /** True if the address of the page names the language, which links then keep. */
  readonly isChosen: boolean;
}

/** The page, and the style that its policy must allow. */
export interface FrontPage {
  readonly text: string;
  readonly style: string;
}

/** The most bytes of the page and its mark (D-867). */
const PAGE_BYTES_MAX = 60_000;
/** The most bytes of the rows of models; the list at /v1/models has all models. */
const ROWS_BYTES_MAX = 24_000;
/** An amount with more than four decimals: up to the fourth, the others, and what follows. */
const FINE = /^(.*[.,]\d{4})(\d+)(\D*)$/;
const SHEET = new URL("./front-page.css", import.meta.url);

/** Writes the page for a catalogue; it has the models that the rest of the page leaves room for. */
export function frontPage(sold: SoldThings, terms: FrontPageTerms): FrontPage {
  const style = styleSheet(SHEET, terms.brand);
  const services = soldServices(sold, SITE_TEXTS[terms.language]);
  const models = soldModels(sold);
  const rows = models.map((model) => modelRow(model, terms.language));
  const written = (shown: readonly Html[]) =>
    pageOf(sold, terms, { style, services, models, rows: shown }).text;
  const others = Buffer.byteLength(written([])) + Buffer.byteLength(logoSvg(terms.brand));
  const room = Math.min(ROWS_BYTES_MAX, PAGE_BYTES_MAX - others);
  return { text: written(thatFit(rows, room)), style };
}

/** The first pieces that have at most so many bytes, each in a line of its own. */
function thatFit(pieces: readonly Html[], bytesMax: number): readonly Html[] {
  let bytes = 0;
  return pieces.filter(({ text }) => {
    bytes += Buffer.byteLength(text) + 1;
    return bytes <= bytesMax;
  });
}

interface Parts {
  readonly style: string;
  readonly services: readonly SoldService[];
  readonly models: readonly SoldModel[];
  /** The rows of those models that the page has. */
  readonly rows: readonly Html[];
}

function pageOf(sold: SoldThings, terms: FrontPageTerms, parts: Parts): Html {
  const { style, services, models, rows } = parts;
  const { brand } = terms;
  const texts = SITE_TEXTS[terms.language];
  return html`<!doctype html>
<html lang="${terms.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${texts.title(brand.name)}</title>
<meta name="description" content="${aboutOf(terms)}">
${headLinks(terms)}
<link rel="icon" href="${logoAddress(brand)}" type="image/svg+xml">
<style>${new Html(style)}</style>
<script type="application/ld+json">${jsonHtml(linkedData(terms, services))}</script>
</head>
<body>
<a class="skip" href="#content">${texts.skip}</a>
${header(terms)}
<main id="content">
${hero(sold, terms)}
${servicesSection(services, terms)}
${modelsSection(rows, models.length - rows.length, terms)}
${firstCall(models, terms)}
</main>
${siteFooter(brand, texts.docs, languageLinks(terms))}
</body>
</html>
`;
}

/** The brand's own sentence, or ours in the language of the page. */
function aboutOf({ brand, language }: FrontPageTerms): string {
  return brand.about === DEFAULT_BRAND.about ? SITE_TEXTS[language].about : brand.about;
}

/** The path of the page in a language, which answers every client. */
export function pathIn(language: Language): string {
  return `/${language}`;
}

/** The languages of the page, each by its own name. */
function languageLinks({ brand, language }: FrontPageTerms): Html | null {
  if (brand.languages.length < 2) return null;
  const links = brand.languages.map((one) =>
    one === language
      ? html`<span lang="${one}" aria-current="true">${LANGUAGES[one].name}</span>`
      : html`<a href="${pathIn(one)}" lang="${one}" hreflang="${one}">${LANGUAGES[one].name}</a>`,
  );
  return html`<nav class="languages" aria-label="${SITE_TEXTS[language].language}">${links}</nav>`;
}

/** A page of the dashboard, in the language that was chosen here. */
function dashboardLink(path: string, { language, isChosen }: FrontPageTerms): string {
  return isChosen ? `${path}?${LANGUAGE_FIELD}=${language}` : path;
}

function headLinks(terms: FrontPageTerms): Html {
  const { brand, origin, language } = terms;
  if (!brand.isListed) return html`<meta name="robots" content="noindex, nofollow">`;
  if (origin === null) return html``;
  const [first] = brand.languages;
  const own = `${origin}${pathIn(language)}`;
  return html`<link rel="canonical" href="${own}">
<link rel="alternate" hreflang="x-default" href="${origin}${pathIn(first)}">
${brand.languages.map(
  (one) => html`<link rel="alternate" hreflang="${one}" href="${origin}${pathIn(one)}">`,
)}
<meta property="og:title" content="${brand.name}">
<meta property="og:description" content="${aboutOf(terms)}">
<meta property="og:type" content="website">
<meta property="og:url" content="${own}">`;
}

/** The page for search engines (schema.org). */
function linkedData(terms: FrontPageTerms, services: readonly SoldService[]): object {
  const { brand, origin, language } = terms;
  const { name, supportEmail } = brand;
  const about = aboutOf(terms);
  const url = origin === null ? {} : { url: `${origin}${pathIn(language)}` };
  const logo = origin === null ? {} : { logo: `${origin}${LOGO_PATH}` };
  const offers = services.flatMap(({ title, prices }) =>
    prices.map(({ usd, unit }) => ({
      "@type": "Offer",
      name: `${title}, ${unit}`,
      priceCurrency: "USD",
      price: usd,
    })),
  );
  const provider = {
    "@type": "Organization",
    name,
    ...url,
    ...logo,
    ...(supportEmail !== null && { email: supportEmail }),
  };
  return {
    "@context": "https://schema.org",
    "@graph": [
      { "@type": "WebSite", name, description: about, ...url },
      { "@type": "Service", name, description: about, serviceType: "API", provider, offers },
    ],
  };
}

function header(terms: FrontPageTerms): Html {
  const { brand, hasDashboard, language } = terms;
  const texts = SITE_TEXTS[language];
  const entry = html`<a href="${dashboardLink("/dashboard", terms)}">${texts.signIn}</a>
<a class="button" href="${dashboardLink("/dashboard/sign-up", terms)}">${texts.signUp}</a>`;
  return html`<header><div class="wide">
${brandLink(brand)}
<nav aria-label="${texts.main}">
<a href="#prices">${texts.prices}</a>
<a href="/docs">${texts.docs}</a>
${hasDashboard ? entry : null}
</nav></div></header>`;
}

function hero(sold: SoldThings, terms: FrontPageTerms): Html {
  const { hasDashboard, language } = terms;
  const texts = SITE_TEXTS[language];
  const address = dashboardLink("/dashboard/sign-up", terms);
  const signUp = html`<a class="button" href="${address}">${texts.createAccount}</a>`;
  const look = hasDashboard ? "button plain" : "button";
  const docs = html`<a class="${look}" href="/docs">${texts.readDocs}</a>`;
  const { of, lines, total } = sampleReceipt(sold, texts);
  const count = new Intl.NumberFormat(LANGUAGES[language].locale);
  const rows = lines.map(
    ({ what, quantity, price, usd }) => html`<dt>${count.format(quantity)} ${what} ${texts.at}
${usdHtml(price.usd, language)} ${price.unit}</dt>
<dd>${usdHtml(usd, language)}</dd>`,
  );
  return html`<div class="wide hero"><div>
<h1>${aboutOf(terms)}</h1>
<p class="lead">${texts.lead}</p>
<p class="actions">${hasDashboard ? signUp : null}
${docs}</p></div>
<figure class="panel ticket">
<figcaption>${texts.receiptTitle}</figcaption>
<p class="of">${of}</p>
<dl>${rows}
<dt class="total">${texts.charged}</dt><dd class="total">${usdHtml(total, language)}</dd></dl>
</figure></div>`;
}

function servicesSection(services: readonly SoldService[], { language }: FrontPageTerms): Html {
  const { sold, from } = SITE_TEXTS[language];
  const cards = services.map(
    ({ name, title, about, prices }) => html`<li class="panel"><h3>${title}</h3><p>${about}</p>
${prices.map(
  ({ usd, unit }) =>
    html`<p class="price">${name === "chat" ? `${from} ` : ""}${usdHtml(
      usd,
      language,
    )} <span class="faint">${unit}</span></p>`,
)}</li>`,
  );
  return html`<section class="wide" aria-labelledby="sold"><h2 id="sold">${sold}</h2>
<ul class="cards">${cards}</ul></section>`;
}

/** @param rest the number of models that have no row */
function modelsSection(rows: readonly Html[], rest: number, { language }: FrontPageTerms): Html {
  const texts = SITE_TEXTS[language];
  const { columns } = texts;
  const more = html`<p class="note">${texts.more(rest)}${texts.gap}<a
href="/v1/models">${texts.allModels}</a>${texts.stop}</p>`;
  return html`<section class="wide" aria-labelledby="prices"><h2 id="prices">${texts.models}</h2>
<p class="note">${texts.modelsNote}${texts.gap}<a
href="/v1/models">/v1/models</a>${texts.stop}</p>
<div class="scroll panel" tabindex="0" role="region" aria-label="${texts.priceList}">
<table class="models"><thead><tr><th scope="col">${columns.model}</th>
<th scope="col" class="amount">${columns.input}</th>
<th scope="col" class="amount">${columns.cached}</th>
<th scope="col" class="amount">${columns.output}</th></tr></thead>
<tbody>${rows}</tbody></table></div>
${rest > 0 ? more : null}</section>`;
}

function modelRow(
  { id, label, input, output, cachedInput, further }: SoldModel,
  language: Language,
): Html {
  const { none, columns } = SITE_TEXTS[language];
  const also = further === "" ? null : html`<span class="faint" lang="en">${further}</span>`;
  const cached =
    cachedInput === null
      ? html`<span class="faint">${none}</span>`
      : usdHtml(cachedInput, language);
  return html`<tr><td>${label} <code>${id}</code>${also}</td>
<td class="amount" data-of="${columns.input}">${usdHtml(input, language)}</td>
<td class="amount" data-of="${columns.cached}">${cached}</td>
<td class="amount" data-of="${columns.output}">${usdHtml(output, language)}</td></tr>`;
}

/** The command of a first chat; null if no model can chat. */
function firstCall(
  models: readonly SoldModel[],
  { origin, language }: FrontPageTerms,
): Html | null {
  const model = models.find(({ chats }) => chats);
  if (model === undefined) return null;
  const texts = SITE_TEXTS[language];
  const body = JSON.stringify({
    model: model.id,
    messages: [{ role: "user", content: "Hello" }],
  });
  return html`<section class="wide" aria-labelledby="first"><h2 id="first">${texts.firstCall}</h2>
<p class="note">${texts.firstCallNote}</p>
<pre class="panel" tabindex="0"><code>curl ${origin ?? "https://HOST"}/v1/chat/completions \\
  -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body.replaceAll("'", "'\\''")}'</code></pre></section>`;
}

/** An amount with all its digits; those beyond four decimals are smaller. */
function usdHtml(decimal: string, language: Language): Html {
  const written = localDecimal(language, decimal);
  const [, clear = "", rest, after = ""] = FINE.exec(written) ?? [];
  if (rest === undefined) return html`${written}`;
  return html`${clear}<span class="faint">${rest}</span>${after}`;
}
