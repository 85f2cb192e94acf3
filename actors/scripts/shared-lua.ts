// Lua code that all scripts share.

import budgetsLua from "../lua/shared/budgets.lua" with { type: "text" };
import freeCreditLua from "../lua/shared/free_credit.lua" with { type: "text" };
import leasesLua from "../lua/shared/leases.lua" with { type: "text" };
import limitsLua from "../lua/shared/limits.lua" with { type: "text" };
import markersLua from "../lua/shared/markers.lua" with { type: "text" };
import preludeLua from "../lua/shared/prelude.lua" with { type: "text" };
import recordsLua from "../lua/shared/records.lua" with { type: "text" };
import walletLua from "../lua/shared/wallet.lua" with { type: "text" };
import windowLua from "../lua/shared/window.lua" with { type: "text" };

/** The order matters: each file uses those before it. */
export const SHARED_LUA = [
  preludeLua,
  windowLua,
  recordsLua,
  freeCreditLua,
  walletLua,
  budgetsLua,
  limitsLua,
  leasesLua,
  markersLua,
].join("\n");

/**
 * A complete script: the shared code, then `lua` in a function of its own. Lua lets a function have
 * 200 local variables, and the shared code has nearly as many.
 */
export function withShared(lua: string): string {
  return `${SHARED_LUA}\nbegin()\nreturn (function()\n${lua}\nend)()`;
}
