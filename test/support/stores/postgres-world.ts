// Opens Postgres without Redis, for the changes that use cases commit while Redis is away.

import type { AdministrationDeps } from "../../../src/accounts/administration.ts";
import { type NanoUsd, nano } from "../../../src/core/money/money.ts";
import { type AccountRow, Accounts } from "../../../src/store/accounts/accounts.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { Payments } from "../../../src/store/payments/payments.ts";
import { type Database, openDatabase } from "../../../src/store/servers/database.ts";
import { random } from "../random.ts";
import { createTestAccount } from "./accounts.ts";
import { createTestDatabase } from "./services.ts";
import { WORLD_PEPPER } from "./world.ts";

export interface PostgresWorld extends AsyncDisposable {
  readonly database: Database;
  readonly deps: AdministrationDeps;
  readonly repository: WalletRepository;
  /** A new Gateway account, whose free credit is operation 1. */
  account(): Promise<AccountRow>;
  row(id: string): Promise<AccountRow>;
  /** Kinds and amounts of the account's operations after the free credit, in order. */
  operations(account: AccountRow): Promise<readonly (readonly [kind: string, amount: bigint])[]>;
  /** The tier inputs in the access document. */
  tierInputs(account: AccountRow): Promise<{ net_paid: string; first_payment_ms: number | null }>;
}

export async function openPostgresWorld(): Promise<PostgresWorld> {
  const own = await createTestDatabase();
  const database = openDatabase(own.url);
  const accounts = new Accounts({ database, random, keyPepper: WORLD_PEPPER });
  const payments = new Payments({ database, random });
  const repository = new WalletRepository(database);
  const away = () => Promise.reject(new Error("Redis is away"));
  const deps: AdministrationDeps = {
    accounts,
    payments,
    actors: { of: () => ({ configure: away, applyOperations: away }) },
    now: Date.now,
    onDelayed: () => {},
  };
  const row = async (id: string) => {
    const found = await accounts.find(id);
    if (found === null) throw new Error("The account is gone");
    return found;
  };
  return {
    database,
    deps,
    repository,
    row,
    account: async () => (await createTestAccount({ accounts, payments })).row,
    operations: async ({ id }) => {
      const [, ...booked] = await repository.operationsAfter(id, 0);
      return booked.map(({ kind, amount }) => [kind, amount] as const);
    },
    tierInputs: async ({ id }) => {
      const stored = await repository.readDocument(id);
      return JSON.parse(stored?.document ?? "null");
    },
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await own.drop();
    },
  };
}

export function sumOf(operations: readonly (readonly [string, bigint])[]): NanoUsd {
  return nano(operations.reduce((sum, [, amount]) => sum + amount, 0n));
}

/** The code of a use case's refusal, or "done". */
export async function refusalCode(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (error instanceof Error && "code" in error) return String(error.code);
    throw error;
  }
}
