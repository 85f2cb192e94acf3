// Defines the dependencies of the operators' endpoints, and finds the account of a request.

import { findAccount } from "../accounts/administration.ts";
import type { RunDeps } from "../accounts/runs.ts";
import type { ReadBrand } from "../core/brand/brand.ts";
import type { OperatorContext, OperatorFrameDeps } from "../http/console/operator-endpoint.ts";
import type { RunningConfiguration } from "../readings/configurations.ts";
import type { HealthSource } from "../readings/health.ts";
import type { AccountSource, WalletStores } from "../readings/reading.ts";
import type { PriceCatalogue } from "../readings/receipt-lines.ts";
import type { SignedReceipts } from "../readings/signed/signed-receipts.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import type { DescribeChanges } from "../store/operators/configurations.ts";
import type { Pauses } from "../store/operators/pauses.ts";

/** The shared configuration, as the process that answers sees it. */
export interface ConfigurationHere {
  running(): RunningConfiguration;
  /** Checks a text as the process reads it. @throws StartError that names the line */
  readonly changes: DescribeChanges;
  /** Takes a newer version over at once. */
  takeOver(): Promise<void>;
}

export interface OperatorDeps extends OperatorFrameDeps, WalletStores, Omit<HealthSource, "clock"> {
  readonly catalogue: PriceCatalogue;
  readonly runs: RunDeps;
  readonly receipts: Pick<SignedReceipts, "of">;
  readonly brand: ReadBrand;
  readonly configuration: ConfigurationHere;
  readonly switches: Pick<Pauses, "rows" | "pause" | "resume">;
}

export type Context = OperatorContext<OperatorDeps>;

export const OPERATOR_PATH = "/console/operator";
export const ACCOUNT_PATH = `${OPERATOR_PATH}/accounts/{account}`;

/**
 * The account that the path names, with the stores to read it from.
 * @throws as `accountOf`
 */
export async function sourceOf(context: Context): Promise<AccountSource> {
  return { reading: context.deps.reading, account: await accountOf(context) };
}

/**
 * The account that the path names.
 * @throws AdministrationError if no account has this id
 */
export async function accountOf({ deps, params }: Context): Promise<AccountRow> {
  return await findAccount(deps.administration, params.account ?? "");
}
