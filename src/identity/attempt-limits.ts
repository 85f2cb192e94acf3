// Limits how often signing in, signing up, codes and mails may be tried: for each inbox, so that
// its codes are not guessed and it is not flooded, and for each address, so that one address cannot
// try many inboxes.

import { ConsoleError } from "../core/console-errors.ts";
import { keyedHash } from "../core/console-tokens.ts";
import { MINUTE_MS } from "../core/durations.ts";
import { networkOf } from "../http/client-ip.ts";
import type { Attempt, Attempts } from "../store/people/attempts.ts";
import { CODE_SECONDS, CODE_TRIES_MAX, LOCKED_SECONDS, WRONG_FACTORS_MAX } from "./auth-terms.ts";
import { inboxOf, signUpNetworkOf } from "./inbox.ts";

interface Limit {
  readonly limit: number;
  readonly minutes: number;
}

/**
 * The limits of one kind of attempt. An inbox is counted for each address that tries, and in total:
 * an attempt that is refused to an address is not counted for the inbox. A network (/24, IPv6 /48)
 * has limits too, several times as high, because its owner has many addresses.
 */
interface LimitRow {
  readonly address: Limit;
  readonly inboxFromAddress?: Limit;
  readonly inbox?: Limit;
  /** True if answers above the limit of the inbox wait and are not refused (D-503). */
  readonly inboxWaits?: true;
  /**
   * Replaces both limits for a browser that has signed in to the inbox before, so that attempts of
   * strangers use up none of its attempts.
   */
  readonly inboxFromKnownBrowser?: Limit;
  readonly account?: Limit;
  /** Asking for a code gives the browser its own tries; each code that is entered takes one try. */
  readonly tries?: "gives" | "takes";
}

/** The limits of a network as multiples of those of one address: in total, and for one inbox. */
const NETWORK_TIMES = { address: 10, inbox: 3 };

/** Each attempt above the limit of an inbox adds a step to the wait of its answer. */
const WAIT_MS = { step: 100, most: 5_000 };

const HOUR = 60;
/** Twice as long as an app's code is valid, for processes whose clocks differ. */
const APP_CODE_MS = 3 * MINUTE_MS;

const CODE_MS = CODE_SECONDS * 1_000;

/** A browser that signed in is known for this long, from its first sign-in on. */
const KNOWN_MS = 180 * 24 * HOUR * MINUTE_MS;

/** Mails with a proof that signs in, which strangers can ask for (D-503). */
const PROOF_MAILS = {
  address: { limit: 20, minutes: HOUR },
  inboxFromAddress: { limit: 3, minutes: HOUR },
  inbox: { limit: 10, minutes: HOUR },
  inboxFromKnownBrowser: { limit: 3, minutes: HOUR },
} as const;

/** Attempts of strangers only delay the owner of an inbox, and not in a known browser. */
const ATTEMPT_LIMITS = {
  password: {
    address: { limit: 60, minutes: 10 },
    inboxFromAddress: { limit: 10, minutes: 15 },
    inbox: { limit: 100, minutes: HOUR },
    inboxWaits: true,
    inboxFromKnownBrowser: { limit: 10, minutes: 15 },
  },
  sign_up: PROOF_MAILS,
  send_code: { ...PROOF_MAILS, tries: "gives" },
  send_reset: PROOF_MAILS,
  // A person who closes their account may open another one.
  open_account: { address: { limit: 20, minutes: HOUR }, inbox: { limit: 10, minutes: HOUR } },
  // Each mail carries a name that the account's people choose (D-342).
  invite: {
    address: { limit: 60, minutes: HOUR },
    inbox: { limit: 3, minutes: HOUR },
    account: { limit: 100, minutes: 24 * HOUR },
  },
  // Five tries for each of the three codes that one address can have mailed to an inbox in an hour.
  enter_code: {
    address: { limit: 60, minutes: HOUR },
    inboxFromAddress: { limit: 15, minutes: HOUR },
    inbox: { limit: 100, minutes: HOUR },
    inboxWaits: true,
    inboxFromKnownBrowser: { limit: 15, minutes: HOUR },
    tries: "takes",
  },
  // The limit equals the wrong codes that lock the second factor: better-auth looks for the lock
  // before it counts (D-503).
  enter_second_factor: {
    address: { limit: 30, minutes: 10 },
    inbox: { limit: WRONG_FACTORS_MAX, minutes: LOCKED_SECONDS / 60 },
  },
  // A code has 120 random bits; the limits keep a person from trying lists of them.
  redeem_voucher: { address: { limit: 30, minutes: HOUR }, inbox: { limit: 20, minutes: HOUR } },
  use_passkey: { address: { limit: 60, minutes: 10 } },
  use_sso: { address: { limit: 60, minutes: 10 } },
  open_link: { address: { limit: 60, minutes: HOUR } },
} as const satisfies Readonly<Record<string, LimitRow>>;

export type AttemptKind = keyof typeof ATTEMPT_LIMITS;

export interface AttemptLimitsDeps {
  readonly attempts: Attempts;
  readonly now: () => number;
  readonly secret: string;
}

interface Trying {
  readonly clientIp: string;
  readonly email: string | null;
  /** The name of the browser, for kinds that count its own attempts. */
  readonly device?: string;
  /** The id of the account for which it is tried; omitted if the attempt concerns no account. */
  readonly account?: string;
}

/**
 * Counts an attempt. Returns the milliseconds for which its answer must wait.
 * @throws ConsoleError if there were too many
 */
export async function countAttempt(
  { attempts, now, secret }: AttemptLimitsDeps,
  kind: AttemptKind,
  { clientIp, email, device, account }: Trying,
): Promise<number> {
  const row: LimitRow = ATTEMPT_LIMITS[kind];
  const address = networkOf(clientIp);
  const network = signUpNetworkOf(clientIp);
  const inbox = email === null ? null : inboxOf(email);
  const browser = inbox === null || device === undefined ? null : browserOf(inbox, device);
  const isKnown =
    row.inboxFromKnownBrowser !== undefined &&
    browser !== null &&
    (await attempts.has(keyOf(secret, "signed_in", browser), now()));
  const ofInbox = isKnown ? undefined : row.inboxFromAddress;
  const counted: readonly (readonly [Limit | undefined, string | null])[] = [
    [row.address, `address ${address}`],
    [times(row.address, NETWORK_TIMES.address), network && `network ${network}`],
    [ofInbox, inbox && `inbox ${inbox} from ${address}`],
    [times(ofInbox, NETWORK_TIMES.inbox), inbox && network && `inbox ${inbox} from ${network}`],
    [isKnown || row.inboxWaits ? undefined : row.inbox, inbox && `inbox ${inbox}`],
    [isKnown ? row.inboxFromKnownBrowser : undefined, browser],
    [row.account, account === undefined ? null : `account ${account}`],
  ];
  const entries = counted.flatMap(([limit, who]): Attempt[] => {
    if (limit === undefined || who === null) return [];
    const windowMs = limit.minutes * MINUTE_MS;
    return [{ key: keyOf(secret, kind, who), limit: limit.limit, windowMs }];
  });
  const waitMs = await attempts.count(entries, now());
  if (waitMs > 0) {
    const seconds = Math.ceil(waitMs / 1_000);
    throw new ConsoleError(
      "too_many_attempts",
      `There were too many attempts. Try again in ${inWords(seconds)}`,
      seconds,
    );
  }
  if (browser !== null && row.tries === "gives") {
    await attempts.begin(keyOf(secret, "code_try", browser), now(), CODE_MS);
  }
  if (inbox !== null && row.tries === "takes") {
    await takeTry({ attempts, now, secret }, { inbox, browser, isKnown });
  }
  if (isKnown || row.inboxWaits !== true || row.inbox === undefined || inbox === null) return 0;
  const windowMs = row.inbox.minutes * MINUTE_MS;
  const key = keyOf(secret, kind, `inbox ${inbox}`);
  const beyond = (await attempts.add(key, now(), windowMs)) - row.inbox.limit;
  return Math.min(Math.max(0, beyond) * WAIT_MS.step, WAIT_MS.most);
}

/**
 * Takes a try of a mailed code. A browser that asked for a code or has signed in has its own tries;
 * all other browsers share as many for an inbox (D-503).
 * @throws ConsoleError if no try is left
 */
async function takeTry(
  { attempts, now, secret }: AttemptLimitsDeps,
  {
    inbox,
    browser,
    isKnown,
  }: { readonly inbox: string; readonly browser: string | null; readonly isKnown: boolean },
): Promise<void> {
  const own = browser === null ? null : keyOf(secret, "code_try", browser);
  const hasOwn = own !== null && (isKnown || (await attempts.has(own, now())));
  const key = hasOwn ? own : keyOf(secret, "code_try", `inbox ${inbox}`);
  if ((await attempts.add(key, now(), CODE_MS)) <= CODE_TRIES_MAX) return;
  throw new ConsoleError("otp_expired", "There were too many wrong codes. Ask for another code");
}

function times(limit: Limit | undefined, factor: number): Limit | undefined {
  return limit && { ...limit, limit: limit.limit * factor };
}

/**
 * Takes a code of a person's app before it is compared: if several requests bring the same code,
 * only one goes on.
 * @throws ConsoleError for the other requests
 */
export async function takeCode(
  deps: AttemptLimitsDeps,
  personId: string,
  code: string,
): Promise<void> {
  if (await isFirst(deps, `code ${personId} ${code}`, APP_CODE_MS)) return;
  const message = "This code was entered already. Wait for the next one";
  throw new ConsoleError("code_used", message);
}

/** True for the first call about the same `what` within this time. */
export async function isFirst(
  { attempts, now, secret }: AttemptLimitsDeps,
  what: string,
  windowMs: number,
): Promise<boolean> {
  const entry = { key: keyOf(secret, "first", what), limit: 1, windowMs };
  return (await attempts.count([entry], now())) === 0;
}

/** Notes that a browser signed in with this address, so that it is known there. */
export async function noteSignIn(
  { attempts, now, secret }: AttemptLimitsDeps,
  { email, device }: { readonly email: string; readonly device: string },
): Promise<void> {
  const key = keyOf(secret, "signed_in", browserOf(inboxOf(email), device));
  await attempts.count([{ key, limit: Number.POSITIVE_INFINITY, windowMs: KNOWN_MS }], now());
}

function browserOf(inbox: string, device: string): string {
  return `inbox ${inbox} from browser ${device}`;
}

type CountedKind = AttemptKind | "signed_in" | "first" | "code_try";

function keyOf(secret: string, kind: CountedKind, who: string): string {
  return `${kind} ${keyedHash(secret, "attempt", who)}`;
}

function inWords(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (minutes > 2 * HOUR) return `${Math.ceil(minutes / HOUR)} hours`;
  return seconds <= 60 ? `${seconds} seconds` : `${minutes} minutes`;
}
