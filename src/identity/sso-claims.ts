// Reads a single sign-on provider's claims about a person strictly: a claim that is missing or of
// another type says nothing.

import { parseAddress } from "../core/text/mail-address.ts";
import { type OidcClaims, OidcRefused } from "./providers/oidc-client.ts";

const NAME_LENGTH_MAX = 64;

/**
 * The kinds of proof of RFC 8176. Codes by text message and telephone are missing on purpose: other
 * people can read them too easily.
 */
const METHODS: readonly (readonly string[])[] = [
  ["pwd", "pin", "kba"],
  ["otp", "hwk", "swk", "sc", "pop"],
  ["face", "fpt", "iris", "retina", "vbm"],
];

/** The verified address, in lower case. @throws OidcRefused */
export function claimedAddress({ email, emailVerified }: OidcClaims): string {
  if (typeof email !== "string") throw new OidcRefused("the provider names no address");
  if (emailVerified !== true) {
    throw new OidcRefused("the provider does not say that the address is verified");
  }
  const parsed = parseAddress(email);
  if (typeof parsed === "string") throw new OidcRefused(`the address ${parsed}`);
  return parsed.address.toLowerCase();
}

/** The name of a person; "" if the provider does not give one. */
export function claimedName({ name }: OidcClaims): string {
  return typeof name === "string" ? name.trim().slice(0, NAME_LENGTH_MAX) : "";
}

export function isInGroup({ groups }: OidcClaims, group: string): boolean {
  return Array.isArray(groups) && groups.includes(group);
}

/**
 * True if the provider says that a second factor was used: by the configured `acr`, or by an `amr`
 * that says so or names two kinds of proof. One kind alone, such as a code of an app, is one
 * factor (D-259).
 */
export function hasSecondFactor({ amr, acr }: OidcClaims, configuredAcr: string | null): boolean {
  if (configuredAcr !== null && acr === configuredAcr) return true;
  if (!Array.isArray(amr)) return false;
  if (amr.includes("mfa")) return true;
  return METHODS.filter((kind) => kind.some((method) => amr.includes(method))).length > 1;
}

/** The time when the person last proved who they are; 1970 if the provider does not say. */
export function provedAtOf({ authTime }: OidcClaims, nowMs: number): Date {
  const isKnown = typeof authTime === "number" && Number.isFinite(authTime) && authTime >= 0;
  return new Date(isKnown ? Math.min(authTime * 1_000, nowMs) : 0);
}
