// The numbers of SPEC 8 and the durations that DESIGN left to us. Nothing else holds a limit.

import { AMOUNT_MAX, type NanoUsd, usd } from "./money.ts";

export const SERVICES = ["models", "search", "maps", "mail"] as const;
/** A service is named by the scope that opens it (SPEC 5.3). */
export type Scope = (typeof SERVICES)[number];

export type TierName = "free" | "starter" | "build" | "scale" | "pro" | "enterprise";

/** What an application account is subscribed to (SPEC 8.6). */
export const PLAN_NAMES = ["free", "starter", "pro", "max"] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

/** What limits an account: the tier of a Gateway account, or the plan of an application account. */
export interface Tier {
  readonly kind: "tier" | "plan";
  readonly name: TierName | PlanName;
  /** What each key carries. */
  readonly requestsPerMinute: number;
  /** What all keys carry together; null where only each for itself is limited. */
  readonly accountRequestsPerMinute: number | null;
  readonly streams: number;
  readonly monthlyCap: NanoUsd;
  /** What unlocks the tier; null where it comes by sign-up or contract. */
  readonly unlock: { readonly paid: NanoUsd; readonly days: number } | null;
  readonly services: readonly Scope[];
  /** Queries of one batch search (SPEC 4.4). */
  readonly batchSearches: number;
  /** SPEC 8.3; null where the tier has no mail. */
  readonly mail: MailLimits | null;
}

export interface MailLimits {
  /** In a UTC day. */
  readonly recipientsPerDay: number;
  readonly messagesPerMinute: number;
  readonly recipientsPerMessage: number;
}

const MAIL_LIMITS: Readonly<Partial<Record<TierName, MailLimits>>> = {
  build: { recipientsPerDay: 100, messagesPerMinute: 5, recipientsPerMessage: 10 },
  scale: { recipientsPerDay: 1_000, messagesPerMinute: 30, recipientsPerMessage: 50 },
  pro: { recipientsPerDay: 10_000, messagesPerMinute: 120, recipientsPerMessage: 100 },
  enterprise: { recipientsPerDay: 100_000, messagesPerMinute: 600, recipientsPerMessage: 500 },
};

/** SPEC 4.4, 8.1, 8.2 and 8.3, lowest first. */
export const TIERS = [
  tier("free", 20, 2, "5", null, ["models"], 0),
  tier("starter", 60, 5, "100", ["5", 0], ["models", "search", "maps"], 10),
  tier("build", 300, 20, "1000", ["50", 7], SERVICES, 50),
  tier("scale", 1000, 50, "5000", ["250", 14], SERVICES, 100),
  tier("pro", 3000, 100, "25000", ["1000", 30], SERVICES, 100),
  tier("enterprise", 10_000, 400, "250000", null, SERVICES, 100),
] as const satisfies readonly Tier[];

const PLAN_KEY_REQUESTS_PER_MINUTE = 60;
/** More than the widest plan's requests can keep open: a stream ends after 15 minutes. */
const PLAN_STREAMS = 2_000;

/** SPEC 8.6. Nothing but the credits caps what a plan spends. */
export const PLANS = {
  free: plan("free", 10),
  starter: plan("starter", 30),
  pro: plan("pro", 60),
  max: plan("max", 120),
} as const satisfies Record<PlanName, Tier>;

/** What the Free plan grants each month, unless it is configured (docs/configuration.md). */
export const FREE_PLAN_ALLOWANCE = usd("1");

export interface TierInputs {
  /** An application account's; null in the Gateway, where payments decide. */
  readonly plan: PlanName | null;
  /** Lifetime payments net of refunds. */
  readonly netPaid: NanoUsd;
  readonly firstPaymentAtMs: number | null;
  readonly contract: "enterprise" | null;
}

export const DAY_MS = 86_400_000;

/**
 * What limits an account at `nowMs`: its plan, or the tier that follows from its payments (SPEC
 * 3.4, 8.1), which is derived at each admission and never stored.
 */
export function deriveTier(inputs: TierInputs, nowMs: number): Tier {
  if (inputs.plan !== null) return PLANS[inputs.plan];
  if (inputs.contract === "enterprise") return TIERS[5];
  let best: Tier = TIERS[0];
  for (const candidate of TIERS) if (unlocks(candidate, inputs, nowMs)) best = candidate;
  return best;
}

/** The next tier that payments and time can unlock; null at the top, and for a plan. */
export function nextTier(current: Tier): Tier | null {
  if (current.kind === "plan") return null;
  const next = TIERS[TIERS.findIndex((row) => row.name === current.name) + 1];
  return next?.unlock ? next : null;
}

function unlocks(candidate: Tier, inputs: TierInputs, nowMs: number): boolean {
  if (candidate.unlock === null || inputs.firstPaymentAtMs === null) return false;
  if (inputs.netPaid < candidate.unlock.paid) return false;
  return nowMs - inputs.firstPaymentAtMs >= candidate.unlock.days * DAY_MS;
}

function tier(
  name: TierName,
  requestsPerMinute: number,
  streams: number,
  monthlyCap: string,
  unlock: readonly [paid: string, days: number] | null,
  services: readonly Scope[],
  batchSearches: number,
): Tier {
  return {
    kind: "tier",
    name,
    requestsPerMinute,
    accountRequestsPerMinute: null,
    streams,
    monthlyCap: usd(monthlyCap),
    unlock: unlock && { paid: usd(unlock[0]), days: unlock[1] },
    services,
    batchSearches,
    mail: MAIL_LIMITS[name] ?? null,
  };
}

function plan(name: PlanName, accountRequestsPerMinute: number): Tier {
  return {
    kind: "plan",
    name,
    requestsPerMinute: PLAN_KEY_REQUESTS_PER_MINUTE,
    accountRequestsPerMinute,
    streams: PLAN_STREAMS,
    monthlyCap: AMOUNT_MAX,
    unlock: null,
    services: ["models"],
    batchSearches: 0,
    mail: null,
  };
}

export const FREE_CREDIT = usd("5");
export const FREE_CREDIT_DAYS = 90;
export const IP_HASH_DAYS = 90;

/** SPEC 8.4. */
export const CHAT = {
  messagesMax: 256,
  maxTokensDefault: 4096,
  maxTokensMax: 32_768,
  temperatureMax: 2,
  topPMax: 1,
  streamIdleMs: 90_000,
  streamMaxMs: 15 * 60_000,
  bodyBytesMax: 4 * 1024 * 1024,
} as const;

/** What SPEC 4.3 leaves open (docs/search.md). */
export const SEARCH = {
  queryCharactersMax: 400,
  maxResultsDefault: 10,
  maxResultsMax: 20,
  pageMax: 10,
  domainsMax: 20,
  bodyBytesMax: 64 * 1024,
  batchBodyBytesMax: 1024 * 1024,
  /** Queries of one batch that are asked at once. */
  batchAtOnce: 8,
} as const;

/** What mail counts against in time, as refusals name it: "100 recipients a day". */
export const MAIL_COUNTS = { messages: "messages", recipients: "recipients" } as const;

/** SPEC 4.6 and 8.4. */
export const MAIL = {
  subjectCharactersMax: 200,
  textBytesMax: 128 * 1024,
  htmlBytesMax: 256 * 1024,
  fromNameCharactersMax: 64,
  idempotencyKeyMax: 255,
  /** The addresses that `to` may list, repeated ones included; the tier limits distinct ones. */
  toItemsMax: 5_000,
  bodyBytesMax: 4 * 1024 * 1024,
  /** How long a message that no server takes for now is tried again. */
  retryForMs: DAY_MS,
  idempotencyMs: 2 * DAY_MS,
  /** What is sealed outlives the last attempt by as much as a late worker may need. */
  contentKeyMs: DAY_MS + 7_200_000,
} as const;

export const JSON_DEPTH_MAX = 64;

/** A per-IP window for callers without a valid key (docs/decisions.md). */
export const ANONYMOUS_REQUESTS_PER_MINUTE = 60;

/** How long a hold lives without its owner, and how often the owner renews it. */
export const LEASE_MS = 60_000;
export const LEASE_RENEWAL_MS = 5_000;
/** A hold that is older than its lease by more than this was forgotten: an audit says so. */
export const LEASE_OVERDUE_MS = 150_000;

/** Refused rows logged one by one per key and minute; the rest become one summary row. */
export const REFUSED_ROWS_PER_MINUTE = 100;

/** Buckets that accounts are spread over; fixed for the life of an installation. */
export const BUCKETS = 64;
