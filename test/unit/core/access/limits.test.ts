import { describe } from "bun:test";
import * as limits from "../../../../src/core/access/limits.ts";
import { RULE_CHECKS, TABLE_CHECKS } from "../limits-checks.ts";
import { testAll } from "../source-mutants.ts";

describe("the tables", () => testAll(TABLE_CHECKS, limits));
describe("deriveTier() and nextTier()", () => testAll(RULE_CHECKS, limits));
