// What scripts share.

import limitsLua from "./lua/limits.lua" with { type: "text" };
import preludeLua from "./lua/prelude.lua" with { type: "text" };
import recordsLua from "./lua/records.lua" with { type: "text" };
import walletLua from "./lua/wallet.lua" with { type: "text" };

/** Each file uses what stands before it. */
export const SHARED_LUA = [preludeLua, recordsLua, walletLua, limitsLua].join("\n");

/** A script that stands alone: all that is shared, and then `lua`. */
export function withShared(lua: string): string {
  return `${SHARED_LUA}\nbegin()\n${lua}`;
}
