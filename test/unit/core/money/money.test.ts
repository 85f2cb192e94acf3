import { describe } from "bun:test";
import * as money from "../../../../src/core/money/money.ts";
import { BOUNDS_CHECKS, PRICE_CHECKS, TEXT_CHECKS } from "../money-checks.ts";
import { testAll } from "../source-mutants.ts";

describe("decimals", () => testAll(TEXT_CHECKS, money));
describe("bounds", () => testAll(BOUNDS_CHECKS, money));
describe("prices", () => testAll(PRICE_CHECKS, money));
