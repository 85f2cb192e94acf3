// Makes the accounts of the model test, many at a time. Each kind has limits that its calls reach.

import { DAY_MS } from "../../../src/core/durations.ts";
import { newId } from "../../../src/core/ids.ts";
import type { Operation } from "../../../src/core/journal/journal.ts";
import { usd } from "../../../src/core/money/money.ts";
import type { Database } from "../../../src/store/servers/database.ts";
import { random } from "../../support/random.ts";
import type { ModelTerms } from "./model-types.ts";

export interface ModelAccount {
  readonly id: string;
  readonly number: bigint;
  readonly bucket: number;
  readonly keys: readonly string[];
  readonly terms: ModelTerms;
}

/**
 * The kinds: a free one, one with a small monthly cap of its own, one that becomes Build after some
 * time; and two of the Application API: one with only its monthly allowance, one with credits.
 */
const KINDS = [
  { plan: null, netPaid: usd("0"), ownCap: null, budget: null },
  { plan: null, netPaid: usd("10"), ownCap: usd("12"), budget: usd("3") },
  { plan: null, netPaid: usd("60"), ownCap: null, budget: usd("4") },
  { plan: "free", netPaid: usd("0"), ownCap: null, budget: usd("20") },
  { plan: "starter", netPaid: usd("10"), ownCap: null, budget: null },
] as const;

/** Enough for several calls of the model. */
const ALLOWANCE = usd("9");

/** A Gateway account starts with free credit; the commands of the run decide all later credit. */
function operationsOf(plan: ModelTerms["plan"], startMs: number): ModelTerms["operations"] {
  if (plan === "free") return [];
  const expiresAtMs = startMs + 90 * DAY_MS;
  const given = { kind: "credit", balance: "free", amount: usd("5"), expiresAtMs } as const;
  return [{ ...given, number: 1, createdAtMs: startMs }];
}

/** Makes an account of each given kind, in this order, with one statement per table. */
export async function makeAccounts(
  database: Database,
  wanted: readonly { readonly bucket: number; readonly kind: number }[],
  startMs: number,
): Promise<ModelAccount[]> {
  const rows = wanted.map(({ bucket, kind }) => ({
    id: newId("account", random),
    bucket,
    keys: [newKeyId(), newKeyId()],
    kind: KINDS[kind % KINDS.length] ?? KINDS[0],
  }));
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
    id,
    bucket,
    keys,
    number: numberOf.get(id) ?? 0n,
    terms: {
      plan: kind.plan,
      allowance: ALLOWANCE,
      netPaid: kind.netPaid,
      firstPaymentAtMs: kind.netPaid > 0n ? startMs : null,
      ownCap: kind.ownCap,
      budgets: [null, kind.budget],
      operations: operationsOf(kind.plan, startMs),
    },
  }));
  await addRows(database, made);
  return made;
}

async function addRows({ sql }: Database, made: readonly ModelAccount[]): Promise<void> {
  const keys = made.flatMap(({ number, keys, terms }) =>
    keys.map((id, index) => ({
      id,
      account: number.toString(),
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
          id: `pay_${id}`,
          account: number.toString(),
          amount: terms.netPaid.toString(),
          paid_at: new Date(terms.firstPaymentAtMs).toISOString(),
        },
  );
  await sql`
    INSERT INTO payments (id, account, amount, paid_at)
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(payments)}::text::jsonb)
      AS row(id text, account bigint, amount bigint, paid_at timestamptz)`;
  const operations = made.flatMap(({ number, terms }) =>
    terms.operations.map((operation) => rowOf(number, operation)),
  );
  await insertOperations({ sql }, operations);
}

interface OperationRow {
  readonly account: string;
  readonly number: number;
  readonly kind: string;
  readonly balance: string;
  readonly amount: string;
  readonly expires_at: string | null;
  readonly created_at: string;
}

/** An operation as a row of its table. */
export function rowOf(account: bigint, operation: Operation): OperationRow {
  const { number, kind, balance, amount, expiresAtMs, createdAtMs } = operation;
  const expires_at = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  const times = { expires_at, created_at: new Date(createdAtMs).toISOString() };
  return { account: `${account}`, number, kind, balance, amount: `${amount}`, ...times };
}

/** Commits operations in Postgres. */
export async function insertOperations(
  { sql }: Pick<Database, "sql">,
  rows: readonly OperationRow[],
): Promise<void> {
  await sql`
    INSERT INTO operations (account, number, kind, balance, amount, expires_at, created_at)
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      AS row(account bigint, number int, kind text, balance text, amount bigint,
        expires_at timestamptz, created_at timestamptz)`;
}

const newKeyId = () => newId("key", random);
