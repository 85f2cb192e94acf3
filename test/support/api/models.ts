import { bandPrices, type ModelEntry } from "../../../src/services/chat/models/catalogue.ts";

/** $1 per million prompt tokens, $2 per million output tokens: 1,000 and 2,000 nano a token. */
export const MODEL: ModelEntry = {
  id: "test-model",
  label: "Test model",
  family: "test",
  ownedBy: "tests",
  prices: bandPrices({ input: "1", output: "2" }),
  contextTokens: 128_000,
  freeCreditEligible: true,
  routes: [],
};

export const PAID_ONLY_MODEL: ModelEntry = {
  ...MODEL,
  id: "paid-only",
  freeCreditEligible: false,
};
