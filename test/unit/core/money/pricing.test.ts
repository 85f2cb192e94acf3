import { describe } from "bun:test";
import * as pricing from "../../../../src/core/money/pricing.ts";
import { AFFORDABLE_CHECKS, BOUND_CHECKS, COST_CHECKS } from "../pricing-checks.ts";
import { testAll } from "../source-mutants.ts";

describe("exactCost()", () => testAll(COST_CHECKS, pricing));
describe("upperBound()", () => testAll(BOUND_CHECKS, pricing));
describe("affordableOutputTokens() and affordablePromptTokens()", () =>
  testAll(AFFORDABLE_CHECKS, pricing));
