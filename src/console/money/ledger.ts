// GET …/ledger: every change of the balances and what it left, newest first.

import { fromUuid } from "../../core/ids.ts";
import { invalid } from "../../http/body/checks.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
  queryOf,
} from "../../http/console/console-endpoint.ts";
import type { Checked } from "../../http/schema.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { type BookedEntry, readLedgerPage } from "../../store/ledger/ledger-pages.ts";
import { asOf, type Reading, timeText, usdText } from "../reading.ts";
import { LEDGER_EXAMPLE, LedgerPage, LedgerQuery, type LedgerReply } from "./billing-schema.ts";

export interface LedgerDeps extends ConsoleFrameDeps {
  readonly reading: Reading;
}

const ENTRIES_PER_PAGE = 50;
const SEQ = /^[1-9]\d{0,14}$/;

export const ledger = accountEndpoint({
  id: "listLedger",
  method: "GET",
  path: "/console/api/accounts/{account}/ledger",
  role: "viewer",
  summary: "List the ledger, newest first",
  query: queryOf(LedgerQuery),
  reply: LedgerPage,
  examples: [{ summary: "All entries", query: "kind=all", reply: LEDGER_EXAMPLE }],
  run: ({ deps, account }: AccountContext<LedgerDeps>, input) =>
    ledgerReply(deps.reading, account, input),
});

/** Reads a page of the ledger. @throws ApiError that names the field at fault */
export async function ledgerReply(
  reading: Reading,
  account: AccountRow,
  { kind, before }: Checked<typeof LedgerQuery>,
): Promise<LedgerReply> {
  if (before != null && !SEQ.test(before)) throw invalid("before", "must be `next` of a page");
  const as_of = await asOf(reading, account);
  const found = await readLedgerPage(reading.database, {
    account: account.number,
    withoutCalls: kind === "operations",
    before: before == null ? null : Number(before),
    count: ENTRIES_PER_PAGE + 1,
  });
  const shown = found.slice(0, ENTRIES_PER_PAGE);
  const hasMore = found.length > ENTRIES_PER_PAGE;
  return {
    as_of,
    entries: shown.map(entryJson),
    next: hasMore ? String(shown.at(-1)?.seq) : null,
  };
}

function entryJson(entry: BookedEntry): LedgerReply["entries"][number] {
  return {
    seq: entry.seq,
    at: timeText(entry.at),
    kind: entry.kind,
    amount_usd: usdText(entry.paidDelta + entry.freeDelta),
    paid_after_usd: usdText(entry.paidAfter),
    free_after_usd: usdText(entry.freeAfter),
    owed_after_usd: usdText(entry.owedAfter),
    request_id: entry.request === null ? null : fromUuid("request", entry.request),
    payment_id: entry.payment,
    reason: entry.reason,
  };
}
