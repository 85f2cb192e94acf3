// Accounts for the model test, made many at a time: each kind has limits that its calls run into.

import { newId } from "../../src/core/ids.ts";
import { usd } from "../../src/core/money.ts";
import type { Database } from "../../src/store/database.ts";
import { random } from "../support/world.ts";
import type { ModelCredit, ModelTerms } from "./wallet-model.ts";

export interface ModelAccount {
  readonly id: string;
  readonly number: bigint;
  readonly bucket: number;
  readonly keys: readonly string[];
  readonly terms: ModelTerms;
}

const DAY_MS = 86_400_000;

/**
 * The kinds: a free one, one with a small cap of its own, one that becomes Build in time; and of
 * the Application API one that lives on its monthly allowance and one with credits.
 */
const KINDS = [
  { plan: null, netPaid: usd("0"), ownCap: null, budget: null },
  { plan: null, netPaid: usd("10"), ownCap: usd("12"), budget: usd("3") },
  { plan: null, netPaid: usd("60"), ownCap: null, budget: usd("4") },
  { plan: "free", netPaid: usd("0"), ownCap: null, budget: usd("20") },
  { plan: "starter", netPaid: usd("10"), ownCap: null, budget: null },
] as const;

/** Enough for several calls of the model's. */
const ALLOWANCE = usd("9");

function creditsOf(plan: ModelTerms["plan"], startMs: number): ModelCredit[] {
  if (plan === "free") return [];
  const paid = ["3", "0.000000001", "7.5", "1.25", "20"];
  return [
    { number: 1, purse: "free", amount: usd("5"), expiresAtMs: startMs + 90 * DAY_MS },
    ...paid.map((amount, index) => ({
      number: index + 2,
      purse: "paid" as const,
      amount: usd(amount),
      expiresAtMs: null,
    })),
  ];
}

/** Makes accounts, `count` in each of the buckets, by one statement a table. */
export async function makeAccounts(
  database: Database,
  options: {
    readonly buckets: readonly number[];
    readonly count: number;
    readonly startMs: number;
  },
): Promise<ModelAccount[][]> {
  const rows = options.buckets.flatMap((bucket) =>
    Array.from({ length: options.count }, (_, index) => {
      const kind = KINDS[(bucket + index) % KINDS.length] ?? KINDS[0];
      return { id: newId("account", random), bucket, kind, keys: [newKeyId(), newKeyId()] };
    }),
  );
  const { sql } = database;
  const place = rows.map(({ id, bucket, kind }) => ({
    id,
    bucket,
    plan: kind.plan,
    own_cap: kind.ownCap?.toString() ?? null,
  }));
  const numbers = await sql`
    INSERT INTO accounts (id, surface, plan, bucket, own_cap)
    SELECT id, CASE WHEN plan IS NULL THEN 'gateway' ELSE 'application' END, plan, bucket, own_cap
    FROM jsonb_to_recordset(${JSON.stringify(place)}::text::jsonb)
      AS row(id text, bucket smallint, plan text, own_cap bigint) RETURNING id, number`;
  const numberOf = new Map(numbers.map((row) => [String(row.id), row.number as bigint]));
  const made = rows.map(({ id, bucket, kind, keys }) => ({
    ...{ id, bucket, keys, number: numberOf.get(id) ?? 0n },
    terms: {
      ...{ plan: kind.plan, allowance: ALLOWANCE },
      netPaid: kind.netPaid,
      firstPaymentAtMs: kind.netPaid > 0n ? options.startMs : null,
      ownCap: kind.ownCap,
      budgets: [null, kind.budget],
      credits: creditsOf(kind.plan, options.startMs),
    },
  }));
  await addRows(database, made);
  return options.buckets.map((bucket) => made.filter((account) => account.bucket === bucket));
}

async function addRows({ sql }: Database, made: readonly ModelAccount[]): Promise<void> {
  const keys = made.flatMap(({ number, keys, terms }) =>
    keys.map((id, index) => ({
      ...{ id, account: number.toString() },
      monthly_limit: terms.budgets[index]?.toString() ?? null,
    })),
  );
  await sql`
    INSERT INTO keys (id, account, digest, name, scopes, ip_allowlist, monthly_limit, last_four)
    SELECT id, account, id, 'model', '{models}', '{}', monthly_limit, '0000'
    FROM jsonb_to_recordset(${JSON.stringify(keys)}::text::jsonb)
      AS row(id text, account bigint, monthly_limit bigint)`;
  const payments = made.flatMap(({ id, number, terms }) =>
    terms.firstPaymentAtMs === null
      ? []
      : {
          ...{ id: `pay_${id}`, account: number.toString(), amount: terms.netPaid.toString() },
          paid_at: new Date(terms.firstPaymentAtMs).toISOString(),
        },
  );
  await sql`
    INSERT INTO payments (id, account, amount, paid_at)
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(payments)}::text::jsonb)
      AS row(id text, account bigint, amount bigint, paid_at timestamptz)`;
  const credits = made.flatMap(({ number, terms }) =>
    terms.credits.map((credit) => ({
      ...{ account: number.toString(), number: credit.number, purse: credit.purse },
      amount: credit.amount.toString(),
      expires_at: credit.expiresAtMs === null ? null : new Date(credit.expiresAtMs).toISOString(),
    })),
  );
  await sql`
    INSERT INTO credits (account, number, purse, amount, expires_at)
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(credits)}::text::jsonb)
      AS row(account bigint, number int, purse text, amount bigint, expires_at timestamptz)`;
}

const newKeyId = () => newId("key", random);
