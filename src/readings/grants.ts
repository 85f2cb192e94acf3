// Lists grants of free credit, over all accounts.

import { nullable, text, time, usdField, word } from "../core/records.ts";
import { type GrantPlace, listGrants } from "../store/operators/operator-money.ts";
import type { Database } from "../store/servers/database.ts";
import { type Keyset, listReading, type PageOf } from "./list-reading.ts";

export const Grant = {
  account: text({ sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" }),
  account_name: nullable(text({ sample: "Ada's account" })),
  amount_usd: usdField({ about: "How much", sample: "5" }),
  actor: text({ about: "`operator`, `system`, or a person's address", sample: "system" }),
  kind: word(["grant", "allowance", "voucher"], {
    about: "An allowance is of the Free plan",
    sample: "grant",
  }),
  at: time({ sample: "2026-11-01T09:00:00.000Z" }),
  expires_at: nullable(time({ about: "When it ends", sample: "2027-01-30T09:00:00.000Z" })),
};

/** Operations are numbered within their account, so its number is a part of the place. */
const BY_OPERATION: Keyset<GrantPlace> = {
  nameOf: ({ micros, account_number, number }) => `${micros}.${account_number}.${number}`,
  parse(name) {
    const [, micros, account, number] = /^(\d{1,16})\.(\d{1,15})\.(\d{1,9})$/.exec(name) ?? [];
    if (micros === undefined || account === undefined || number === undefined) return null;
    return { micros, account, number };
  },
};

export const GRANTS = listReading({
  name: "grants",
  line: Grant,
  filters: {},
  keyset: BY_OPERATION,
  read: (database: Database, _query, { before, count }) => listGrants(database, before, count),
});

export type GrantsReply = PageOf<typeof GRANTS>;
