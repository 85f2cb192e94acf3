// Reads one request of an account as a receipt: the hold and the charge, or the refusal.

import { ApiError } from "../core/errors.ts";
import { isId, toUuid } from "../core/ids.ts";
import {
  jsonFrom,
  listOf,
  nested,
  nullable,
  text,
  usdField,
  type WireOf,
} from "../core/records.ts";
import { readKeyNames } from "../store/accounts/key-names.ts";
import { findCall } from "../store/usage/request-log.ts";
import { type AccountSource, AGE, asOf } from "./reading.ts";
import { linesOf, type PriceCatalogue, ReceiptLine } from "./receipt-lines.ts";
import { Refusal, refusalOf } from "./refusal-words.ts";
import { LoggedRequest, requestJson } from "./requests.ts";

const [INPUT, OUTPUT] = [
  { what: "input tokens", units: 812, price_usd: "0.15", per: 1_000_000, cost_usd: "0.0001218" },
  { what: "output tokens", units: 240, price_usd: "0.6", per: 1_000_000, cost_usd: "0.000144" },
];

const Amounts = {
  held_usd: nullable(
    usdField({ about: "The upper bound that was held; null if it was refused", sample: "0.0026" }),
  ),
  charged_usd: usdField({ about: "What was charged", sample: "0.0004215" }),
  returned_usd: usdField({ about: "What of the hold was given back", sample: "0.0021785" }),
  free_usd: usdField({ about: "The part of the charge that free credit paid", sample: "0" }),
  paid_usd: usdField({ about: "The part of it that the paid balance paid", sample: "0.0004215" }),
  balance_after_usd: nullable(
    usdField({ about: "Both balances after it; null if nothing changed", sample: "46.3836994" }),
  ),
};

export const Receipt = {
  ...AGE,
  request: nested({
    ...LoggedRequest,
    country: nullable(text({ sample: "DE" })),
    lane: nullable(text({ about: "The route that served it", sample: "primary" })),
  }),
  ...Amounts,
  price_version: nullable(text({ sample: "3f9a1c" })),
  stopped_by: nullable(
    text({
      about:
        "What ended the reply early: `max_cost`, the cap of the call, or `content_filter`; null " +
        "if nothing did",
      sample: "max_cost",
    }),
    { sample: null },
  ),
  lines: listOf(nested(ReceiptLine), { sample: [INPUT, OUTPUT] }),
  refusal: nullable(nested(Refusal), { sample: null }),
};

export type ReceiptReply = WireOf<typeof Receipt>;

const amountsJson = jsonFrom(Amounts);

/**
 * Reads one call of an account. Without a catalogue there are no price lines.
 * @throws ApiError if the account has no such call
 */
export async function receiptReply(
  { reading, account }: AccountSource,
  id: string,
  catalogue: PriceCatalogue | null,
): Promise<ReceiptReply> {
  const { database } = reading;
  const as_of = await asOf(reading, account);
  const found = isId("request", id) ? await findCall(database, account.number, toUuid(id)) : null;
  // A request of another account gets the same answer.
  if (found === null) throw new ApiError("not_found", `The log has no request ${id}`);
  const { call, booking } = found;
  const { cost, freeCost, held } = call;
  const keys = await readKeyNames(database, account.number);
  return {
    as_of,
    request: { ...requestJson(call, keys), country: call.country, lane: call.lane },
    ...amountsJson({
      held,
      charged: cost,
      returned: held === null ? 0n : held - cost,
      free: booking?.free ?? freeCost,
      paid: booking?.paid ?? cost - freeCost,
      balanceAfter: booking?.after ?? null,
    }),
    price_version: call.priceVersion,
    stopped_by: call.stopReason,
    lines: catalogue === null ? [] : linesOf(catalogue, call),
    refusal: refusalOf(call.errorCode, call.refusedBy, call.status),
  };
}
