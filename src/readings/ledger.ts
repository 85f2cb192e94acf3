// Lists the ledger of an account: every change of its balances, with the balances after it.

import { nullable, number, publicId, text, time, usdField } from "../core/records.ts";
import { oneOf, optional } from "../http/schema.ts";
import { readLedgerPage } from "../store/ledger/ledger-pages.ts";
import { byNumber, listReading, type PageOf } from "./list-reading.ts";
import { type AccountSource, WITH_AGE } from "./reading.ts";

export const LedgerLine = {
  seq: number({ sample: 2 }),
  at: time({ sample: "2026-11-22T14:03:20.118Z" }),
  kind: text({
    about: "charge, credit, bonus, reversal, restore, adjustment, …",
    sample: "charge",
  }),
  amount_usd: usdField({ about: "The change of both balances", sample: "-0.0004215" }),
  paid_after_usd: usdField({ about: "The paid balance after it", sample: "43.184120875" }),
  free_after_usd: usdField({ about: "The free credit after it", sample: "3.2" }),
  owed_after_usd: usdField({ about: "What is owed after it", sample: "0" }),
  request_id: nullable(publicId("request", { sample: "req_7n42DGM5Tflk9n8mt7Fhc7" })),
  payment_id: nullable(text({ sample: "pay_7n42DGM5Tflk9n8mt7Fhc7" }), { sample: null }),
  reason: nullable(text({ sample: "Goodwill" }), { sample: null }),
};

export const LEDGER = listReading({
  name: "entries",
  line: LedgerLine,
  filters: {
    kind: optional(oneOf(["all", "operations"], { description: "`operations`: without calls" })),
  },
  keyset: byNumber("seq"),
  head: WITH_AGE,
  read: ({ reading, account }: AccountSource, { kind }, page) =>
    readLedgerPage(reading.database, {
      account: account.number,
      withoutCalls: kind === "operations",
      ...page,
    }),
});

export type LedgerReply = PageOf<typeof LEDGER>;
