// Lists payments whose dispute is open, or that their provider warns of.

import { nullable, text, time, usdField, word } from "../core/records.ts";
import { oneOf, optional } from "../http/schema.ts";
import { listDisputes } from "../store/operators/operator-money.ts";
import type { Database } from "../store/servers/database.ts";
import { byNumber, listReading, type PageOf } from "./list-reading.ts";

export const DisputedPayment = {
  payment: text({ sample: "pay_7n42DGM5Tflk9n8mt7Fhc7" }),
  account: text({ sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" }),
  account_name: nullable(text({ sample: "Ada's account" })),
  provider: text({ sample: "stripe" }),
  top_up: nullable(text({ sample: "topup_7n42DGM5Tflk9n8mt7Fhc7" })),
  amount_usd: usdField({ about: "The payment", sample: "25" }),
  refunded_usd: usdField({ about: "Refunded of it", sample: "0" }),
  disputed_usd: usdField({ about: "Held or taken by the dispute", sample: "25" }),
  dispute: nullable(word(["open", "won", "lost"], { sample: "open" })),
  concern: nullable(text({ about: "What the provider last said", sample: "dispute open $25" })),
  paid_at: time({ sample: "2026-11-01T09:00:00.000Z" }),
};

export const DISPUTES = listReading({
  name: "disputes",
  line: DisputedPayment,
  filters: {
    state: optional(oneOf(["open", "all"], { description: "Those that are open by default" })),
  },
  keyset: byNumber("number"),
  read: (database: Database, { state }, page) =>
    listDisputes(database, { openOnly: state !== "all", ...page }),
});

export type DisputesReply = PageOf<typeof DISPUTES>;
