// Defines a transactional message (SPEC 2.5, 4.6): its content, its sender, its cost, and its
// retries.

import { MINUTE_MS } from "./durations.ts";
import { charge, type NanoUsd, price } from "./money/money.ts";
import { priceVersionOfUnits } from "./money/price-version.ts";
import { base32 } from "./text/base32.ts";
import { asciiDomain, type MailAddress } from "./text/mail-address.ts";

/** The secret part of a message. This part leaves the process only sealed (core/sealed.ts). */
export interface MailContent {
  /** Distinct addresses, checked. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly fromName: string | null;
  readonly replyTo: string | null;
}

/** `queued` until it ends as `sent` or `failed`; a sent message may still become `bounced`. */
export type MailStatus = "queued" | "sent" | "failed" | "bounced";

/** The reasons why a message failed. */
export type MailFailure =
  /** The mail server refused every recipient, or the message. */
  | "rejected"
  /** No server accepted it within `MAIL.retryForMs`. */
  | "expired"
  /** The content of the mail, or the key of the content, is gone. */
  | "unreadable"
  /** Twice, the server received the whole message and its reply never arrived. */
  | "unanswered";

/** The general reason why a mail server refused a message. */
export type RejectReason = "address" | "mailbox" | "size" | "policy" | "other";

/** SPEC 4.6.5: the price of a message, and of each recipient. */
export const MESSAGE_PRICE = price("0.0010", 1);
export const RECIPIENT_PRICE = price("0.0005", 1);

/** The version of the prices of mail. */
export const MAIL_PRICE_VERSION = priceVersionOfUnits(MESSAGE_PRICE, RECIPIENT_PRICE);

/** SPEC 4.6.5. A message that was accepted for no recipient costs nothing. */
export function mailCost(recipients: number): NanoUsd {
  return charge([
    [recipients > 0 ? 1 : 0, MESSAGE_PRICE],
    [recipients, RECIPIENT_PRICE],
  ]);
}

/** The waits after each temporary failure; the last one repeats. */
const RETRY_DELAYS_MS = [15_000, ...[1, 5, 15, 30, 60, 120, 180].map((m) => m * MINUTE_MS)];

/** The wait after attempt number `attempts` failed temporarily. */
export function retryDelayMs(attempts: number): number {
  const last = RETRY_DELAYS_MS.length - 1;
  return RETRY_DELAYS_MS[Math.min(attempts - 1, last)] ?? MINUTE_MS;
}

const LOCAL_PART_BYTES = 10;

/**
 * The address that all mail of an account is sent from: 80 bits of a digest of its id. The digest
 * needs no registry, does not reveal the id, and does not depend on upper or lower case.
 */
export function senderAddress(accountId: string, mailDomain: string): string {
  const digest = new Bun.CryptoHasher("sha256").update(`mail sender ${accountId}`).digest();
  return `${base32(digest.subarray(0, LOCAL_PART_BYTES))}@${mailDomain}`;
}

/** The address that the service's own mails come from. No account's address has this form. */
export function noReplyAddress(mailDomain: string): string {
  return `no-reply@${mailDomain}`;
}

/** The name of the account in the footer and the display name: its own domain. */
export function accountName(domain: string | null, sender: string): string {
  return (domain === null ? null : asciiDomain(domain)) ?? sender;
}

/** "Ada via Farebox": the suffix is always there, so no account can pose as the service. */
export function displayName(fromName: string | null, domain: string, service: string): string {
  return `${fromName ?? domain} via ${service}`;
}

/** Names the sender of a message to its recipient. */
export function footerText(domain: string, service: string): string {
  return `Sent by ${domain} through ${service}.`;
}

/**
 * True for names that every domain reserves for complaints (RFC 2142): bulk mail must not go there.
 */
export function isRoleAddress({ address }: MailAddress): boolean {
  return /^(?:postmaster|abuse)@/i.test(address);
}
