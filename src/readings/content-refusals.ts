// Lists the accounts whose calls providers refused for their content.

import { integer, nullable, text, time, word } from "../core/records.ts";
import { listContentRefusals, type RefusalPlace } from "../store/operators/content-refusals.ts";
import type { Database } from "../store/servers/database.ts";
import { type Keyset, listReading, type PageOf } from "./list-reading.ts";

/** The days that are counted, back from now. */
const DAYS = 30;

export const RefusedAccount = {
  account: text({ sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" }),
  account_name: nullable(text({ sample: "Ada's account" })),
  state: word(["active", "suspended", "closed"], { sample: "active" }),
  refusals: integer({ about: "Calls that providers refused for their content", sample: 41 }),
  providers: nullable(
    text({
      about: "Those that ended a reply; null if all were refused before one",
      sample: "a, b",
    }),
  ),
  last_at: time({ sample: "2026-11-26T09:00:00.000Z" }),
};

const byRefusals: Keyset<RefusalPlace> = {
  nameOf: ({ refusals, number }) => `${refusals}.${number}`,
  parse(name) {
    const [, refusals, account] = /^(\d{1,15})\.(\d{1,15})$/.exec(name) ?? [];
    return refusals === undefined || account === undefined ? null : { refusals, account };
  },
};

export const CONTENT_REFUSALS = listReading({
  name: "accounts",
  line: RefusedAccount,
  filters: {},
  keyset: byRefusals,
  read: (database: Database, _, page) => listContentRefusals(database, { days: DAYS, ...page }),
});

export type ContentRefusalsReply = PageOf<typeof CONTENT_REFUSALS>;
