// Scripts that take over counts and holds of the first layout. The header of each .lua file is its
// contract.

import type { NanoUsd } from "../src/core/money.ts";
import { toDouble } from "../src/core/money.ts";
import { type BucketKeys, holdsKey, keyStateKey, MAIL_OWNER } from "./keys.ts";
import carryHoldLua from "./lua/carry_hold.lua" with { type: "text" };
import carryLimitLua from "./lua/carry_limit.lua" with { type: "text" };
import carryWindowLua from "./lua/carry_window.lua" with { type: "text" };
import firstLayoutWindowLua from "./lua/first_layout_window.lua" with { type: "text" };
import { type OfAccount, pack, type Script, verdictOf } from "./script.ts";

export interface CarryHoldArgs extends OfAccount {
  readonly keyId: string;
  readonly requestId: string;
  /** CallMetadata in the form of `metadataText`. */
  readonly metadata: string;
  readonly paid: NanoUsd;
  readonly free: NanoUsd;
  readonly month: number;
  readonly isStream: boolean;
  readonly checkpoint: NanoUsd;
  readonly admittedMs: number;
  readonly lifeMs: number;
}

export const carryHold: Script<CarryHoldArgs, "ok" | "hydrate" | "short"> = {
  name: "carry_hold",
  lua: carryHoldLua,
  flags: [],
  keys: ({ keys, keyId }) => [
    keys.bucket,
    keys.wallet,
    keyStateKey(keys.number, keyId),
    holdsKey(keys.number, MAIL_OWNER),
  ],
  args: (a) => [
    pack(
      0,
      toDouble(a.paid),
      toDouble(a.free),
      a.month,
      a.isStream ? 1 : 0,
      toDouble(a.checkpoint),
      a.admittedMs,
      a.lifeMs,
    ),
    a.requestId,
    `${a.account}\t${a.keyId}\t${a.metadata}`,
  ],
  reply: (raw) => verdictOf(raw) as "ok" | "hydrate" | "short",
};

export interface CarryWindowArgs {
  readonly keys: BucketKeys;
  /** The name of the window in the first layout. */
  readonly window: string;
  readonly keyId: string;
}

export const carryWindow: Script<CarryWindowArgs, "ok" | "recover"> = {
  name: "carry_window",
  lua: `${firstLayoutWindowLua}\n${carryWindowLua}`,
  flags: [],
  keys: ({ keys, window, keyId }) => [keys.bucket, window, keyStateKey(keys.number, keyId)],
  args: () => [],
  reply: (raw) => verdictOf(raw) as "ok" | "recover",
};

export const carryLimit: Script<{ readonly limit: string }, "ok"> = {
  name: "carry_limit",
  lua: `${firstLayoutWindowLua}\n${carryLimitLua}`,
  flags: [],
  keys: ({ limit }) => [limit],
  args: () => [],
  reply: () => "ok",
};
