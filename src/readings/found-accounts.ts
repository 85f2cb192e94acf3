// Finds accounts for operators, by any id, name or address that a customer gives.

import { nullable, text, time, usdField, word } from "../core/records.ts";
import { optional, text as textSchema } from "../http/schema.ts";
import { searchAccounts } from "../store/accounts/account-search.ts";
import type { Database } from "../store/servers/database.ts";
import { byNumber, listReading, type PageOf } from "./list-reading.ts";

const TEXT_CHARACTERS_MAX = 200;

export const FoundAccount = {
  id: text({ sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" }),
  name: nullable(text({ sample: "Ada's account" })),
  email: nullable(text({ sample: "ada@example.com" })),
  surface: word(["gateway", "application"], { sample: "gateway" }),
  state: word(["active", "suspended", "closed"], { sample: "active" }),
  state_reason: nullable(text({ sample: "dispute" }), { sample: null }),
  paid_usd: usdField({
    about: "Paid balance as the ledger has it, with what is held",
    sample: "43.184120875",
  }),
  free_usd: usdField({
    about: "Free credit as the ledger has it, with what is held",
    sample: "3.2",
  }),
  owed_usd: usdField({ about: "Owed for reversed payments", sample: "0" }),
  created_at: time({ sample: "2026-11-01T09:00:00.000Z" }),
};

export const FOUND_ACCOUNTS = listReading({
  name: "accounts",
  line: FoundAccount,
  filters: {
    text: optional(
      textSchema({
        maxLength: TEXT_CHARACTERS_MAX,
        description:
          "An id of an account, key, payment, top-up, card, person or request; an id that the " +
          "payment provider gave; a part of a name or an address; the last four characters of a " +
          "key. Every account if missing",
      }),
    ),
  },
  keyset: byNumber("number"),
  read(database: Database, { text: given }, page) {
    const wanted = given?.trim() ?? "";
    return searchAccounts(database, { text: wanted === "" ? null : wanted, ...page });
  },
});

export type FoundAccountsReply = PageOf<typeof FOUND_ACCOUNTS>;
