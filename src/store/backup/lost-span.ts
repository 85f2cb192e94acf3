// The span that a restore loses: the differences between a backup and the Postgres that it
// replaces. The backup's rows are loaded beside the present ones, compared and dropped again.

import type { Surface } from "../../core/access/services.ts";
import {
  type AppliedOperation,
  type KnownOperations,
  lackingIn,
} from "../ledger/lost-operations.ts";
import type { Database } from "../servers/database.ts";
import type { SqlTransaction } from "../servers/transaction.ts";
import { copyIn } from "../tables/copy.ts";
import type { RestoredRows } from "./restore.ts";

/** A change of a balance that the backup does not have. */
export interface LostOperation {
  readonly account: string;
  readonly number: number;
  readonly kind: string;
  readonly balance: "paid" | "free";
  readonly amount: bigint;
  /** The author of the operation, with the reason and the author's own id of it. */
  readonly actor: string;
  readonly reason: string | null;
  readonly reference: string | null;
  /** The provider of its payment; `manual` for one that an operator recorded; null for none. */
  readonly provider: string | null;
  readonly at: Date;
}

export interface LostAccount {
  readonly id: string;
  readonly surface: Surface;
  readonly email: string | null;
  readonly at: Date;
}

export interface LostKey {
  readonly id: string;
  readonly account: string;
  readonly name: string;
}

/** The present state of an account, and the state that a restore gives back to it. */
export interface LostState {
  readonly account: string;
  readonly now: string;
  readonly then: string;
}

export interface LostSpan {
  readonly accounts: readonly LostAccount[];
  readonly keys: readonly LostKey[];
  /** Keys that are revoked now and were not then; a restore revokes them again. */
  readonly revokedKeys: readonly LostKey[];
  readonly states: readonly LostState[];
  readonly operations: readonly LostOperation[];
  /** The sum that calls were charged: customers get it back. */
  readonly charged: bigint;
}

export const NOTHING_LOST: LostSpan = {
  accounts: [],
  keys: [],
  revokedKeys: [],
  states: [],
  operations: [],
  charged: 0n,
};

/** The tables of the backup that are compared. */
const COMPARED = ["accounts", "keys", "operations", "month_spend"] as const;

/** A comparison, and the operations applied by Redis that Postgres or the backup has. */
export interface Compared {
  readonly span: LostSpan;
  readonly known: KnownOperations;
}

/**
 * Compares a backup with the present rows of Postgres, and changes nothing. `applied` are
 * operations of Redis that Postgres lacks.
 */
export async function readLostSpan(
  { sql }: Database,
  { tables, rowsOf }: Pick<RestoredRows, "tables" | "rowsOf">,
  applied: readonly AppliedOperation[],
): Promise<Compared> {
  const undone = new Error("The comparison is over");
  const result: { compared: Compared | null } = { compared: null };
  try {
    await sql.begin(async (tx) => {
      for (const name of COMPARED) {
        const table = tables.find((one) => one.name === name);
        if (table === undefined) throw new Error(`The backup has no table ${name}`);
        await tx.unsafe(`CREATE TEMP TABLE backup_${name} (LIKE public.${name}) ON COMMIT DROP`);
        await copyIn(tx, { ...table, name: `backup_${name}` }, rowsOf(name));
        await tx.unsafe(`ANALYZE backup_${name}`);
      }
      const known = { last: await readLast(tx), lost: await lackingIn(tx, applied, "backup_") };
      result.compared = { span: await compare(tx), known };
      throw undone;
    });
  } catch (error) {
    if (error !== undone || result.compared === null) throw error;
  }
  if (result.compared === null) throw undone;
  return result.compared;
}

/** The highest number of an operation of each account, in Postgres or in the backup. */
async function readLast(tx: SqlTransaction): Promise<ReadonlyMap<string, number>> {
  const rows = await tx<{ id: string; last: number }[]>`
    SELECT id, coalesce(max(o.number), 0)::int AS last FROM (
      SELECT a.id, o.number FROM accounts a LEFT JOIN operations o ON o.account = a.number
      UNION ALL
      SELECT a.id, o.number FROM backup_accounts a
      LEFT JOIN backup_operations o ON o.account = a.number) AS o
    GROUP BY id`;
  return new Map(rows.map(({ id, last }) => [id, last]));
}

/** A row with its amount and its time as text. */
type Stored<Row> = Omit<Row, "amount" | "at"> & { readonly amount: string; readonly at: string };

async function compare(tx: SqlTransaction): Promise<LostSpan> {
  const accounts = await tx<Stored<LostAccount>[]>`
    SELECT a.id, a.surface, a.email, a.created_at::text AS at FROM accounts a
    WHERE NOT EXISTS (SELECT FROM backup_accounts b WHERE b.id = a.id) ORDER BY a.number`;
  const keys = await tx<LostKey[]>`
    SELECT k.id, a.id AS account, k.name FROM keys k JOIN accounts a ON a.number = k.account
    WHERE k.revoked_at IS NULL AND k.session IS NULL
      AND NOT EXISTS (SELECT FROM backup_keys b WHERE b.id = k.id) ORDER BY k.number`;
  const revokedKeys = await tx<LostKey[]>`
    SELECT k.id, a.id AS account, k.name FROM keys k JOIN accounts a ON a.number = k.account
    JOIN backup_keys b ON b.id = k.id
    WHERE k.revoked_at IS NOT NULL AND b.revoked_at IS NULL ORDER BY k.number`;
  const states = await tx<LostState[]>`
    SELECT a.id AS account, a.state AS now, b.state AS then
    FROM accounts a JOIN backup_accounts b ON b.id = a.id
    WHERE a.state <> b.state ORDER BY a.number`;
  const operations = await tx<Stored<LostOperation>[]>`
    SELECT a.id AS account, o.number, o.kind, o.balance, o.amount::text, o.actor, o.reason,
      o.reference, p.provider, o.created_at::text AS at
    FROM operations o JOIN accounts a ON a.number = o.account
    LEFT JOIN payments p ON p.number = o.payment
    WHERE NOT EXISTS (
      SELECT FROM backup_operations b JOIN backup_accounts c ON c.number = b.account
      WHERE c.id = a.id AND b.number = o.number)
    ORDER BY a.number, o.number`;
  // The spending of months has every charge, and is far smaller than the ledger. A charge of the
  // backup that a new database lacks is given back to nobody.
  const [spent] = await tx<{ more: string }[]>`
    SELECT coalesce(sum(greatest(now.spent - coalesce(kept.spent, 0), 0)), 0)::text AS more
    FROM (
      SELECT a.id, m.month, sum(m.spent) AS spent FROM month_spend m
      JOIN accounts a ON a.number = m.account GROUP BY a.id, m.month) AS now
    LEFT JOIN (
      SELECT a.id, m.month, sum(m.spent) AS spent FROM backup_month_spend m
      JOIN backup_accounts a ON a.number = m.account GROUP BY a.id, m.month) AS kept
    USING (id, month)`;
  return {
    keys,
    revokedKeys,
    states,
    accounts: accounts.map((one) => ({ ...one, at: new Date(one.at) })),
    operations: operations.map((one) => {
      return { ...one, amount: BigInt(one.amount), at: new Date(one.at) };
    }),
    charged: BigInt(spent?.more ?? 0),
  };
}
