// GET …/requests/{request}: one call as a receipt. The command line shows the same.

import { ApiError } from "../../core/errors.ts";
import { isId, toUuid } from "../../core/ids.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../../http/console/console-endpoint.ts";
import { asOf, type Reading, usdText } from "../../readings/reading.ts";
import type { AccountRow } from "../../store/accounts/accounts.ts";
import { readKeyNames } from "../../store/accounts/key-names.ts";
import { findCall } from "../../store/usage/request-log.ts";
import { linesOf, type PriceCatalogue } from "./receipt-lines.ts";
import { refusalOf } from "./refusal-words.ts";
import { requestJson } from "./requests.ts";
import { RECEIPT_EXAMPLE, Receipt, type ReceiptReply } from "./requests-schema.ts";

export interface ReceiptDeps extends ConsoleFrameDeps {
  readonly reading: Reading;
  readonly catalogue: PriceCatalogue;
}

export const receipt = accountEndpoint({
  id: "getRequest",
  method: "GET",
  path: "/console/api/accounts/{account}/requests/{request}",
  role: "viewer",
  summary: "Show one request as a receipt",
  reply: Receipt,
  examples: [{ summary: "A chat", reply: RECEIPT_EXAMPLE }],
  run: ({ deps, account, params }: AccountContext<ReceiptDeps>) =>
    receiptReply(deps.reading, deps.catalogue, account, params.request ?? ""),
});

/**
 * Reads one call of an account. Without a catalogue there are no price lines.
 * @throws ApiError if the account has no such call
 */
export async function receiptReply(
  reading: Reading,
  catalogue: PriceCatalogue | null,
  account: AccountRow,
  id: string,
): Promise<ReceiptReply> {
  const { database } = reading;
  const as_of = await asOf(reading, account);
  const found = isId("request", id) ? await findCall(database, account.number, toUuid(id)) : null;
  // Those of other accounts are answered in the same way.
  if (found === null) throw new ApiError("not_found", `The log has no request ${id}`);
  const { call, booking } = found;
  const keys = await readKeyNames(database, account.number);
  return {
    as_of,
    request: { ...requestJson(call, keys), country: call.country, lane: call.lane },
    held_usd: call.held === null ? null : usdText(call.held),
    charged_usd: usdText(call.cost),
    returned_usd: usdText(call.held === null ? 0n : call.held - call.cost),
    free_usd: usdText(booking?.free ?? call.freeCost),
    paid_usd: usdText(booking?.paid ?? call.cost - call.freeCost),
    balance_after_usd: booking === null ? null : usdText(booking.after),
    price_version: call.priceVersion,
    lines: catalogue === null ? [] : linesOf(catalogue, call),
    refusal: refusalOf(call.errorCode, call.refusedBy, call.status),
  };
}
