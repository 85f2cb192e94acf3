import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import {
  CREATED_KEY_EXAMPLE,
  CreatedKey,
  KEYS_EXAMPLE,
  Keys,
} from "../../../src/console/keys-schema.ts";
import { LIMITS_EXAMPLE, Limits } from "../../../src/console/limits-schema.ts";
import { MODELS_EXAMPLE, ModelList } from "../../../src/console/models-schema.ts";
import { BILLING_EXAMPLE, Billing } from "../../../src/console/money/billing-schema.ts";
import { ME_EXAMPLE, Me } from "../../../src/console/people/me-schema.ts";
import { TEAM_EXAMPLE, Team } from "../../../src/console/people/team-schema.ts";
import { OVERVIEW_EXAMPLE, Overview } from "../../../src/console/usage/overview-schema.ts";
import {
  RECEIPT_EXAMPLE,
  REQUESTS_EXAMPLE,
  Receipt,
  Requests,
} from "../../../src/console/usage/requests-schema.ts";
import { USAGE_EXAMPLE, Usage } from "../../../src/console/usage/usage-schema.ts";
import type { TSchema } from "../../../src/http/schema.ts";

const EXAMPLES: readonly (readonly [string, TSchema, unknown])[] = [
  ["me", Me, ME_EXAMPLE],
  ["overview", Overview, OVERVIEW_EXAMPLE],
  ["keys", Keys, KEYS_EXAMPLE],
  ["created key", CreatedKey, CREATED_KEY_EXAMPLE],
  ["usage", Usage, USAGE_EXAMPLE],
  ["requests", Requests, REQUESTS_EXAMPLE],
  ["receipt", Receipt, RECEIPT_EXAMPLE],
  ["billing", Billing, BILLING_EXAMPLE],
  ["limits", Limits, LIMITS_EXAMPLE],
  ["models", ModelList, MODELS_EXAMPLE],
  ["team", Team, TEAM_EXAMPLE],
];

test.each(EXAMPLES)("the documented example of %s is of its schema", (_, schema, example) => {
  expect([...Value.Errors(schema, example)]).toEqual([]);
});
