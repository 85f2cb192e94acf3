// Writes the pages of the sandbox, for a person with a browser, in that person's language. Each
// says that no real money moves (D-201).

import { PLAN_NAMES } from "../../core/access/limits.ts";
import { LANGUAGE_FIELD, LANGUAGE_TAGS, LANGUAGES, type Language } from "../../core/languages.ts";
import { CONSENT_VERSIONS, consentText } from "../../core/money/consent.ts";
import { ofCents } from "../../core/money/money.ts";
import { CREDIT_LINE, FEE_LINE, planLine } from "../../core/money/payment-lines.ts";
import { planTitle } from "../../core/money/plan-terms.ts";
import { escapeHtml } from "../../core/text/html.ts";
import type { SandboxActions } from "./sandbox-actions.ts";
import type { SandboxObject } from "./sandbox-store.ts";
import { BEHAVIOURS, TEST_CARDS } from "./test-cards.ts";
import type { SandboxTexts } from "./texts/english.ts";
import { SANDBOX_TEXTS } from "./texts/sandbox-texts.ts";

const STYLE =
  ":root{color-scheme:light dark;background:Canvas}" +
  "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}" +
  "p.notice{background:#ffd;border:1px solid #cc8;padding:.5rem .75rem}" +
  "fieldset{border:1px solid #bbb;margin:0 0 1rem}button{font:inherit}" +
  "label{display:flex;gap:.5rem;align-items:baseline}" +
  "form.inline{display:inline-block;margin:0 .5rem .5rem 0}li{margin-bottom:.5rem}" +
  "@media(prefers-color-scheme:dark){p.notice{background:#332e00;border-color:#776d1f}" +
  "fieldset{border-color:#666}}";

/** The reader of a page. */
export interface PageTerms {
  readonly language: Language;
  /** The path at which the page is read in other languages; null if it is not read again. */
  readonly path: string | null;
}

/** The page where a top-up is paid; `problem` is the code of the payment that was just refused. */
export function paymentPage(
  session: SandboxObject,
  problem: string | null,
  terms: PageTerms,
): string {
  const texts = SANDBOX_TEXTS[terms.language];
  const pay = escapeHtml(texts.pay(centsText(session.amount_total, texts)));
  const consent = consentOf(session, texts);
  const cards = TEST_CARDS.map(
    ({ number, about }, index) =>
      `<label><input type="radio" name="card" value="${number}"${index === 0 ? " checked" : ""}> ` +
      `${number.replaceAll(/(\d{4})(?=\d)/g, "$1 ")} ${escapeHtml(texts.cards[about])}</label>`,
  ).join("");
  const form =
    session.status === "open"
      ? `<form method="post"><fieldset><legend>${texts.testCard}</legend>${cards}</fieldset>` +
        `${consent === null ? "" : `<p>${escapeHtml(consent)}</p>`}<button>${pay}</button></form>`
      : `<p>${escapeHtml(texts.closed[session.status === "expired" ? "expired" : "complete"])}</p>`;
  const said =
    problem === null
      ? ""
      : `<p role="alert"><strong>${escapeHtml(wordsFor(problem, texts.problems))}</strong></p>`;
  const { cancel_url: cancel } = session;
  const back =
    typeof cancel === "string"
      ? `<p><a href="${escapeHtml(cancel)}">${texts.backUnpaid}</a></p>`
      : "";
  return page(
    texts.pay(centsText(session.amount_total, texts)),
    said + sessionLines(session, texts) + form + back,
    terms,
  );
}

/** The items of a payment and its tax, as a list. */
function linesHtml(lines: readonly Line[], tax: number, texts: SandboxTexts): string {
  const row = (name: string, cents: number) =>
    `<li>${escapeHtml(texts.line(name, centsText(cents, texts)))}</li>`;
  const rows = lines.map(({ description, cents }) => row(lineName(description, texts), cents));
  return `<ul>${rows.join("")}${tax > 0 ? row(texts.tax, tax) : ""}</ul>`;
}

interface Line {
  readonly description: string;
  readonly cents: number;
}

function sessionLines({ line_items, total_details }: SandboxObject, texts: SandboxTexts): string {
  const { data } = { data: [], ...(line_items as { data?: readonly SessionItem[] } | undefined) };
  const { amount_tax: tax } = { amount_tax: 0, ...(total_details as object | undefined) };
  const lines = data.map(({ description, amount_subtotal: cents }) => ({ description, cents }));
  return linesHtml(lines, tax, texts);
}

interface SessionItem {
  readonly description: string;
  readonly amount_subtotal: number;
}

/** The name of a line in the language of the page; as it was sent if it is none of ours. */
function lineName(sent: string, { credit, fee, plan }: SandboxTexts): string {
  const plans = PLAN_NAMES.map((name) => [planLine(name), plan(planTitle(name))] as const);
  return new Map([[CREDIT_LINE, credit], [FEE_LINE, fee], ...plans]).get(sent) ?? sent;
}

/** The receipt of a payment. */
export function receiptPage({ id, amount_received }: SandboxObject, terms: PageTerms): string {
  const texts = SANDBOX_TEXTS[terms.language];
  const paid = escapeHtml(texts.line(texts.paidTitle, centsText(amount_received, texts)));
  return page(texts.receipt, `<p>${paid}</p><p>${escapeHtml(id)}</p>`, terms);
}

/** An invoice or a credit note, in place of Stripe's PDF. */
export function documentPage(document: SandboxObject, terms: PageTerms): string {
  const texts = SANDBOX_TEXTS[terms.language];
  const title = document.object === "invoice" ? texts.invoice : texts.creditNote;
  const line = texts.line(`${title} ${document.number}`, centsText(document.total, texts));
  const { data } = document.lines as { readonly data: readonly InvoiceItem[] };
  const lines = data.map(({ description, amount: cents }) => ({ description, cents }));
  const rows = linesHtml(lines, Number(document.total) - Number(document.subtotal), texts);
  return page(title, `<p>${escapeHtml(line)}</p>${rows}`, terms);
}

interface InvoiceItem {
  readonly description: string;
  readonly amount: number;
}

/**
 * Writes the page after a payment, which leads back to the caller's page; Stripe goes there at
 * once.
 */
export function paidPage(returnUrl: string, { language }: PageTerms): string {
  const texts = SANDBOX_TEXTS[language];
  const url = escapeHtml(returnUrl);
  return page(
    texts.paidTitle,
    `<p>${texts.paid}</p><p><a href="${url}">${texts.back}</a></p>` +
      `<p><a href="/">${texts.allPayments}</a></p>`,
    { language, path: null, head: `<meta http-equiv="refresh" content="1;url=${url}">` },
  );
}

/** Writes the page with a button for each action of banks and holders. */
export function overviewPage({ store }: SandboxActions, terms: PageTerms): string {
  const texts = SANDBOX_TEXTS[terms.language];
  const { bank } = texts;
  const open = store
    .list("checkout.session")
    .filter(({ status }) => status === "open")
    .map(({ id, amount_total: cents }) => {
      return `<li><a href="/pay/${id}">${escapeHtml(texts.pay(centsText(cents, texts)))}</a></li>`;
    });
  // The sandbox makes an intent for each final invoice, and cancels the intent if a charge pays the
  // invoice. The list leaves canceled intents out, because such an intent is not a payment.
  const made = store.list("payment_intent").filter(({ status }) => status !== "canceled");
  const payments = made.map((intent) => paymentItem(store, intent, texts));
  const cards = store
    .list("payment_method")
    .filter(({ customer }) => customer !== null)
    .map((card) => cardItem(card, store.behaviourOf(card.id), bank));
  const part = (title: string, items: readonly string[]) =>
    `<h2>${title}</h2><ul>${items.join("") || `<li>${bank.none}</li>`}</ul>`;
  const content = part(bank.pages, open) + part(bank.payments, payments) + part(bank.cards, cards);
  return page(bank.title, content, terms);
}

/** Says that an action of banks or holders was refused, and why. */
export function refusedPage(
  reason: keyof SandboxTexts["refusals"],
  { language }: Pick<PageTerms, "language">,
): string {
  const { refusedTitle, refusals } = SANDBOX_TEXTS[language];
  return messagePage(refusedTitle, refusals[reason], { language, path: null });
}

/** Says that there is no such page. */
export function missingPage(terms: PageTerms): string {
  const { notFoundTitle, notFound } = SANDBOX_TEXTS[terms.language];
  return messagePage(notFoundTitle, notFound, terms);
}

function messagePage(title: string, message: string, terms: PageTerms): string {
  const { allPayments } = SANDBOX_TEXTS[terms.language];
  return page(title, `<p>${escapeHtml(message)}</p><p><a href="/">${allPayments}</a></p>`, terms);
}

function paymentItem(
  store: SandboxActions["store"],
  { id, amount, status }: SandboxObject,
  texts: SandboxTexts,
): string {
  const { bank } = texts;
  const { actions } = bank;
  const of = (kind: string) => store.list(kind).filter((one) => one.payment_intent === id);
  const paid = of("charge").find((one) => one.paid === true);
  const refund = paid?.refunded === false ? [action(actions.refund, { do: "refund", id })] : [];
  const others = [
    action(actions.dispute, { do: "dispute", id, status: "needs_response" }),
    action(actions.inquire, { do: "dispute", id, status: "warning_needs_response" }),
    action(actions.warn, { do: "warn", id }),
  ];
  const refunds = of("refund").map((one) => {
    const state = wordsFor(String(one.status), bank.refundStates);
    const fail = action(actions.fail, { do: "fail", id: one.id });
    return row(
      bank.refund(centsText(one.amount, texts), state),
      one.status === "failed" ? [] : [fail],
    );
  });
  const disputes = of("dispute").map((one) =>
    row(bank.dispute(wordsFor(String(one.status), bank.disputeStates)), [
      action(actions.win, { do: "move", id: one.id, status: "won" }),
      action(actions.lose, { do: "move", id: one.id, status: "lost" }),
    ]),
  );
  const what = bank.payment(centsText(amount, texts), wordsFor(String(status), bank.paymentStates));
  const first = row(what, paid === undefined ? [] : [...refund, ...others]);
  return `<li>${[first, ...refunds, ...disputes].join("")}</li>`;
}

function cardItem(
  { id, card }: SandboxObject,
  behaviour: string,
  { card: about, change, results }: SandboxTexts["bank"],
): string {
  const { last4 } = { last4: "", ...(card as object) };
  const buttons = BEHAVIOURS.filter((one) => one !== behaviour).map((status) =>
    action(results[status], { do: "behave", id, status }),
  );
  const what = about(last4, wordsFor(behaviour, results));
  return `<li>${row(what, [])}${row(change, buttons)}</li>`;
}

/** A line of text with its buttons. */
function row(text: string, buttons: readonly string[]): string {
  return `<div>${escapeHtml(text)} ${buttons.join("")}</div>`;
}

function action(label: string, fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`,
  );
  return (
    `<form class="inline" method="post" action="/act">${inputs.join("")}` +
    `<button>${escapeHtml(label)}</button></form>`
  );
}

interface FrameTerms extends PageTerms {
  /** Further elements of the head. */
  readonly head?: string;
}

function page(title: string, content: string, terms: FrameTerms): string {
  const { language, head = "" } = terms;
  return (
    `<!doctype html><html lang="${language}"><meta charset="utf-8">` +
    `<title>${escapeHtml(title)}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style>${head}` +
    `<p class="notice">${SANDBOX_TEXTS[language].notice}</p>` +
    `<main><h1>${escapeHtml(title)}</h1>${content}</main>${languageLinks(terms)}</html>`
  );
}

/** The languages of the page, each by its own name. */
function languageLinks({ language, path }: PageTerms): string {
  if (path === null) return "";
  const links = LANGUAGE_TAGS.map((one) =>
    one === language
      ? `<span lang="${one}" aria-current="true">${LANGUAGES[one].name}</span>`
      : `<a href="${escapeHtml(path)}?${LANGUAGE_FIELD}=${one}" lang="${one}" hreflang="${one}">` +
        `${LANGUAGES[one].name}</a>`,
  );
  return `<nav aria-label="${SANDBOX_TEXTS[language].language}">${links.join(" ")}</nav>`;
}

interface CustomText {
  readonly submit?: { readonly message?: string };
}

/** The text that the payer agrees to; as it was sent if it is no text of ours. */
function consentOf({ custom_text: text }: SandboxObject, texts: SandboxTexts): string | null {
  const sent = (text as CustomText | undefined)?.submit?.message ?? null;
  const version = CONSENT_VERSIONS.find((one) => consentText(one) === sent);
  return version === undefined ? sent : texts.consents[version];
}

function wordsFor(code: string, known: Readonly<Record<string, string>>): string {
  return known[code] ?? code;
}

function centsText(cents: unknown, texts: SandboxTexts): string {
  return texts.usd(ofCents(Number(cents)));
}
