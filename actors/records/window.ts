// Counts against limits in time: the window of callers without an account, and helpers for the
// scripts of accounts. The header of each .lua file is the contract of its script.

import type { Limit } from "../account.ts";
import countLua from "../lua/count.lua" with { type: "text" };
import type { Keys } from "../redis/script-client.ts";
import { type OfAccount, pack, type RawReply, type Script, type Timed } from "../scripts/script.ts";
import { limitKey } from "./keys.ts";

/** Milliseconds as whole seconds, at least one. */
export function inSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** Adds the keys of the limits that a call counts against. Most calls have none. */
export function withLimitKeys(
  names: Keys[],
  { account, keys }: OfAccount,
  limits: readonly Pick<Limit, "name">[],
): readonly Keys[] {
  for (const { name } of limits) names.push(limitKey({ bucket: keys.number, account }, name));
  return names;
}

export interface CountReply {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
}

type CountArgs = Timed & { readonly key: string; readonly limit: number };

export const count: Script<CountArgs, CountReply> = {
  name: "count",
  lua: countLua,
  flags: [],
  keys: ({ key }) => [key],
  args: (a) => [pack(a.nowMs, a.limit)],
  reply: (raw: RawReply) => {
    const [allowed, remaining, resetMs] = raw as readonly number[];
    return {
      allowed: allowed === 1,
      remaining: remaining ?? 0,
      resetSeconds: inSeconds(resetMs ?? 0),
    };
  },
};
