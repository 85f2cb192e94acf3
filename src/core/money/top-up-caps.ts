// Caps of top-ups by tier (SPEC 8.7.3 leaves the values open; D-202).

import { deriveTier, type TierInputs } from "../access/limits.ts";
import type { TierName } from "../access/services.ts";
import { type NanoUsd, usd } from "./money.ts";

/** The most credit that an account can get by top-ups (docs/payments.md). */
export interface TopUpCaps {
  /** By hand: at once, and within any 24 hours. */
  readonly manual: NanoUsd;
  readonly manualDay: NanoUsd;
  /** Automatically: at once, within any 24 hours, and in a UTC month; zero where there is none. */
  readonly auto: NanoUsd;
  readonly autoDay: NanoUsd;
  readonly autoMonth: NanoUsd;
}

/** In the order of the tiers, lowest first. */
export const TOP_UP_CAPS: Readonly<Record<TierName, TopUpCaps>> = {
  free: topUpCaps("50", "50", "0", "0", "0"),
  starter: topUpCaps("100", "200", "50", "100", "100"),
  build: topUpCaps("500", "1000", "250", "500", "1000"),
  scale: topUpCaps("2000", "5000", "1000", "2000", "5000"),
  pro: topUpCaps("10000", "25000", "5000", "10000", "25000"),
  enterprise: topUpCaps("50000", "100000", "25000", "50000", "250000"),
};
/** The tier whose caps an application account has. */
const PLAN_CAPS = { free: "starter", starter: "starter", pro: "build", max: "scale" } as const;

export const TOP_UP_MIN = usd("5");
/** Automatic top-ups within any 24 hours, and the time between two of them. */
export const AUTO_TOP_UPS_A_DAY = 5;
export const AUTO_TOP_UP_PAUSE_MS = 60_000;

/** The caps of an account at `nowMs`. */
export function topUpCapsOf(inputs: TierInputs, nowMs: number): TopUpCaps {
  if (inputs.plan !== null) return TOP_UP_CAPS[PLAN_CAPS[inputs.plan]];
  return TOP_UP_CAPS[deriveTier(inputs, nowMs).name as TierName];
}

function topUpCaps(
  ...[manual, manualDay, auto, autoDay, autoMonth]: readonly [
    string,
    string,
    string,
    string,
    string,
  ]
): TopUpCaps {
  return {
    manual: usd(manual),
    manualDay: usd(manualDay),
    auto: usd(auto),
    autoDay: usd(autoDay),
    autoMonth: usd(autoMonth),
  };
}
