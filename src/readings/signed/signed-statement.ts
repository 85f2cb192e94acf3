// The statement of a month: the balances at both ends, and the changes between them. The charges of
// a statement are those of the ledger, and so the sum of the receipts of the month's calls (D-962).

import { serviceOfScope } from "../../core/access/services.ts";
import { CHARGES, LEDGER_KINDS } from "../../core/journal/journal.ts";
import {
  flag,
  integer,
  listOf,
  nested,
  nullable,
  text,
  time,
  usdField,
  type WireOf,
  word,
} from "../../core/records.ts";
import { type Change, type MonthSums, readMonthSums } from "../../store/ledger/month-sums.ts";
import { askedMonth } from "../month-question.ts";
import { type AccountSource, AGE, asOf, timeText, usdText } from "../reading.ts";
import { JWS_SAMPLE } from "./issued-receipt.ts";
import type { SignedReceipts } from "./signed-receipts.ts";

const Balances = {
  paid_usd: usdField({ sample: "43.184120875" }),
  free_usd: usdField({ sample: "3.2" }),
  owed_usd: usdField({ about: "Owed after a reversal", sample: "0" }),
};

const Statement = {
  month: text({ about: "A UTC month", sample: "2026-11" }),
  from: time({ about: "The begin", sample: "2026-11-01T00:00:00.000Z" }),
  to: time({ about: "The end, which is not included", sample: "2026-12-01T00:00:00.000Z" }),
  is_over: flag({ about: "False while the month runs", sample: false }),
  opening: nested(Balances),
  entries: listOf(
    nested({
      kind: word(LEDGER_KINDS, { sample: "charge" }),
      count: integer({ minimum: 0, sample: 1204 }),
      paid_usd: usdField({ about: "The change of the paid balance", sample: "-0.84123" }),
      free_usd: usdField({ about: "The change of the free credit", sample: "-0.1" }),
    }),
    { about: "They lead from the opening to the closing balances" },
  ),
  closing: nested(Balances),
  calls: nested({
    charged: integer({ minimum: 0, about: "Calls that were charged", sample: 1204 }),
    cost_usd: usdField({
      about: "Their charges: what their receipts add up to",
      sample: "0.94123",
    }),
    paid_usd: usdField({ about: "The part of it from the paid balance", sample: "0.84123" }),
    free_usd: usdField({ about: "The part of it from free credit", sample: "0.1" }),
  }),
  charges: listOf(
    nested({
      service: text({ about: "`unknown` for charges that no sum of usage has", sample: "chat" }),
      model: nullable(text({ about: "A model, or an action of maps", sample: "fast" })),
      cost_usd: usdField({ sample: "0.94123" }),
      free_usd: usdField({ about: "The part of it from free credit", sample: "0.1" }),
    }),
    { about: "The same charges by service and model, the highest first" },
  ),
};

export const SignedStatement = {
  ...AGE,
  statement: nested(Statement),
  jws: text({
    about: "The statement as a compact JWS by a key of /.well-known/jwks.json",
    sample: JWS_SAMPLE,
  }),
};
export type StatementReply = WireOf<typeof SignedStatement>;

interface StatementDeps {
  readonly receipts: Pick<SignedReceipts, "signStatement">;
  readonly nowMs: number;
}

/**
 * The statement of a month, signed anew for each request, because its content follows from the
 * ledger, whose entries never change.
 * @throws ApiError if `month` is no month, or has not begun
 */
export async function statementReply(
  { reading, account }: AccountSource,
  month: string,
  { receipts, nowMs }: StatementDeps,
): Promise<StatementReply> {
  const range = askedMonth(month, nowMs);
  const as_of = await asOf(reading, account);
  const sums = await readMonthSums(reading.database, account.number, range);
  const ends = { from: timeText(range.from), to: timeText(range.to) };
  const statement = { month, ...ends, is_over: range.to.getTime() <= nowMs, ...statedOf(sums) };
  return { as_of, statement, jws: await receipts.signStatement(account.id, statement) };
}

function statedOf({ opening, changes, owed, charged, charges }: MonthSums) {
  const { paid, free } = sumOf(changes);
  const calls = sumOf(changes.filter(({ kind }) => CHARGES.has(kind)));
  const cost = -(calls.paid + calls.free);
  const known = charges.map((one) => ({
    service: serviceOfScope(one.service),
    model: one.model === "" ? null : one.model,
    cost: one.cost,
    free: one.free,
  }));
  const rest = {
    service: "unknown",
    model: null,
    cost: known.reduce((left, one) => left - one.cost, cost),
    free: known.reduce((left, one) => left - one.free, -calls.free),
  };
  const all = rest.cost === 0n && rest.free === 0n ? known : [...known, rest];
  return {
    opening: balancesOf(opening),
    entries: changes.map((one) => ({
      kind: one.kind,
      count: one.count,
      paid_usd: usdText(one.paid),
      free_usd: usdText(one.free),
    })),
    closing: balancesOf({ paid: opening.paid + paid, free: opening.free + free, owed }),
    calls: {
      charged,
      cost_usd: usdText(cost),
      paid_usd: usdText(-calls.paid),
      free_usd: usdText(-calls.free),
    },
    charges: all.map((one) => ({
      service: one.service,
      model: one.model,
      cost_usd: usdText(one.cost),
      free_usd: usdText(one.free),
    })),
  };
}

function sumOf(changes: readonly Change[]) {
  return {
    paid: changes.reduce((sum, one) => sum + one.paid, 0n),
    free: changes.reduce((sum, one) => sum + one.free, 0n),
  };
}

function balancesOf({ paid, free, owed }: MonthSums["opening"]) {
  return { paid_usd: usdText(paid), free_usd: usdText(free), owed_usd: usdText(owed) };
}
