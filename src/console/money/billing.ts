// Gives endpoints the payment provider, for changes that people make to the money of their account.

import { AdministrationError } from "../../core/errors.ts";
import type { AccountContext, ConsoleFrameDeps } from "../../http/console/console-endpoint.ts";
import type { PlanEndDeps } from "../../payments/plans.ts";
import type { PaymentDeps } from "../../payments/read-top-up.ts";
import type { BillingStores } from "../../readings/billing.ts";
import { noted } from "../noted.ts";

export interface BillingDeps extends ConsoleFrameDeps, BillingStores {
  readonly planEnds: PlanEndDeps;
}

/**
 * The payment provider for a change by the person of a request, whom the account's activity names.
 * @throws AdministrationError if no provider is configured
 */
export function cashierOf(
  context: AccountContext<BillingDeps>,
  action: string,
  about: string,
): PaymentDeps {
  const { cashier } = context.deps;
  if (cashier !== null) return { ...cashier, also: noted(context, action, about) };
  throw new AdministrationError(
    "no_payment_provider",
    "Nothing can be paid here: this installation has no payment provider. Its operator adds credit",
  );
}
