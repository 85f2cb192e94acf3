// Writes the page at `/`: what is sold and what it costs now, how to sign up, and where the
// documentation is. One page without a script; it loads nothing but the mark (D-763).

import type { Brand } from "../core/brand/brand.ts";
import { LOGO_PATH, logoAddress } from "../core/brand/mark.ts";
import { Html, html, jsonHtml } from "../core/text/html.ts";
import {
  PER_MILLION,
  type SoldModel,
  type SoldService,
  type SoldThings,
  sampleReceipt,
  soldModels,
  soldServices,
  type UnitPrice,
} from "./offer.ts";
import { brandLink, siteFooter, styleSheet } from "./page-frame.ts";

/** The texts of the page beside the prices. */
export interface FrontPageTerms {
  readonly brand: Brand;
  /** The address under which people open the service; null if none is configured. */
  readonly origin: string | null;
  /** False if no dashboard is served: then people cannot sign up. */
  readonly hasDashboard: boolean;
}

/** The page, and the style that its policy must allow. */
export interface FrontPage {
  readonly text: string;
  readonly style: string;
}

/** More would take the page above its 60 KB; the list at /v1/models has all models. */
const ROWS_LENGTH_MAX = 24_000;
const CLEAR_DECIMALS = 4;
const SHEET = new URL("./front-page.css", import.meta.url);

/** Writes the page for a catalogue. */
export function frontPage(sold: SoldThings, terms: FrontPageTerms): FrontPage {
  const { brand } = terms;
  const style = styleSheet(SHEET, brand);
  const services = soldServices(sold);
  const models = soldModels(sold);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${brand.name}: models, search, maps and mail by one API key</title>
<meta name="description" content="${brand.about}">
${headLinks(terms)}
<link rel="icon" href="${logoAddress(brand)}" type="image/svg+xml">
<style>${new Html(style)}</style>
<script type="application/ld+json">${jsonHtml(linkedData(terms, services))}</script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${header(terms)}
<main id="content">
${hero(sold, terms)}
${servicesSection(services)}
${modelsSection(models)}
${firstCall(models, terms)}
</main>
${siteFooter(brand)}
</body>
</html>
`;
  return { text: page.text, style };
}

function headLinks({ brand, origin }: FrontPageTerms): Html {
  if (!brand.isListed) return html`<meta name="robots" content="noindex, nofollow">`;
  if (origin === null) return html``;
  return html`<link rel="canonical" href="${origin}/">
<meta property="og:title" content="${brand.name}">
<meta property="og:description" content="${brand.about}">
<meta property="og:type" content="website">
<meta property="og:url" content="${origin}/">`;
}

/** The page for search engines (schema.org). */
function linkedData({ brand, origin }: FrontPageTerms, services: readonly SoldService[]): object {
  const { name, about, supportEmail } = brand;
  const url = origin === null ? {} : { url: `${origin}/` };
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

function header({ brand, hasDashboard }: FrontPageTerms): Html {
  const entry = html`<a href="/dashboard">Sign in</a>
<a class="button" href="/dashboard/sign-up">Sign up</a>`;
  return html`<header><div class="wide">
${brandLink(brand)}
<nav aria-label="Main">
<a href="#prices">Prices</a>
<a href="/docs">Docs</a>
${hasDashboard ? entry : null}
</nav></div></header>`;
}

function hero(sold: SoldThings, { brand, hasDashboard }: FrontPageTerms): Html {
  const signUp = html`<a class="button" href="/dashboard/sign-up">Create an account</a>`;
  const look = hasDashboard ? "button plain" : "button";
  const docs = html`<a class="${look}" href="/docs">Read the docs</a>`;
  const { of, lines, total } = sampleReceipt(sold);
  const rows = lines.map(
    ({ what, quantity, price, usd }) => html`<dt>${quantity.toLocaleString("en-US")} ${what} at
${usdHtml(price.usd)} ${price.unit === PER_MILLION ? "a million" : price.unit}</dt>
<dd>${usdHtml(usd)}</dd>`,
  );
  return html`<div class="wide hero"><div>
<h1>${brand.about}</h1>
<p class="lead">Top up once and call everything. Each call reserves the most it can cost, is charged
what it did cost, to the last digit, and gives back the rest. A balance never goes below zero.</p>
<p class="actions">${hasDashboard ? signUp : null}
${docs}</p></div>
<figure class="panel ticket">
<figcaption>What one call costs at today's prices</figcaption>
<p class="of">${of}</p>
<dl>${rows}
<dt class="total">Charged</dt><dd class="total">${usdHtml(total)}</dd></dl>
</figure></div>`;
}

function servicesSection(services: readonly SoldService[]): Html {
  const cards = services.map(
    ({ name, title, about, prices }) => html`<li class="panel"><h3>${title}</h3><p>${about}</p>
${prices.map((price) => priceLine(price, name === "chat"))}</li>`,
  );
  return html`<section class="wide" aria-labelledby="sold"><h2 id="sold">What is sold</h2>
<ul class="cards">${cards}</ul></section>`;
}

function priceLine({ usd, unit }: UnitPrice, isLowest: boolean): Html {
  return html`<p class="price">${isLowest ? "from " : ""}${usdHtml(usd)} <span
 class="faint">${unit}</span></p>`;
}

function modelsSection(models: readonly SoldModel[]): Html {
  const rows = models.map(modelRow);
  let length = 0;
  const shown = rows.filter(({ text }) => {
    length += text.length;
    return length <= ROWS_LENGTH_MAX;
  });
  const rest = models.length - shown.length;
  const more = html`<p class="note">And ${rest} more: <a href="/v1/models">all models</a>.</p>`;
  return html`<section class="wide" aria-labelledby="prices"><h2 id="prices">Models and prices</h2>
<p class="note">USD for ${PER_MILLION}, as calls are charged now. The same list for programs:
<a href="/v1/models">/v1/models</a>.</p>
<div class="scroll panel" tabindex="0" role="region" aria-label="Price list">
<table class="models"><thead><tr><th scope="col">Model</th>
<th scope="col" class="amount">Input</th><th scope="col" class="amount">Cached input</th>
<th scope="col" class="amount">Output</th></tr></thead>
<tbody>${shown}</tbody></table></div>
${rest > 0 ? more : null}</section>`;
}

function modelRow({ id, label, input, output, cachedInput, further }: SoldModel): Html {
  const also = further === "" ? null : html`<span class="faint">${further}</span>`;
  const cached =
    cachedInput === null ? html`<span class="faint">none</span>` : usdHtml(cachedInput);
  return html`<tr><td>${label} <code>${id}</code>${also}</td>
<td class="amount" data-of="Input">${usdHtml(input)}</td>
<td class="amount" data-of="Cached input">${cached}</td>
<td class="amount" data-of="Output">${usdHtml(output)}</td></tr>`;
}

function firstCall([model]: readonly SoldModel[], { origin }: FrontPageTerms): Html | null {
  if (model === undefined) return null;
  const body = JSON.stringify({
    model: model.id,
    messages: [{ role: "user", content: "Hello" }],
  });
  return html`<section class="wide" aria-labelledby="first"><h2 id="first">The first call</h2>
<p class="note">Clients of OpenAI's and Anthropic's APIs work with another base URL and key.</p>
<pre class="panel" tabindex="0"><code>curl ${origin ?? "https://HOST"}/v1/chat/completions \\
  -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body.replaceAll("'", "'\\''")}'</code></pre></section>`;
}

/** An amount with all its digits; those beyond four decimals are smaller. */
function usdHtml(decimal: string): Html {
  const [whole = "0", fraction = ""] = decimal.split(".");
  const digits = fraction.padEnd(2, "0");
  const clear = `$${whole}.${digits.slice(0, CLEAR_DECIMALS)}`;
  const rest = digits.slice(CLEAR_DECIMALS);
  return rest === "" ? html`${clear}` : html`${clear}<span class="faint">${rest}</span>`;
}
