// Defines the access document: one versioned value with everything about an account that decides
// access. The document is stored in Postgres and handed out by Redis, and each process caches it
// parsed.

import { BlockList, isIP } from "node:net";
import { AMOUNT_MAX, type NanoUsd, nano } from "../money/money.ts";
import { monthOf } from "../money/months.ts";
import type { AccountState } from "./account-states.ts";
import { budgetsOf, type StandingBudget, type StoredBudget } from "./budgets.ts";
import type { EndUserBudget } from "./end-users.ts";
import {
  type AccessRefusal,
  endedRefusal,
  type KeyLimits,
  keyLimitsOf,
  type ModelCall,
  modelRefusal,
  pauseRefusal,
  type StoredKeyLimits,
} from "./key-limits.ts";
import {
  deriveTier,
  type PlanName,
  type Scope,
  TIERS,
  type Tier,
  type TierInputs,
} from "./limits.ts";
import { unlockWords } from "./tier-words.ts";

export interface AccessKey extends KeyLimits {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly monthlyLimit: NanoUsd | null;
  /** Null if the key may be used from any address. */
  readonly allowlist: BlockList | null;
  /** The budgets that count calls of the key: its own, then those of the account. */
  readonly budgets: readonly StandingBudget[];
  /** The default budgets of the end users of its calls: its own, then those of the account. */
  readonly endUserBudgets: readonly EndUserBudget[];
}

export interface AccessDocument {
  readonly state: AccountState;
  readonly stateReason: string | null;
  readonly tierInputs: TierInputs;
  readonly ownCap: NanoUsd | null;
  /** The last month with a granted allowance, as 202611; 0 if there is none. */
  readonly allowanceMonth: number;
  /** False if the person of the account gets the allowance on another account (D-389). */
  readonly hasAllowance: boolean;
  /** The automatic top-up while it is enabled; otherwise null. */
  readonly autoTopUp: { readonly amount: NanoUsd; readonly threshold: NanoUsd } | null;
  /** The budgets of the account; the budgets of a key are with the key. */
  readonly budgets: readonly StandingBudget[];
  /** True if an end user has a budget of its own. */
  readonly hasNamedEndUsers: boolean;
  /** The keys that are not revoked. */
  readonly keys: ReadonlyMap<string, AccessKey>;
}

interface StoredKey extends StoredKeyLimits {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly ip: readonly string[];
  readonly monthly_limit: string | null;
  /** The budgets of the key; left out without any. */
  readonly budgets?: readonly StoredBudget[];
  /** The default budgets of the end users of the key's calls; left out without any. */
  readonly end_users?: readonly StoredBudget<"end_user">[];
}

/** The document in its stored form: JSON, with money as decimal strings of nano-USD. */
export interface StoredDocument {
  readonly state: AccountState;
  readonly state_reason: string | null;
  readonly contract: "enterprise" | null;
  readonly net_paid: string;
  readonly first_payment_ms: number | null;
  readonly own_cap: string | null;
  /** Only for an application account. */
  readonly plan?: PlanName;
  readonly allowance_month?: number;
  /** Only where the plan's allowance is never granted. */
  readonly no_allowance?: true;
  /** Only while an automatic top-up is enabled. */
  readonly auto_top_up?: { readonly amount: string; readonly threshold: string };
  readonly keys: readonly StoredKey[];
  /** The budgets of the account; left out without any. */
  readonly budgets?: readonly StoredBudget[];
  readonly end_users?: readonly StoredBudget<"end_user">[];
  /** Only where an end user has a budget of its own. */
  readonly named_end_users?: true;
}

/** Parses a stored document. This program wrote it, so a fault in it is a bug. */
export function parseDocument(json: string): AccessDocument {
  const stored = JSON.parse(json) as StoredDocument;
  const ofAccount = budgetsOf("account", stored.budgets);
  const ofEndUsers = budgetsOf("end_user", stored.end_users);
  return {
    state: stored.state,
    stateReason: stored.state_reason,
    tierInputs: {
      plan: stored.plan ?? null,
      netPaid: capped(stored.net_paid),
      firstPaymentAtMs: stored.first_payment_ms,
      contract: stored.contract,
    },
    ownCap: stored.own_cap === null ? null : nano(stored.own_cap),
    allowanceMonth: stored.allowance_month ?? 0,
    hasAllowance: stored.no_allowance !== true,
    autoTopUp:
      stored.auto_top_up === undefined
        ? null
        : {
            amount: nano(stored.auto_top_up.amount),
            threshold: nano(stored.auto_top_up.threshold),
          },
    budgets: ofAccount,
    hasNamedEndUsers: stored.named_end_users === true,
    keys: new Map(
      stored.keys.map((key) => [
        key.id,
        {
          id: key.id,
          name: key.name,
          scopes: key.scopes,
          monthlyLimit: key.monthly_limit === null ? null : nano(key.monthly_limit),
          allowlist: key.ip.length === 0 ? null : allowlist(key.ip),
          budgets: [...budgetsOf("key", key.budgets), ...ofAccount],
          endUserBudgets: [...budgetsOf("end_user", key.end_users), ...ofEndUsers],
          ...keyLimitsOf(key),
        },
      ]),
    ),
  };
}

/**
 * An account's lifetime payments may exceed AMOUNT_MAX; no tier needs that much, so they are
 * capped.
 */
function capped(netPaid: string): NanoUsd {
  const paid = BigInt(netPaid);
  return paid > AMOUNT_MAX ? AMOUNT_MAX : nano(paid);
}

/** True if the Free plan still owes the account the allowance of this UTC month (SPEC 8.6). */
export function lacksAllowance(document: AccessDocument, nowMs: number): boolean {
  const { state, tierInputs, allowanceMonth, hasAllowance } = document;
  if (!hasAllowance || tierInputs.plan !== "free" || state !== "active") return false;
  return allowanceMonth < monthOf(nowMs);
}

/**
 * Returns a list of addresses and CIDR blocks. Throws a RangeError that names the first invalid
 * entry.
 */
export function allowlist(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix, more] = entry.split("/");
    const family = isIP(address);
    const bits = Number(prefix ?? (family === 4 ? 32 : 128));
    const valid =
      family !== 0 &&
      !address.includes("%") &&
      more === undefined &&
      (prefix === undefined || /^(0|[1-9]\d*)$/.test(prefix));
    if (!valid || bits > (family === 4 ? 32 : 128)) {
      throw new RangeError(`'${entry}' is neither an IP address nor a CIDR block`);
    }
    list.addSubnet(address, bits, family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

/** True if the list contains the address; IPv4 written as IPv6 is the same address. */
export function isListed(list: BlockList, ip: string): boolean {
  const family = isIP(ip);
  return family !== 0 && list.check(ip, family === 4 ? "ipv4" : "ipv6");
}

export interface AccessDecision {
  readonly tier: Tier;
  /** The first access row of the error table that applies, or null. */
  readonly refusal: AccessRefusal | null;
}

/** The part of a call that decides access. */
export interface AccessCall extends ModelCall {
  readonly scope: Scope | null;
  readonly clientIp: string;
  readonly nowMs: number;
  /** True for a call that needs no key: only a revoked, disabled or ended key is refused. */
  readonly isOpen?: boolean | undefined;
  /** True for a call that costs nothing: a key that is paused may make it. */
  readonly isFree?: boolean | undefined;
}

/**
 * Decides whether this key may use this service and its models from this address now, and with
 * which tier (SPEC 5).
 */
export function decideAccess(
  document: AccessDocument,
  key: AccessKey,
  call: AccessCall,
): AccessDecision {
  const tier = deriveTier(document.tierInputs, call.nowMs);
  const ended = endedRefusal(key, call.nowMs);
  if (ended !== null || call.isOpen === true) return { tier, refusal: ended };
  return { tier, refusal: stateRefusal(document.state) ?? keyRefusal(key, tier, call) };
}

function keyRefusal(key: AccessKey, tier: Tier, call: AccessCall): AccessDecision["refusal"] {
  if (key.allowlist !== null && !isListed(key.allowlist, call.clientIp)) {
    return { code: "ip_not_allowed", message: "This key cannot be used from this IP address" };
  }
  if (call.scope === null) return null;
  if (!key.scopes.includes(call.scope)) {
    // If the tier lacks the scope too, no key of the account can have the scope: name the tier.
    const byTier = tierRefusal(tier, call.scope);
    const lack = `This key lacks the scope '${call.scope}'`;
    const message = byTier === null ? lack : `${lack}. ${byTier.message}`;
    return { code: "insufficient_scope", message };
  }
  return tierRefusal(tier, call.scope) ?? modelRefusal(key, call) ?? pauseOf(key, call);
}

/** The pause of a key for a paid call; a refusal of the call itself comes first. */
function pauseOf({ measures }: AccessKey, { nowMs, isFree, refusal }: AccessCall) {
  if (isFree === true || refusal !== undefined) return null;
  return pauseRefusal(measures, nowMs);
}

/** Returns the refusal of every call of an account in this state; null for an active account. */
export function stateRefusal(state: AccountState): AccessDecision["refusal"] {
  if (state === "active") return null;
  return { code: "account_inactive", message: inactiveMessage(state) };
}

/** The message that a caller gets about an account in this state. */
export function inactiveMessage(state: InactiveState): string {
  return `This account is ${state}`;
}

export type InactiveState = Exclude<AccountState, "active">;

/** Returns the refusal of a service that a tier does not include; null if the tier includes it. */
export function tierRefusal(tier: Tier, scope: Scope | null): AccessDecision["refusal"] {
  if (scope === null || tier.services.includes(scope)) return null;
  const lack = `The ${tier.name} ${tier.kind} does not include the service '${scope}'`;
  return { code: "tier_required", message: lack + offerOf(tier, scope) };
}

/** Names the lowest tier with the service, and the way to that tier. No plan has more services. */
function offerOf({ kind }: Tier, scope: Scope): string {
  if (kind === "plan") return "";
  const first = TIERS.find(({ services }) => services.includes(scope));
  return first === undefined ? "" : `. The ${first.name} tier has it: ${unlockWords(first)}`;
}
