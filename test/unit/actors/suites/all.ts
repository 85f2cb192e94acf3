// Lists every suite of money that must hold on one server, on a cluster, and when scripts arrive
// twice.

import { budgetSuite } from "./budgets.ts";
import { capSuite } from "./caps.ts";
import { debtSuite } from "./debts.ts";
import { endUserCountSuite } from "./end-user-counts.ts";
import { endUserSuite } from "./end-users.ts";
import { freeCreditSuite } from "./free-credit.ts";
import { freeLotSuite } from "./free-lots.ts";
import { holdSuite } from "./holds.ts";
import { keyLimitSuite } from "./key-limits.ts";
import { keyRateSuite } from "./key-rates.ts";
import { limitsSuite } from "./limits.ts";
import { planSuite } from "./plans.ts";
import { refusalSuite } from "./refusals.ts";
import { runSuite } from "./runs.ts";
import { windowSuite } from "./window.ts";
import type { WorldFactory } from "./world-factory.ts";

export function moneySuites(open: WorldFactory): void {
  refusalSuite(open);
  windowSuite(open);
  limitsSuite(open);
  keyLimitSuite(open);
  keyRateSuite(open);
  capSuite(open);
  budgetSuite(open);
  runSuite(open);
  endUserSuite(open);
  endUserCountSuite(open);
  freeCreditSuite(open);
  freeLotSuite(open);
  holdSuite(open);
  debtSuite(open);
  planSuite(open);
}
