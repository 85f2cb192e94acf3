import { describe } from "bun:test";
import * as callCost from "../../../../src/core/money/call-cost.ts";
import { AFFORDABLE_CHECKS, BOUND_CHECKS, COST_CHECKS } from "../call-cost-checks.ts";
import { testAll } from "../source-mutants.ts";

describe("the exact cost of a call", () => testAll(COST_CHECKS, callCost));
describe("upperBound()", () => testAll(BOUND_CHECKS, callCost));
describe("affordable tokens", () => testAll(AFFORDABLE_CHECKS, callCost));
