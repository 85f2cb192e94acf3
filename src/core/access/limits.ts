// Defines the limits of SPEC 8, and the durations that SPEC leaves open. Only top-up-caps.ts
// defines limits besides.

import { DAY_MS } from "../durations.ts";
import { AMOUNT_MAX, type NanoUsd, usd } from "../money/money.ts";
import { type Scope, scopesOfSurface, scopesOfTier, type TierName } from "./services.ts";

export type { Scope };

/** The plans of application accounts (SPEC 8.6). */
export const PLAN_NAMES = ["free", "starter", "pro", "max"] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

/** The contracts that a Gateway account may have with the operator. */
export const CONTRACTS = ["enterprise", "none"] as const;

/** The limits of an account: a Gateway account has a tier, an application account a plan. */
export interface Tier {
  readonly kind: "tier" | "plan";
  readonly name: TierName | PlanName;
  /** The limit of each API key. */
  readonly requestsPerMinute: number;
  /** The limit of all keys of the account together; null if only single keys are limited. */
  readonly accountRequestsPerMinute: number | null;
  readonly streams: number;
  /** The most open calls of the whole account, streams included; waiting mail does not count. */
  readonly openCalls: number;
  readonly monthlyCap: NanoUsd;
  /** Payments and days since the first one that unlock the tier; null if they cannot. */
  readonly unlock: { readonly paid: NanoUsd; readonly days: number } | null;
  readonly services: readonly Scope[];
  /** The most queries in one batch search (SPEC 4.4). */
  readonly batchSearches: number;
  /** SPEC 8.3; null if mail is not included. */
  readonly mail: MailLimits | null;
}

export interface MailLimits {
  /** Per UTC day. */
  readonly recipientsPerDay: number;
  readonly messagesPerMinute: number;
  readonly recipientsPerMessage: number;
}

const OPEN_CALLS_MIN = 8;
const OPEN_CALLS_A_STREAM = 4;

/** SPEC 4.4, 8.1, 8.2 and 8.3, lowest first. */
export const TIERS: readonly Tier[] = [
  gatewayTier({
    name: "free",
    requestsPerMinute: 20,
    streams: 2,
    monthlyCap: usd("5"),
    unlock: null,
    batchSearches: 0,
    mail: null,
  }),
  gatewayTier({
    name: "starter",
    requestsPerMinute: 60,
    streams: 5,
    monthlyCap: usd("100"),
    unlock: { paid: usd("5"), days: 0 },
    batchSearches: 10,
    mail: null,
  }),
  gatewayTier({
    name: "build",
    requestsPerMinute: 300,
    streams: 20,
    monthlyCap: usd("1000"),
    unlock: { paid: usd("50"), days: 7 },
    batchSearches: 50,
    mail: { recipientsPerDay: 100, messagesPerMinute: 5, recipientsPerMessage: 10 },
  }),
  gatewayTier({
    name: "scale",
    requestsPerMinute: 1_000,
    streams: 50,
    monthlyCap: usd("5000"),
    unlock: { paid: usd("250"), days: 14 },
    batchSearches: 100,
    mail: { recipientsPerDay: 1_000, messagesPerMinute: 30, recipientsPerMessage: 50 },
  }),
  gatewayTier({
    name: "pro",
    requestsPerMinute: 3_000,
    streams: 100,
    monthlyCap: usd("25000"),
    unlock: { paid: usd("1000"), days: 30 },
    batchSearches: 100,
    mail: { recipientsPerDay: 10_000, messagesPerMinute: 120, recipientsPerMessage: 100 },
  }),
  gatewayTier({
    name: "enterprise",
    requestsPerMinute: 10_000,
    streams: 400,
    monthlyCap: usd("250000"),
    unlock: null,
    batchSearches: 100,
    mail: { recipientsPerDay: 100_000, messagesPerMinute: 600, recipientsPerMessage: 500 },
  }),
];

const PLAN_KEY_REQUESTS_PER_MINUTE = 60;
/** Never reached: a plan's limit of open calls is lower. */
const PLAN_STREAMS = 2_000;

/** SPEC 8.6. Spending on a plan is limited only by the credits. */
export const PLANS = {
  free: applicationPlan("free", { requestsPerMinute: 10, openCalls: 8 }),
  starter: applicationPlan("starter", { requestsPerMinute: 30, openCalls: 16 }),
  pro: applicationPlan("pro", { requestsPerMinute: 60, openCalls: 32 }),
  max: applicationPlan("max", { requestsPerMinute: 120, openCalls: 64 }),
} as const satisfies Record<PlanName, Tier>;

/** The monthly allowance of the Free plan, unless it is configured (docs/configuration.md). */
export const FREE_PLAN_ALLOWANCE = usd("1");

export interface TierInputs {
  /** The plan of an application account; null for a Gateway account. */
  readonly plan: PlanName | null;
  /** Lifetime payments net of refunds. */
  readonly netPaid: NanoUsd;
  readonly firstPaymentAtMs: number | null;
  /** The tier that a contract grants, independent of payments. */
  readonly contract: "enterprise" | null;
}

/**
 * The limits of an account at `nowMs`: its plan, or the tier that its contract or payments give it
 * (SPEC 3.4, 8.1). Derived at each admission, never stored.
 */
export function deriveTier(inputs: TierInputs, nowMs: number): Tier {
  if (inputs.plan !== null) return PLANS[inputs.plan];
  if (inputs.contract !== null) return tierNamed(inputs.contract);
  return TIERS.findLast((tier) => isUnlocked(tier, inputs, nowMs)) ?? tierNamed("free");
}

/** The next tier that payments and time can unlock; null if there is none, and for a plan. */
export function nextTier(current: Tier): Tier | null {
  if (current.kind === "plan") return null;
  const above = TIERS.slice(TIERS.findIndex(({ name }) => name === current.name) + 1);
  return above.find(({ unlock }) => unlock !== null) ?? null;
}

/** The cap of a month; null for a plan, which caps none. */
export function monthlyCapOf({ kind, monthlyCap }: Tier): NanoUsd | null {
  return kind === "plan" ? null : monthlyCap;
}

/** The most open streams. A stream is an open call too, and a plan limits only those. */
export function streamsOf({ streams, openCalls }: Tier): number {
  return Math.min(streams, openCalls);
}

const TIERS_BY_NAME: ReadonlyMap<string, Tier> = new Map(TIERS.map((tier) => [tier.name, tier]));

function tierNamed(name: TierName): Tier {
  const tier = TIERS_BY_NAME.get(name);
  if (tier === undefined) throw new Error(`TIERS has no row '${name}'`);
  return tier;
}

function isUnlocked({ unlock }: Tier, inputs: TierInputs, nowMs: number): boolean {
  if (unlock === null || inputs.firstPaymentAtMs === null) return false;
  if (inputs.netPaid < unlock.paid) return false;
  return nowMs - inputs.firstPaymentAtMs >= unlock.days * DAY_MS;
}

function gatewayTier(
  row: Omit<Tier, "kind" | "accountRequestsPerMinute" | "services" | "openCalls"> & {
    readonly name: TierName;
  },
): Tier {
  const services = scopesOfTier(row.name);
  const openCalls = Math.max(OPEN_CALLS_MIN, OPEN_CALLS_A_STREAM * row.streams);
  return { kind: "tier", accountRequestsPerMinute: null, services, openCalls, ...row };
}

function applicationPlan(
  name: PlanName,
  {
    requestsPerMinute,
    openCalls,
  }: { readonly requestsPerMinute: number; readonly openCalls: number },
): Tier {
  return {
    kind: "plan",
    name,
    requestsPerMinute: PLAN_KEY_REQUESTS_PER_MINUTE,
    accountRequestsPerMinute: requestsPerMinute,
    streams: PLAN_STREAMS,
    openCalls,
    monthlyCap: AMOUNT_MAX,
    unlock: null,
    services: scopesOfSurface("application"),
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
  /** All of a body except its images and files. */
  bodyBytesMax: 4 * 1024 * 1024,
  /** A body where a model takes images or files. */
  mediaBodyBytesMax: 32 * 1024 * 1024,
  /** Images and files of a request. */
  mediaMax: 256,
} as const;

/** Agents send long histories, and images in base64 (D-561). */
const AGENT_BODY = { bytesMax: 32 * 1024 * 1024, keysMax: 40_000 } as const;

/** The door for Anthropic's Messages. */
export const MESSAGES = {
  messagesMax: 10_000,
  /** No model writes more in one reply. */
  maxTokensMax: 1_000_000,
  body: AGENT_BODY,
} as const;

/** The door for OpenAI's Responses. */
export const RESPONSES = {
  itemsMax: 10_000,
  maxTokensMax: MESSAGES.maxTokensMax,
  body: AGENT_BODY,
} as const;

/** The doors for embeddings and ranks. */
export const VECTORS = {
  /** Texts to embed, or documents to rank, in one call. */
  itemsMax: 2_048,
  bodyBytesMax: 8 * 1024 * 1024,
  /**
   * The JSON values of a body: the tokens that OpenAI takes in one call, which LangChain sends in
   * arrays, and some more for the other fields.
   */
  valuesMax: 300_000 + 10_000,
} as const;

/** The JSON of a tool call's `extra_content`: thought signatures have some kilobytes. */
export const TOOL_CALL_EXTRA_CHARACTERS_MAX = 64 * 1024;

/** SPEC 4.3 leaves these open (docs/search.md). */
export const SEARCH = {
  queryCharactersMax: 400,
  maxResultsDefault: 10,
  maxResultsMax: 20,
  pageMax: 10,
  domainsMax: 20,
  bodyBytesMax: 64 * 1024,
  batchBodyBytesMax: 1024 * 1024,
  /** Queries of one batch that run in parallel. */
  batchAtOnce: 8,
} as const;

/** Repeats of calls that cost money, by the header Idempotency-Key (docs/idempotency.md). */
export const IDEMPOTENCY = {
  keyCharactersMax: 255,
  /** The time after its admission for which a call is not charged again. */
  markerMs: DAY_MS,
  /** Calls of an account in a UTC day that may have a key (D-751). */
  keysPerDay: 100_000,
  /** An answer of at most `answerBytesMax` bytes is kept for `answerMs`. */
  answerMs: 10 * 60_000,
  answerBytesMax: 256 * 1024,
  /** The bytes of kept answers in one process; beyond, the oldest answers go first. */
  answersBytesMax: 64 * 1024 * 1024,
} as const;

/** The units of mail limits in messages of refusals: "100 recipients a day". */
export const MAIL_COUNTS = { messages: "messages", recipients: "recipients" } as const;

/** SPEC 4.6 and 8.4. */
export const MAIL = {
  subjectCharactersMax: 200,
  textBytesMax: 128 * 1024,
  htmlBytesMax: 256 * 1024,
  fromNameCharactersMax: 64,
  /** Items of `to`, duplicates included; the tier limits distinct addresses. */
  toItemsMax: 5_000,
  bodyBytesMax: 4 * 1024 * 1024,
  /** A temporarily refused message is retried for this long. */
  retryForMs: DAY_MS,
  idempotencyMs: 2 * DAY_MS,
  /** Sealed content is kept for two hours after the last attempt, in case a worker is late. */
  contentKeyMs: DAY_MS + 7_200_000,
} as const;

export const JSON_DEPTH_MAX = 64;

/** Per IP address, for callers without a valid key. */
export const ANONYMOUS_REQUESTS_PER_MINUTE = 60;

/** A lease, and its holds, last for LEASE_MS; a living process renews it every LEASE_RENEWAL_MS. */
export const LEASE_MS = 60_000;
export const LEASE_RENEWAL_MS = 5_000;
/**
 * The cost of each open stream is stored this often. If a process is killed, at most 2 s of a
 * stream are not charged: this time, and the time that counting and storing take (D-594).
 */
export const CHECKPOINT_MS = 1_000;
/** Above this unsaved amount the cost is stored at once: a kill loses at most about $0.01. */
export const UNSAVED_MAX = usd("0.005");
/** The audit reports a hold that is still open this long after its lease ended. */
export const LEASE_OVERDUE_MS = 150_000;

/**
 * This many refused calls per key and minute have a log row each; the others share a summary row.
 */
export const REFUSED_ROWS_PER_MINUTE = 100;

/** Accounts are spread over this many buckets; an installation must never change it. */
export const BUCKETS = 64;
