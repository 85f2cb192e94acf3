// The rules of webhooks: receivers of an account, addresses, retries.

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../durations.ts";
import { BrokenRule } from "../text/field-rules.ts";
import { FORM_FIELDS } from "../text/form-fields.ts";

/** The receivers that an account can have. */
export const RECEIVERS_MAX = 5;

/** Events of the test button that an account can send in a minute. */
export const TESTS_PER_MINUTE = 10;

/** Deliveries that one order sends again; the next order finds the others. */
export const REPLAYS_MAX = 1_000;

/** A delivery can be sent again once it began this long ago. */
export const REPLAY_AGAIN_MS = MINUTE_MS;

/** A delivery is retried for this long; then it has failed. */
export const WEBHOOK_RETRY_MS = DAY_MS;

/** After a rotation, the secret before it signs too for this long. */
export const OLD_SECRET_MS = DAY_MS;

/** Deliveries that ended, and the data of their events, are kept for this long. */
export const WEBHOOK_KEEP_MS = 30 * DAY_MS;

const { charactersMax } = FORM_FIELDS.webhookUrl;

/** The ports that public receivers may have. */
const PORTS: ReadonlySet<string> = new Set(["", "443", "8443"]);

/** The waits after each failed attempt; the last one repeats. */
const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
];
const JITTER = 0.2;

/**
 * The wait after attempt number `attempts` failed, a fifth shorter or longer by chance: receivers
 * that failed together are not asked together again. `chance` is at least 0 and below 1.
 */
export function webhookDelayMs(attempts: number, chance: number): number {
  const last = RETRY_DELAYS_MS.length - 1;
  const delayMs = RETRY_DELAYS_MS[Math.min(attempts - 1, last)] ?? MINUTE_MS;
  return Math.round(delayMs * (1 - JITTER + 2 * JITTER * chance));
}

/**
 * The address of a receiver in its normal form, if its form is right (D-644). With `allowPrivate`,
 * as on an intranet, `http:` and any port are right too. Throws a RangeError that names the rule.
 */
export function webhookUrl(
  text: string,
  { allowPrivate }: { readonly allowPrivate: boolean },
): URL {
  const url = URL.parse(text);
  const isWeb = url?.protocol === "https:" || (allowPrivate && url?.protocol === "http:");
  if (url === null || !isWeb) throw new BrokenRule("must begin with https://");
  if (text.length > charactersMax) {
    throw new BrokenRule(`must have at most ${charactersMax} characters`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new BrokenRule("must not contain a name or a password: the signature proves the sender");
  }
  if (!(allowPrivate || PORTS.has(url.port))) {
    throw new BrokenRule("must have no port, or one of 443 and 8443");
  }
  url.hash = "";
  return url;
}
