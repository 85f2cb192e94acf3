// Shows a key the part of its account that it may read.

import type { AccessDocument } from "../src/core/access/access.ts";
import { invalidKey } from "../src/core/access/keys.ts";
import { deriveTier } from "../src/core/access/limits.ts";
import { nextFreeEnd, usableFree } from "../src/core/money/free-lots.ts";
import { ZERO } from "../src/core/money/money.ts";
import type { AccountView } from "./account.ts";
import type { ViewReply } from "./scripts/call-scripts.ts";

/** The key that reads, and the document that has it. */
export interface Viewer {
  readonly access: AccessDocument;
  readonly keyId: string;
}

/** The account as this key sees it. @throws ApiError for a key that is not the account's */
export function viewOf(
  accountId: string,
  { wallet, key: keyState, nowMs, month }: ViewReply,
  { access, keyId, budgets }: Pick<AccountView, "budgets"> & Viewer,
): AccountView {
  const key = access.keys.get(keyId);
  if (key === undefined) throw invalidKey();
  const { freeEnds } = wallet;
  const isMonth = wallet.month === month;
  const isKeyMonth = keyState?.month === month && keyState.epoch === wallet.epoch;
  return {
    accountId,
    nowMs,
    state: access.state,
    tier: deriveTier(access.tierInputs, nowMs),
    tierInputs: access.tierInputs,
    paid: wallet.paid,
    free: usableFree(freeEnds, wallet.free, nowMs),
    freeExpiresAtMs: nextFreeEnd(freeEnds, wallet.free, nowMs),
    heldPaid: wallet.heldPaid,
    heldFree: wallet.heldFree,
    owed: wallet.owed,
    openStreams: wallet.streams,
    openCalls: wallet.calls,
    month,
    monthSpent: isMonth ? wallet.spent : ZERO,
    monthHeld: isMonth ? wallet.held : ZERO,
    ownCap: access.ownCap,
    key: {
      ...key,
      monthSpent: isKeyMonth ? keyState.spent : ZERO,
      monthHeld: isKeyMonth ? keyState.held : ZERO,
    },
    budgets,
  };
}
