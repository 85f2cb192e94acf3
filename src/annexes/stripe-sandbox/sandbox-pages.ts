// Writes the pages of the sandbox, for a person with a browser. Each says that no real money moves.

import { ofCents, toDecimal } from "../../core/money/money.ts";
import { escapeHtml } from "../../core/text/html.ts";
import type { SandboxActions } from "./sandbox-actions.ts";
import type { SandboxObject } from "./sandbox-store.ts";
import { BEHAVIOURS, TEST_CARDS } from "./test-cards.ts";

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}" +
  "p.notice{background:#ffd;border:1px solid #cc8;padding:.5rem .75rem}" +
  "fieldset{border:1px solid #bbb;margin:0 0 1rem}label{display:block}button{font:inherit}" +
  "form.inline{display:inline-block;margin:0 .5rem .5rem 0}";
const NOTICE = "This is the sandbox of Farebox. It is not Stripe, and no real money moves.";

/** The page where a top-up is paid. */
export function paymentPage(session: SandboxObject, problem: string | null): string {
  const amount = dollars(session.amount_total);
  const consent = consentOf(session);
  const cards = TEST_CARDS.map(
    ({ number, about }, index) =>
      `<label><input type="radio" name="card" value="${number}"${index === 0 ? " checked" : ""}> ` +
      `${number.replaceAll(/(\d{4})(?=\d)/g, "$1 ")} ${escapeHtml(about)}</label>`,
  ).join("");
  const form =
    session.status === "open"
      ? `<form method="post"><fieldset><legend>Test card</legend>${cards}</fieldset>` +
        `${consent === null ? "" : `<p>${escapeHtml(consent)}</p>`}` +
        `<button>Pay ${amount}</button></form>`
      : `<p>This page is ${escapeHtml(String(session.status))}.</p>`;
  const said =
    problem === null ? "" : `<p role="alert"><strong>${escapeHtml(problem)}</strong></p>`;
  const { cancel_url: cancel } = session;
  const back =
    typeof cancel === "string" ? `<p><a href="${escapeHtml(cancel)}">Back, unpaid</a></p>` : "";
  return page(`Pay ${amount}`, said + linesOf(session) + form + back);
}

/** Lists the items that the payment is for. */
function linesOf({ line_items, total_details }: SandboxObject): string {
  const { data } = { data: [], ...(line_items as { data?: readonly Line[] } | undefined) };
  const { amount_tax: tax } = { amount_tax: 0, ...(total_details as object | undefined) };
  const rows = data.map(({ description, amount_subtotal }) => row(description, amount_subtotal));
  return `<ul>${rows.join("")}${tax > 0 ? row("Tax", tax) : ""}</ul>`;
}

interface Line {
  readonly description: string;
  readonly amount_subtotal: number;
}

function row(name: string, cents: number): string {
  return `<li>${escapeHtml(name)}: ${dollars(cents)}</li>`;
}

/** The receipt of a payment. */
export function receiptPage({ id, amount_received }: SandboxObject): string {
  return page("Receipt", `<p>Paid: ${dollars(amount_received)}</p><p>${escapeHtml(id)}</p>`);
}

/** An invoice or a credit note, in place of Stripe's PDF. */
export function documentPage(document: SandboxObject | null): string {
  if (document === null) return messagePage("Not found", "There is no such document.");
  const title = document.object === "invoice" ? "Invoice" : "Credit note";
  const number = escapeHtml(String(document.number));
  return page(title, `<p>${title} ${number}: ${dollars(document.total)}</p>`);
}

/**
 * Writes the page after a payment, which leads back to the caller's page; Stripe goes there at
 * once.
 */
export function paidPage(returnUrl: string): string {
  const url = escapeHtml(returnUrl);
  return page(
    "Paid",
    `<p>The payment has succeeded. No real money has moved.</p><p><a href="${url}">Back</a></p>` +
      '<p><a href="/">All payments</a></p>',
    `<meta http-equiv="refresh" content="1;url=${url}">`,
  );
}

/** Writes the page with a button for each action of banks and holders. */
export function overviewPage({ store }: SandboxActions): string {
  const open = store
    .list("checkout.session")
    .filter(({ status }) => status === "open")
    .map(
      ({ id, amount_total }) => `<li><a href="/pay/${id}">Pay ${dollars(amount_total)}</a></li>`,
    );
  const payments = store.list("payment_intent").map((intent) => paymentItem(store, intent));
  const cards = store
    .list("payment_method")
    .filter(({ customer }) => customer !== null)
    .map((card) => cardItem(card, store.behaviourOf(card.id)));
  return page(
    "Sandbox",
    `<h2>Pages to pay</h2><ul>${open.join("") || "<li>none</li>"}</ul>` +
      `<h2>Payments</h2><ul>${payments.join("") || "<li>none</li>"}</ul>` +
      `<h2>Saved cards</h2><ul>${cards.join("") || "<li>none</li>"}</ul>`,
  );
}

/** A page with one sentence. */
export function messagePage(title: string, message: string): string {
  return page(title, `<p>${escapeHtml(message)}</p><p><a href="/">All payments</a></p>`);
}

function paymentItem(store: SandboxActions["store"], intent: SandboxObject): string {
  const of = (kind: string) => store.list(kind).filter((one) => one.payment_intent === intent.id);
  const disputes = of("dispute").flatMap(({ id, status }) => [
    `<br>dispute ${escapeHtml(String(status))} `,
    action("Win", { do: "move", id, status: "won" }),
    action("Lose", { do: "move", id, status: "lost" }),
  ]);
  const refunds = of("refund").flatMap(({ id, status, amount }) => [
    `<br>refund of ${dollars(amount)} ${escapeHtml(String(status))} `,
    ...(status === "failed" ? [] : [action("Let it fail", { do: "fail", id })]),
  ]);
  const actions =
    intent.status === "succeeded"
      ? [
          action("Refund", { do: "refund", id: intent.id }),
          action("Dispute", { do: "dispute", id: intent.id, status: "needs_response" }),
          action("Ask", { do: "dispute", id: intent.id, status: "warning_needs_response" }),
          action("Warn of fraud", { do: "warn", id: intent.id }),
        ]
      : [];
  const what = `${dollars(intent.amount)} ${escapeHtml(String(intent.status))} `;
  return `<li>${[what, ...actions, ...refunds, ...disputes].join("")}</li>`;
}

function cardItem({ id, card }: SandboxObject, behaviour: string): string {
  const { last4 } = { last4: "", ...(card as object) };
  const others = BEHAVIOURS.filter((one) => one !== behaviour);
  const buttons = others.map((status) => action(status, { do: "behave", id, status })).join("");
  const what = `•••• ${escapeHtml(last4)}, when charged: ${escapeHtml(behaviour)}.`;
  return `<li>${what} Make it ${buttons}</li>`;
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

function page(title: string, content: string, head = ""): string {
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style>${head}` +
    `<p class="notice">${NOTICE}</p><h1>${escapeHtml(title)}</h1>${content}</html>`
  );
}

interface CustomText {
  readonly submit?: { readonly message?: string };
}

function consentOf({ custom_text: text }: SandboxObject): string | null {
  return (text as CustomText | undefined)?.submit?.message ?? null;
}

function dollars(cents: unknown): string {
  return `$${toDecimal(ofCents(Number(cents)))}`;
}
