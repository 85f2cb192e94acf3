// Lists the batches of vouchers.

import { PRICED_PLANS } from "../../core/money/plan-terms.ts";
import { giftFields } from "../../core/money/voucher-gift.ts";
import {
  flag,
  integer,
  jsonFrom,
  listOf,
  nullable,
  text,
  time,
  usdField,
  word,
} from "../../core/records.ts";
import { listBatches } from "../../store/payments/vouchers.ts";
import type { Database } from "../../store/servers/database.ts";
import { byNumber, listReading, type PageOf } from "../list-reading.ts";

const Batch = {
  number: integer({ about: "Counts up from batch to batch", minimum: 1, sample: 41 }),
  batch: text({ about: "Its name", sample: "summer" }),
  codes: integer({ minimum: 1, sample: 200 }),
  amount_usd: nullable(
    usdField({ about: "The credit of each redemption; null for a plan", sample: "5" }),
  ),
  free_days: nullable(
    integer({ about: "The days that it lasts; null for bonus credit", minimum: 1, sample: 90 }),
    { sample: null },
  ),
  plan: nullable(
    word(PRICED_PLANS, { about: "The plan that it gives; null for credit", sample: "pro" }),
    { sample: null },
  ),
  months: nullable(integer({ about: "The months of the plan", minimum: 1, sample: 3 }), {
    sample: null,
  }),
  used: integer({ about: "How often its codes were redeemed", sample: 37 }),
  uses_max: integer({ about: "How often they can be, all together", minimum: 1, sample: 200 }),
  tiers: nullable(
    listOf(text({ about: "A tier whose accounts may redeem them", sample: "free" })),
    { sample: null },
  ),
  once_per_person: flag({
    about: "True if an account, an inbox, a network and a device redeem one code of it",
    sample: true,
  }),
  ends_at: nullable(time({ about: "When its codes end", sample: "2027-01-01T00:00:00.000Z" })),
  ended_at: nullable(
    time({ about: "When an operator ended it", sample: "2026-12-01T09:00:00.000Z" }),
    {
      sample: null,
    },
  ),
  created_at: nullable(time({ sample: "2026-11-22T13:00:00.000Z" })),
};

const writeBatch = jsonFrom(Batch);

export const VOUCHERS = listReading({
  name: "batches",
  line: Batch,
  filters: {},
  keyset: byNumber("number"),
  read: (database: Database, _query, page) => listBatches(database, page),
  toLine: ({ gift, ...batch }) => writeBatch({ ...batch, ...giftFields(gift) }),
});

export type VouchersReply = PageOf<typeof VOUCHERS>;
