// Defines the common parts of pages that only read: their stores, the age of their figures, and the
// forms of amounts and times.

import type { ReadableAccounts } from "../accounts/account-summary.ts";
import type { AdministrationDeps } from "../accounts/administration.ts";
import { asOfNow, type JournalAgeDeps } from "../accounts/journal-age.ts";
import { type NanoUsd, toDecimal } from "../core/money/money.ts";
import { integer, nested, number, time, type WireOf } from "../core/records.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import type { Database } from "../store/servers/database.ts";

/** The stores of the pages that read. */
export interface Reading {
  readonly database: Database;
  readonly journal: JournalAgeDeps;
}

/** The stores of an account's terms and of its wallet. */
export interface WalletStores {
  readonly administration: AdministrationDeps;
  readonly wallets: ReadableAccounts;
}

/** The fields for the time up to which the figures of a reply are complete. */
export const AGE = {
  as_of: nested({
    at: time({ about: "The time of the answer", sample: "2026-11-22T14:03:22.000Z" }),
    behind_seconds: number({
      about: "How much later than this the newest calls may appear",
      minimum: 0,
      sample: 0.4,
    }),
  }),
};

/** An account and the stores that its pages are read from. */
export interface AccountSource {
  readonly reading: Reading;
  readonly account: AccountRow;
}

/** The head of lists of an account whose lines come from the journal. */
export const WITH_AGE = {
  fields: AGE,
  read: async ({ reading, account }: AccountSource) => ({ as_of: await asOf(reading, account) }),
};

type AsOfJson = WireOf<typeof AGE>["as_of"];

/**
 * The time up to which the figures of an account are complete. Call the function before reading the
 * figures.
 */
export async function asOf(
  { journal }: Reading,
  { bucket }: Pick<AccountRow, "bucket">,
): Promise<AsOfJson> {
  const { at, behindSeconds } = await asOfNow(journal, bucket);
  return { at: timeText(at), behind_seconds: behindSeconds };
}

/** A field that counts things. */
export function count(about: string, sample = 0) {
  return integer({ minimum: 0, about, sample });
}

/** Exact USD. A sum may be outside the range of NanoUsd. */
export function usdText(amount: bigint | string): string {
  return toDecimal(BigInt(amount) as NanoUsd);
}

/** A time in UTC. */
export function timeText(time: Date | number): string {
  return new Date(time).toISOString();
}
