// Reads the use that an account and its keys make of their limits now, for pages that show it. This
// code only reads, so the wallet and the counts may be from instants a few milliseconds apart.

import type { AccessDocument } from "../src/core/access/access.ts";
import type { StandingBudget, StandingOwner } from "../src/core/access/budgets.ts";
import { MAIL_COUNTS } from "../src/core/access/limits.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../src/core/durations.ts";
import { type NanoUsd, ZERO } from "../src/core/money/money.ts";
import type { BudgetUse } from "./account.ts";
import { type CountedRate, PLAN_REQUESTS, rateName } from "./account-limits.ts";
import { keyStateKey, limitKey } from "./records/keys.ts";
import {
  countsAt,
  type KeyState,
  parseDayCount,
  parseKeyState,
  parseWindow,
  type WindowRecord,
} from "./records/records.ts";
import type { ViewReply } from "./scripts/call-scripts.ts";
import type { RedisClient } from "./scripts/script.ts";

/** The use of a key: money of this UTC month, requests of the last minute, and its rates. */
export interface KeyUse {
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  readonly requests: number;
  readonly rates: Readonly<Record<CountedRate, RateUse>>;
}

/** The use of a rate by a key: in this UTC day, or in the last minute. */
export interface RateUse {
  /** Requests, or tokens with those that open calls may take. */
  readonly used: number;
  /** When the whole rate can be used again; null if nothing is used. */
  readonly renewsAtMs: number | null;
}

/** A budget of an account, or of one of its keys, and its use. */
export interface OwnedBudget extends BudgetUse<StandingOwner> {
  /** The id of the key; null for a budget of the account. */
  readonly key: string | null;
}

export interface AccountUse extends Pick<ViewReply, "nowMs" | "month" | "wallet" | "document"> {
  /** The use of each requested key. */
  readonly keys: ReadonlyMap<string, KeyUse>;
  /** The requests of all keys together within the last minute, if a plan counts them. */
  readonly requests: number;
  /** Messages within the last minute, and recipients of the UTC day. */
  readonly messages: number;
  readonly recipients: number;
  /** The budgets of the account, then the budgets of its keys. */
  readonly budgets: readonly OwnedBudget[];
}

interface UseQuestion {
  readonly account: string;
  readonly bucket: number;
  readonly keyIds: readonly string[];
}

/**
 * Reads all counts in one command, after the wallet: building the wallet restores the spending of
 * keys.
 */
export async function readUse(
  redis: RedisClient,
  state: ViewReply,
  { account, bucket, keyIds }: UseQuestion,
): Promise<Omit<AccountUse, "budgets">> {
  const count = (name: string) => limitKey({ bucket, account }, name);
  const names = [
    count(PLAN_REQUESTS),
    count(MAIL_COUNTS.messages),
    count(MAIL_COUNTS.recipients),
    ...keyIds.flatMap((id) => [
      keyStateKey(bucket, id),
      count(rateName("requestsPerDay", id)),
      count(rateName("tokensPerMinute", id)),
      count(rateName("tokensPerDay", id)),
    ]),
  ];
  const [requests, messages, recipients, ...ofKeys] = await redis.mgetBuffer(...names);
  const { nowMs, month, wallet, document } = state;
  return {
    nowMs,
    month,
    wallet,
    document,
    keys: new Map(
      keyIds.map((id, index) => {
        const [bytes, ...counts] = ofKeys.slice(4 * index, 4 * index + 4);
        return [id, { ...keyUse(bytes, state), rates: rateUses(counts, nowMs) }] as const;
      }),
    ),
    requests: windowCount(requests, nowMs),
    messages: windowCount(messages, nowMs),
    recipients: dayCount(recipients, nowMs),
  };
}

/** All budgets in a document, each with its key. */
export function ownedBudgets({
  budgets,
  keys,
}: AccessDocument): readonly (StandingBudget & Pick<OwnedBudget, "key">)[] {
  const ofKeys = [...keys.values()].flatMap((key) =>
    key.budgets.filter(({ of }) => of === "key").map((budget) => ({ ...budget, key: key.id })),
  );
  return [...budgets.map((budget) => ({ ...budget, key: null })), ...ofKeys];
}

/** The tokens of a key in this UTC day, for a call that asks how many are left. */
export async function readTokensToday(
  redis: RedisClient,
  { nowMs }: Pick<ViewReply, "nowMs">,
  { account, bucket, keyId }: Omit<UseQuestion, "keyIds"> & { readonly keyId: string },
): Promise<number> {
  const name = limitKey({ bucket, account }, rateName("tokensPerDay", keyId));
  const [bytes] = await redis.mgetBuffer(name);
  return dayCount(bytes, nowMs);
}

type Bytes = Buffer | null | undefined;

function rateUses([requestsDay, minute, tokensDay]: Bytes[], nowMs: number): KeyUse["rates"] {
  return {
    requestsPerDay: dayUse(requestsDay, nowMs),
    tokensPerMinute: minuteUse(minute, nowMs),
    tokensPerDay: dayUse(tokensDay, nowMs),
  };
}

function dayUse(bytes: Bytes, nowMs: number): RateUse {
  const used = dayCount(bytes, nowMs);
  const renewsAtMs = used === 0 ? null : nowMs - (nowMs % DAY_MS) + DAY_MS;
  return { used, renewsAtMs };
}

function minuteUse(bytes: Bytes, nowMs: number): RateUse {
  const window = bytes ? parseWindow(bytes, 4) : null;
  const used = window === null ? 0 : countAt(window, nowMs);
  if (window === null || used === 0) return { used, renewsAtMs: null };
  return { used, renewsAtMs: window.lastSecond * SECOND_MS + window.lastMs + MINUTE_MS };
}

function keyUse(bytes: Bytes, { nowMs, month, wallet }: ViewReply): Omit<KeyUse, "rates"> {
  if (!bytes) return { spent: ZERO, held: ZERO, requests: 0 };
  const state: KeyState = parseKeyState(bytes);
  const isCurrent = state.month === month && state.epoch === wallet.epoch;
  return {
    spent: isCurrent ? state.spent : ZERO,
    held: isCurrent ? state.held : ZERO,
    requests: countAt(state.window, nowMs),
  };
}

function windowCount(bytes: Bytes, nowMs: number): number {
  return bytes ? countAt(parseWindow(bytes), nowMs) : 0;
}

function dayCount(bytes: Bytes, nowMs: number): number {
  if (!bytes) return 0;
  const { day, used } = parseDayCount(bytes);
  return day >= Math.floor(nowMs / DAY_MS) ? used : 0;
}

function countAt(window: WindowRecord, nowMs: number): number {
  return [...countsAt(window, nowMs).values()].reduce((sum, count) => sum + count, 0);
}
