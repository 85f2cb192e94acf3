// A month of an account as FOCUS 1.3, the FinOps form of costs and usage: one row for each day,
// key, model and price of a part. The sums are the ledger's to the nano-dollar (D-801).

import { DAY_MS } from "../../core/durations.ts";
import type { PicoUsd } from "../../core/money/money.ts";
import { capitalised } from "../../core/text/capital.ts";
import { csvLine } from "../../core/text/csv.ts";
import { readKeyNames } from "../../store/accounts/key-names.ts";
import { type DayCharge, readDayCharges } from "../../store/usage/day-charges.ts";
import { ALL_CALLS } from "../../store/usage/log-filter.ts";
import { type LoggedCall, readLogPage } from "../../store/usage/request-log.ts";
import { type AskedMonth, askedMonth } from "../month-question.ts";
import type { AccountSource } from "../reading.ts";
import { type PriceCatalogue, type PricedPart, pricedParts, TOKENS } from "../receipt-lines.ts";
import { type Charge, FOCUS_COLUMNS, FOCUS_HEADINGS } from "./focus-columns.ts";

const CALLS_PER_PAGE = 1_000;
const PICO_PER_NANO = 1_000n;

export interface FocusQuestion {
  /** A UTC month, such as 2026-11. */
  readonly month: string;
  /** The name of the service on the market: who issues the charges and provides it. */
  readonly provider: string;
  readonly catalogue: PriceCatalogue;
  readonly nowMs: number;
}

interface FocusPage {
  readonly csv: string;
  readonly rows: number;
}

/**
 * Yields the file: its heading line first, then the rows of each day. For the running month these
 * are the charges that the ledger has now.
 * @throws ApiError if `month` is no month, or has not begun
 */
export function focusPages(
  source: AccountSource,
  question: FocusQuestion,
): AsyncGenerator<FocusPage> {
  return pagesOf(source, question, askedMonth(question.month, question.nowMs));
}

async function* pagesOf(
  source: AccountSource,
  question: FocusQuestion,
  { from, to }: AskedMonth,
): AsyncGenerator<FocusPage> {
  const startMs = from.getTime();
  const endMs = Math.min(question.nowMs, to.getTime());
  yield { csv: csvLine(FOCUS_HEADINGS), rows: 0 };
  const { reading, account } = source;
  const keys = await readKeyNames(reading.database, account.number);
  for (let dayMs = startMs; dayMs < endMs; dayMs += DAY_MS) {
    const charges = await chargesOfDay(source, new Date(dayMs), question.catalogue);
    const lines = charges.map((charge) => {
      const row = { ...charge, ...question, account, key: keys.get(charge.of.key) };
      return csvLine(Object.values(FOCUS_COLUMNS).map((cell) => cell(row)));
    });
    yield { csv: lines.join(""), rows: lines.length };
  }
}

/** The calls of a day that share a key, a service, a model, a part and its price. */
interface Itemized {
  readonly of: Charge["of"];
  readonly part: PricedPart;
  quantity: number;
  billed: bigint;
}

async function chargesOfDay(
  { reading: { database }, account }: AccountSource,
  day: Date,
  catalogue: PriceCatalogue,
): Promise<Charge[]> {
  const items = new Map<string, Itemized>();
  for await (const call of callsOfDay(database, account.number, day)) {
    const of = { key: call.key, service: call.service, model: call.model ?? "" };
    const parts = pricedParts(catalogue, call) ?? [];
    for (const { part, billed: amount } of divided(call.cost, parts)) {
      const name = JSON.stringify([of.key, of.service, of.model, part.what, String(part.price)]);
      const item = items.get(name) ?? { of, part, quantity: 0, billed: 0n };
      item.quantity += part.units;
      item.billed += amount;
      items.set(name, item);
    }
  }
  // Read after the calls, so that a call that is logged in between is not counted twice: its whole
  // charge is in `otherCharges`.
  const sums = await readDayCharges(database, account.number, day);
  const usage = [...items.values()].map((item): Charge => itemCharge(day, item));
  return [...usage, ...sums.flatMap((sum) => otherCharges(day, sum, usage))];
}

async function* callsOfDay(
  database: AccountSource["reading"]["database"],
  account: number,
  day: Date,
): AsyncGenerator<LoggedCall> {
  const filter = { ...ALL_CALLS, from: day, to: new Date(day.getTime() + DAY_MS) };
  for (let last: LoggedCall | null = null; ; ) {
    const page = await readLogPage(database, account, {
      filter,
      before: last,
      count: CALLS_PER_PAGE,
    });
    yield* page;
    if (page.length < CALLS_PER_PAGE) return;
    last = page.at(-1) ?? null;
  }
}

/**
 * The charge of a call by its parts, rounded down; the first part includes the rounding of the sum.
 */
function divided(cost: bigint, parts: readonly PricedPart[]) {
  const whole = parts.map((part) => ({
    part,
    billed: (BigInt(part.units) * part.price) / PICO_PER_NANO,
  }));
  const rest = cost - whole.reduce((sum, one) => sum + one.billed, 0n);
  return whole.map((one, index) => (index === 0 ? { ...one, billed: one.billed + rest } : one));
}

function itemCharge(day: Date, { of, part, quantity: count, billed: amount }: Itemized): Charge {
  const isTokens = part.per === TOKENS;
  const words = capitalised(part.what);
  return {
    day,
    of,
    category: "Usage",
    description: of.model === "" ? words : `${words} of ${of.model}`,
    billed: amount,
    sku: {
      meter: words,
      tokenType: isTokens ? pascal(part.what.replace(/ tokens$/, "")) : null,
      unit: isTokens ? "Tokens" : plural(words),
      quantity: count,
      price: part.price,
    },
  };
}

/** The rest of a day's sums beyond its priced parts, and the credit that paid for a share. */
function otherCharges(day: Date, sum: DayCharge, usage: readonly Charge[]): Charge[] {
  const { key, service, model, cost, freeCost } = sum;
  const of = { key, service, model };
  const itemized = usage.filter(({ of: one }) => {
    return one.key === key && one.service === service && one.model === model;
  });
  const rest = itemized.reduce((left, one) => left - one.billed, cost);
  const charges: Charge[] = [];
  if (rest !== 0n) {
    charges.push({
      day,
      of,
      category: "Usage",
      description: "Charges whose prices are no longer known",
      billed: rest,
      sku: {
        meter: "Charges",
        tokenType: null,
        unit: "Days",
        quantity: 1,
        price: (rest * PICO_PER_NANO) as PicoUsd,
      },
    });
  }
  if (freeCost !== 0n) {
    const description = "Paid by free credit";
    charges.push({ day, of, category: "Credit", description, billed: -freeCost, sku: null });
  }
  return charges;
}

function pascal(words: string): string {
  return words.split(/[ _]/).map(capitalised).join("");
}

function plural(words: string): string {
  return words.endsWith("s") ? words : `${words}s`;
}
