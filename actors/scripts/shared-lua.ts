// Lua code that all scripts share.

import leasesLua from "../lua/leases.lua" with { type: "text" };
import limitsLua from "../lua/limits.lua" with { type: "text" };
import preludeLua from "../lua/prelude.lua" with { type: "text" };
import recordsLua from "../lua/records.lua" with { type: "text" };
import walletLua from "../lua/wallet.lua" with { type: "text" };
import windowLua from "../lua/window.lua" with { type: "text" };

/** The order matters: each file uses those before it. */
export const SHARED_LUA = [preludeLua, windowLua, recordsLua, walletLua, limitsLua, leasesLua].join(
  "\n",
);

/** A complete script: the shared code, then `lua`. */
export function withShared(lua: string): string {
  return `${SHARED_LUA}\nbegin()\n${lua}`;
}
