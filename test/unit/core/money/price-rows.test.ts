import { describe } from "bun:test";
import * as priceRows from "../../../../src/core/money/price-rows.ts";
import { ROW_CHECKS } from "../price-row-checks.ts";
import { testAll } from "../source-mutants.ts";

describe("rows of prices", () => testAll(ROW_CHECKS, priceRows));
