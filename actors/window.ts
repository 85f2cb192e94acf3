// Counting against limits in time: the window of callers without an account, and what scripts of
// accounts share. The contract of each script is the header of its .lua file.

import type { Limit } from "./account.ts";
import { limitKey } from "./keys.ts";
import countLua from "./lua/count.lua" with { type: "text" };
import limitsLua from "./lua/limits.lua" with { type: "text" };
import preludeLua from "./lua/prelude.lua" with { type: "text" };
import { defineScript, type OfAccount, type RawReply, type Timed } from "./script.ts";

/** Put before a script that counts. */
export const countingLua = preludeLua + limitsLua;

/** How a request window stands after a request. */
export interface WindowState {
  readonly remaining: number;
  readonly resetSeconds: number;
}

export function parseWindow(
  remaining: RawReply[number] | undefined,
  resetMs: RawReply[number] | undefined,
): WindowState {
  return {
    remaining: Number(remaining),
    resetSeconds: inSeconds(resetMs),
  };
}

/** Milliseconds as whole seconds, at least one. */
export function inSeconds(ms: RawReply[number] | undefined): number {
  return Math.max(1, Math.ceil(Number(ms) / 1000));
}

/** The keys of what an account's calls count against. */
export function limitKeys(
  { account, keys }: OfAccount,
  limits: readonly Pick<Limit, "name">[],
): readonly string[] {
  const { bucket } = keys;
  return limits.map(({ name }) => limitKey({ bucket, account }, name));
}

export interface CountReply extends WindowState {
  readonly allowed: boolean;
}

export const count = defineScript<
  Timed & { readonly key: string; readonly limit: number },
  CountReply
>(countingLua + countLua, {
  keys: ({ key }) => [key],
  args: (a) => [a.nowMs, a.limit],
  reply: ([allowed, remaining, resetMs]) => ({
    allowed: Number(allowed) === 1,
    ...parseWindow(remaining, resetMs),
  }),
});
