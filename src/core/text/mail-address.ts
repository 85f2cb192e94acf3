// Parses mail addresses from untrusted input: one plain addr-spec, and nothing that a mail library
// could read as a list, a group, a comment or a command (RFC 5321 4.1.2, RFC 5322 3.4.1).

import { domainToASCII } from "node:url";
import { FORM_FIELDS } from "./form-fields.ts";

/** An address with a lower-case ASCII domain; the local part is unchanged. */
export interface MailAddress {
  readonly address: string;
  readonly domain: string;
}

/** RFC 5321 4.5.3.1: octets. */
const LOCAL_MAX = 64;
const LABEL_MAX = 63;
const DOMAIN_MAX = 253;
const ADDRESS_MAX = FORM_FIELDS.email.charactersMax;
const TOO_LONG = `is longer than ${ADDRESS_MAX} characters`;

// A dot-atom without '%' and '!': some servers read these as routes to another address.
const LOCAL = /^[A-Za-z0-9#$&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9#$&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/**
 * The stricter forms that better-auth accepts: fewer characters, and letters alone in the last
 * label.
 */
const SIGN_IN_LOCAL = /^[\w.+'-]*[\w+-]$/;
const SIGN_IN_TOP = /\.[a-z]{2,}$/;
/** Characters of a domain before its conversion to ASCII. IDNA maps none of them to a dot. */
const DOMAIN_LETTERS = /^[\p{L}\p{M}\p{N}.-]+$/u;

/** Returns the address, or why it is invalid: "has no '@'". */
export function parseAddress(text: string): MailAddress | string {
  if (text.length > ADDRESS_MAX) return TOO_LONG;
  const at = text.lastIndexOf("@");
  if (at < 0) return "has no '@'";
  const local = text.slice(0, at);
  if (!LOCAL.test(local)) return "must be one plain address, such as ada@example.org";
  if (local.length > LOCAL_MAX) return `has more than ${LOCAL_MAX} characters before the '@'`;
  const domain = asciiDomain(text.slice(at + 1));
  if (domain === null) return "has no valid domain";
  const address = `${local}@${domain}`;
  if (address.length > ADDRESS_MAX) return TOO_LONG;
  return { address, domain };
}

/**
 * Returns an address to sign in with, in lower case, or why it is invalid. The check accepts
 * nothing that better-auth refuses: a person with such an address could never sign in again
 * (D-230).
 */
export function parseSignInAddress(text: string): MailAddress | string {
  const parsed = parseAddress(text);
  if (typeof parsed === "string") return parsed;
  const address = parsed.address.toLowerCase();
  if (!SIGN_IN_LOCAL.test(address.slice(0, address.lastIndexOf("@")))) {
    return "may have only letters, digits and . _ + - ' before the '@', and not ' as the last";
  }
  if (!SIGN_IN_TOP.test(parsed.domain)) {
    return "must end in a domain of plain letters, such as .org, to sign in with";
  }
  return { ...parsed, address };
}

/** A public domain in lower-case ASCII, or null: `Bücher.test` is `xn--bcher-kva.test`. */
export function asciiDomain(text: string): string | null {
  // Converting a long text takes the square of its length, and its ASCII is not shorter.
  if (text.length > DOMAIN_MAX || text.split(".").some(isLongLabel)) return null;
  if (!DOMAIN_LETTERS.test(text)) return null;
  const domain = domainToASCII(text).toLowerCase();
  const labels = domain.split(".");
  const top = labels.at(-1) ?? "";
  const isPublic = labels.length > 1 && !/^\d+$/.test(top) && domain.length <= DOMAIN_MAX;
  return isPublic && labels.every((label) => LABEL.test(label)) ? domain : null;
}

function isLongLabel({ length }: string): boolean {
  return length > LABEL_MAX;
}

/** True for the domain itself and for every domain below it. */
export function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

/**
 * The addresses in their order without duplicates. `parseAddress` has lowered the case of domains.
 */
export function distinct(addresses: readonly MailAddress[]): MailAddress[] {
  return [...new Map(addresses.map((address) => [address.address, address])).values()];
}

/** The domains of addresses, each once, sorted. Only domains are stored (SPEC 2.5). */
export function domainsOf(addresses: readonly MailAddress[]): string[] {
  return [...new Set(addresses.map(({ domain }) => domain))].sort();
}
