// Defines the mails of the service itself, such as receipts and codes: their kinds, and their one
// layout.

import type { Brand } from "./brand/brand.ts";
import { textOn } from "./brand/colours.ts";
import { HOUR_MS } from "./durations.ts";
import type { Language } from "./languages.ts";
import { headerText } from "./text/header-text.ts";
import { escapeHtml } from "./text/html.ts";

interface KindRow {
  /**
   * The most mails to one inbox in an hour, if a stranger or a program can cause any number; null
   * for all.
   */
  readonly perHour: number | null;
  /**
   * True if the mail brings a code or a link that ends: sending the mail again later would be of no
   * use.
   */
  readonly bringsProof: boolean;
}

const PROOF = { perHour: 3, bringsProof: true } as const;
/**
 * The limit of mails with which people without a password sign in. Windows limit the attempts
 * first: two windows of strangers' attempts can fall into one hour, and each browser that signed in
 * before has windows of its own (D-503).
 */
const SIGN_IN_PROOF = { perHour: 30, bringsProof: true } as const;
const NEWS = { perHour: null, bringsProof: false } as const;

/** Every kind of mail that the service sends. */
export const SERVICE_MAILS = {
  verification: PROOF,
  password_reset: SIGN_IN_PROOF,
  one_time_code: SIGN_IN_PROOF,
  invitation: PROOF,
  security_notice: NEWS,
  receipt: NEWS,
  charge_failed: NEWS,
  auto_top_up_paused: NEWS,
  plan_ended: NEWS,
  refund: NEWS,
  dispute_opened: NEWS,
  dispute_decided: NEWS,
  low_balance: NEWS,
  free_credit_ending: NEWS,
  webhook_disabled: NEWS,
  /**
   * The most mails for many keys that spend fast at once: activity, webhooks and the page of limits
   * show all of these keys.
   */
  key_burn_rate: { perHour: 20, bringsProof: false },
} as const satisfies Readonly<Record<string, KindRow>>;

export type ServiceMailKind = keyof typeof SERVICE_MAILS;

/** The time in which mails to one inbox are limited. */
export const LIMIT_WINDOW_MS = HOUR_MS;

/** A mail is retried for this long before it is given up. */
export const SERVICE_MAIL_RETRY_MS = 24 * HOUR_MS;

/** A mail that was given up keeps its content for this long, so that it can be sent again. */
export const FAILED_MAIL_KEEP_MS = 7 * 24 * HOUR_MS;

/** True if a mail of this stored kind can be sent again after it was given up. */
export function isResendable(kind: string): boolean {
  const rows: Readonly<Record<string, KindRow>> = SERVICE_MAILS;
  return rows[kind]?.bringsProof === false;
}

/** The language of a mail, and its texts that every mail has. */
export interface MailReader {
  readonly language: Language;
  readonly why: (service: string) => string;
  readonly questions: (address: string) => string;
}

export const ENGLISH_READER: MailReader = {
  language: "en",
  why: (service) => `${service} sent this mail because of your account or a request for it.`,
  questions: (address) => `Questions: ${address}`,
};

export interface ServiceMailParts {
  /** The name and look of the service. */
  readonly brand: Brand;
  /** By default somebody who reads English. */
  readonly reader?: MailReader;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** An address to open: `https:`, or `http:` in development. */
  readonly button?: { readonly label: string; readonly url: string };
  readonly facts?: readonly (readonly [name: string, value: string])[];
}

export interface ServiceMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * A mail as text and as HTML, which says the same and requests nothing from outside. Text from
 * others is safe in every part: it stays one line, and is escaped. Throws a RangeError for a button
 * without a web address.
 */
export function serviceMail(parts: ServiceMailParts): ServiceMail {
  const { button } = parts;
  const clean: ServiceMailParts = {
    ...parts,
    brand: { ...parts.brand, name: headerText(parts.brand.name) },
    paragraphs: parts.paragraphs.map(headerText),
    ...(button !== undefined && {
      button: { label: headerText(button.label), url: webAddress(button.url) },
    }),
    facts: (parts.facts ?? []).map(([name, value]) => [headerText(name), headerText(value)]),
  };
  return { subject: headerText(parts.subject), text: plainText(clean), html: htmlOf(clean) };
}

function webAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new RangeError("The button of a mail must lead to an address of the web");
  }
  return url.href;
}

/** The end of a mail: the reason why it was sent, where to ask, and the legal pages. */
function lastLines({ brand, reader = ENGLISH_READER }: ServiceMailParts): string[] {
  const { name, supportEmail, links } = brand;
  const help = supportEmail === null ? [] : [reader.questions(supportEmail)];
  return [reader.why(name), ...help, ...links.map(({ label, url }) => `${label}: ${url}`)];
}

function plainText(parts: ServiceMailParts): string {
  const { paragraphs, facts = [], button } = parts;
  const table = facts.map(([name, value]) => `${name}: ${value}`).join("\n");
  const blocks = [
    ...paragraphs,
    ...(table === "" ? [] : [table]),
    ...(button === undefined ? [] : [`${button.label}:\n${button.url}`]),
    `-- \n${lastLines(parts).join("\n")}`,
  ];
  return `${blocks.join("\n\n")}\n`;
}

const BODY_STYLE =
  "margin:0;padding:24px;background:#f6f6f4;color:#1c1c1a;" +
  "font:16px/1.5 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const CARD_STYLE =
  "max-width:560px;margin:0 auto;padding:28px 32px;background:#ffffff;" +
  "border:1px solid #e2e2dc;border-radius:8px";
const BUTTON_STYLE =
  "display:inline-block;padding:10px 18px;border-radius:6px;" +
  "text-decoration:none;font-weight:600";
const NAME_STYLE = "padding:6px 16px 6px 0;color:#5c5c56;vertical-align:top;white-space:nowrap";
const VALUE_STYLE = "padding:6px 0;vertical-align:top;font-variant-numeric:tabular-nums";

function htmlOf(parts: ServiceMailParts): string {
  const { brand, reader = ENGLISH_READER, subject, paragraphs, facts = [], button } = parts;
  const rows = facts.map(
    ([name, value]) =>
      `<tr><td style="${NAME_STYLE}">${escapeHtml(name)}</td>` +
      `<td style="${VALUE_STYLE}">${escapeHtml(value)}</td></tr>`,
  );
  const { light } = brand.accent;
  const buttonStyle = `${BUTTON_STYLE};background:${light};color:${textOn(light)}`;
  const url = button === undefined ? "" : escapeHtml(button.url);
  return [
    `<!doctype html><html lang="${reader.language}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width">',
    `<title>${escapeHtml(headerText(subject))}</title></head><body style="${BODY_STYLE}">`,
    `<div style="${CARD_STYLE}"><p style="margin:0 0 20px;font-weight:700">`,
    `${escapeHtml(brand.name)}</p>`,
    ...paragraphs.map((text) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`),
    ...(rows.length === 0
      ? []
      : [`<table role="presentation" style="margin:0 0 16px">${rows.join("")}</table>`]),
    ...(button === undefined
      ? []
      : [
          `<p style="margin:24px 0"><a href="${url}" style="${buttonStyle}">`,
          `${escapeHtml(button.label)}</a></p>`,
          '<p style="margin:0 0 16px;font-size:13px;color:#5c5c56;word-break:break-all">',
          `${url}</p>`,
        ]),
    '<p style="margin:24px 0 0;font-size:13px;color:#5c5c56">',
    `${lastLines(parts).map(escapeHtml).join("<br>")}</p></div></body></html>`,
  ].join("\n");
}

/** A time as mails of the service write it: `2026-11-21 14:30 UTC`. */
export function mailTime(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
