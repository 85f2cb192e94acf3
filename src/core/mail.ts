// A transactional message (SPEC 2.5, 4.6): what it holds, who it is from, what it costs, and when
// it is tried again.

import { base32 } from "./base32.ts";
import { asciiDomain, type MailAddress } from "./mail-address.ts";
import { charge, type NanoUsd, price } from "./money.ts";
import { priceVersionOfUnits } from "./price-version.ts";

/** All that is secret of a message. It leaves the process only sealed (core/sealed.ts). */
export interface MailContent {
  /** Distinct addresses, checked. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly fromName: string | null;
  readonly replyTo: string | null;
}

/** `queued` until it ends as `sent` or `failed`; a sent one may still come back as `bounced`. */
export type MailStatus = "queued" | "sent" | "failed" | "bounced";

/** Why a message failed. */
export type MailFailure =
  /** The mail server refused every recipient, or the message. */
  | "rejected"
  /** No server took it within `MAIL.retryForMs`. */
  | "expired"
  /** Its content or the key of it is gone. */
  | "unreadable"
  /** Twice the server was told all of it, and its answer never arrived. */
  | "unanswered";

/** In general words, what a mail server refused a message for. */
export type RejectReason = "address" | "mailbox" | "size" | "policy" | "other";

const MESSAGE_PRICE = price("0.0010", 1);
const RECIPIENT_PRICE = price("0.0005", 1);

/** Which prices a message is charged by. */
export const MAIL_PRICE_VERSION = priceVersionOfUnits(MESSAGE_PRICE, RECIPIENT_PRICE);

/** SPEC 4.6.5; a message that no recipient's server took costs nothing. */
export function mailCost(recipients: number): NanoUsd {
  return charge([
    [recipients > 0 ? 1 : 0, MESSAGE_PRICE],
    [recipients, RECIPIENT_PRICE],
  ]);
}

const MINUTE_MS = 60_000;
/** After each temporary failure; the last one repeats. */
const RETRY_DELAYS_MS = [15_000, ...[1, 5, 15, 30, 60, 120, 180].map((m) => m * MINUTE_MS)];

/** How long to wait after the `attempts`-th attempt failed for now. */
export function retryDelayMs(attempts: number): number {
  const last = RETRY_DELAYS_MS.length - 1;
  return RETRY_DELAYS_MS[Math.min(attempts - 1, last)] ?? MINUTE_MS;
}

const LOCAL_PART_BYTES = 10;

/**
 * The address that all mail of an account is sent from: 80 bits of a digest of its id, so that it
 * needs no registry, does not tell the id, and reads the same in either case.
 */
export function senderAddress(accountId: string, mailDomain: string): string {
  const digest = new Bun.CryptoHasher("sha256").update(`mail sender ${accountId}`).digest();
  return `${base32(digest.subarray(0, LOCAL_PART_BYTES))}@${mailDomain}`;
}

/** What the footer and the display name call the account: the domain of its own address. */
export function accountDomain(email: string | null, sender: string): string {
  const domain = email === null ? null : asciiDomain(email.slice(email.lastIndexOf("@") + 1));
  return domain ?? sender;
}

/** "Ada via Farebox": the suffix is always there, so that nobody can speak as the service. */
export function displayName(fromName: string | null, domain: string, service: string): string {
  return `${fromName ?? domain} via ${service}`;
}

/** What the recipient is told about where a message comes from. */
export function footerText(domain: string, service: string): string {
  return `Sent by ${domain} through ${service}.`;
}

/** True for names that every domain keeps for complaints (RFC 2142): nobody mails them in bulk. */
export function isRoleAddress({ address }: MailAddress): boolean {
  return /^(?:postmaster|abuse)@/i.test(address);
}
