// What the pages that only read have in common: their stores, the age of what they read, and how
// amounts and times are written.

import { type AsOf, asOfNow, type JournalAgeDeps } from "../accounts/journal-age.ts";
import { type NanoUsd, toDecimal } from "../core/money/money.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import type { Database } from "../store/servers/database.ts";

/** The stores of the pages that read. */
export interface Reading {
  readonly database: Database;
  readonly journal: JournalAgeDeps;
}

export interface AsOfJson {
  readonly at: string;
  readonly behind_seconds: number;
}

/** The age in examples of the documentation. */
export const AGE_SAMPLE: AsOfJson = { at: "2026-11-22T14:03:22.000Z", behind_seconds: 0.4 };

/** Until when the figures of an account are complete. Call it before reading them. */
export async function asOf(
  { journal }: Reading,
  { bucket }: Pick<AccountRow, "bucket">,
): Promise<AsOfJson> {
  return asOfJson(await asOfNow(journal, bucket));
}

function asOfJson({ at, behindSeconds }: AsOf): AsOfJson {
  return { at: at.toISOString(), behind_seconds: behindSeconds };
}

/** Exact USD. A sum may be outside the range of NanoUsd. */
export function usdText(amount: bigint | string): string {
  return toDecimal(BigInt(amount) as NanoUsd);
}

/** A time in UTC. */
export function timeText(time: Date | number): string {
  return new Date(time).toISOString();
}
