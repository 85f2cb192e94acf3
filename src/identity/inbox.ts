// Defines one inbox and one network for free credit that is granted by sign-up, and the inboxes
// that get none.

import { isDisposableEmailDomain } from "disposable-email-domains-js";
import { normalizeIp } from "../http/client-ip.ts";

const GOOGLE: ReadonlySet<string> = new Set(["gmail.com", "googlemail.com"]);
const V4_GROUPS = 3;
const V6_GROUPS = 3;

/** One spelling for all addresses of an inbox: tags, and Google's dots, make no difference. */
export function inboxOf(email: string): string {
  const address = email.normalize("NFKC").toLowerCase();
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1);
  const [local = ""] = address.slice(0, at).split("+");
  return GOOGLE.has(domain) ? `${local.replaceAll(".", "")}@gmail.com` : `${local}@${domain}`;
}

/** The network of an address: its /24, or /48 for IPv6. */
export function signUpNetworkOf(ip: string): string | null {
  const address = normalizeIp(ip);
  if (!address.includes(":")) {
    const groups = address.split(".");
    return groups.length < 4 ? null : groups.slice(0, V4_GROUPS).join(".");
  }
  const [head = "", tail = ""] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const missing = address.includes("::") ? 8 - left.length - right.length : 0;
  const all = [...left, ...Array<string>(Math.max(0, missing)).fill("0"), ...right];
  return all
    .slice(0, V6_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

/** True for an address of a disposable inbox service. */
export function isDisposable(email: string): boolean {
  return isDisposableEmailDomain(email.slice(email.lastIndexOf("@") + 1).toLowerCase());
}
