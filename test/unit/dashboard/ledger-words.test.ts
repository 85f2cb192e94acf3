import { expect, test } from "bun:test";
import { billingTexts } from "../../../dashboard/src/texts/en/billing.ts";
import { LEDGER_KINDS } from "../../../src/core/journal/journal.ts";

test("every kind of entry has its word on the billing page, and no other has one", () => {
  expect(Object.keys(billingTexts.entries).sort()).toEqual([...LEDGER_KINDS].sort());
});
