// POST …/limits/cap sets the monthly cap that an account chooses for itself. …/limits/budget
// and …/keys/{key}/budget set budgets of other spans.

import {
  type AdministrationDeps,
  changeAccount,
  changeBudget,
  findOwnKey,
} from "../accounts/administration.ts";
import { budgetWords, STANDING_SPANS } from "../core/access/budgets.ts";
import { toDecimal } from "../core/money/money.ts";
import { nullable as nullableField, usdField, type WireOf, word } from "../core/records.ts";
import { amountFrom } from "../core/text/field-rules.ts";
import { readField } from "../http/body/checks.ts";
import { jsonBody } from "../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../http/console/console-endpoint.ts";
import { usdSchema } from "../http/console/fields.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { type Checked, nullable, oneOf, Type } from "../http/schema.ts";
import { APPLIED } from "./applied.ts";
import { noted } from "./noted.ts";

export interface LimitsDeps extends ConsoleFrameDeps {
  readonly administration: AdministrationDeps;
}

type LimitsContext = AccountContext<LimitsDeps>;

const PATH = "/console/api/accounts/{account}/limits";
const BODY_BYTES_MAX = 1_024;

const CapBody = Type.Object(
  { own_cap_usd: nullable(usdSchema("The account's own monthly cap; null takes it away")) },
  { additionalProperties: false },
);

const Cap = {
  own_cap_usd: nullableField(usdField({ about: "The account's own monthly cap", sample: "40" })),
  applied: APPLIED,
};
export type CapReply = WireOf<typeof Cap>;

export const setCap = accountEndpoint({
  id: "setOwnCap",
  method: "POST",
  path: `${PATH}/cap`,
  role: "owner",
  summary: "Set the account's own monthly cap; the cap of its tier applies too",
  body: jsonBody(CapBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(Cap, { summary: "At most $40", body: { own_cap_usd: "40" } }),
  async run(context: LimitsContext, { own_cap_usd: text }: Checked<typeof CapBody>) {
    const { deps, account } = context;
    const cap = text === null ? null : readField("own_cap_usd", () => amountFrom(text));
    const also = noted(context, "cap_changed", text === null ? "none" : `$${text}`);
    const administration = { ...deps.administration, also };
    const { applied } = await changeAccount(administration, account.id, { kind: "cap", cap });
    return { own_cap_usd: cap === null ? null : toDecimal(cap), applied };
  },
});

const BudgetBody = Type.Object(
  {
    span: oneOf(STANDING_SPANS, {
      description: "`5h` begins with its first call; `week` on Monday, UTC",
    }),
    amount_usd: nullable(usdSchema("What may be spent in the span; null takes the budget away")),
  },
  { additionalProperties: false },
);
type BudgetFields = Checked<typeof BudgetBody>;

const Budget = {
  span: word(STANDING_SPANS, { sample: "day" }),
  amount_usd: nullableField(usdField({ about: "What may be spent in the span", sample: "5" })),
  applied: APPLIED,
};
export type BudgetReply = WireOf<typeof Budget>;

const BUDGET_EXAMPLE = {
  summary: "At most $5 in a UTC day",
  body: { span: "day", amount_usd: "5" },
} as const;

export const setAccountBudget = accountEndpoint({
  id: "setAccountBudget",
  method: "POST",
  path: `${PATH}/budget`,
  role: "owner",
  summary: "Set a budget of the account for a span of time, or take it away",
  body: jsonBody(BudgetBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(Budget, BUDGET_EXAMPLE),
  run: (context: LimitsContext, fields: BudgetFields) => changed(context, fields, null),
});

export const setKeyBudget = accountEndpoint({
  id: "setKeyBudget",
  method: "POST",
  path: "/console/api/accounts/{account}/keys/{key}/budget",
  role: "admin",
  summary: "Set a budget of a key for a span of time, or take it away",
  body: jsonBody(BudgetBody, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(Budget, BUDGET_EXAMPLE),
  async run(context: LimitsContext, fields: BudgetFields) {
    const { deps, account, params } = context;
    const key = await findOwnKey(deps.administration, account, params.key ?? "");
    return await changed(context, fields, key);
  },
});

async function changed(
  context: LimitsContext,
  { span, amount_usd: text }: BudgetFields,
  key: { readonly id: string; readonly name: string } | null,
): Promise<BudgetReply> {
  const { deps, account } = context;
  const amount = text === null ? null : readField("amount_usd", () => amountFrom(text));
  const words = budgetWords({ of: key === null ? "account" : "key", span });
  const owner = key === null ? "" : ` ${key.name}`;
  const about = `${words}${owner}: ${text === null ? "none" : `$${text}`}`;
  const administration = { ...deps.administration, also: noted(context, "budget_changed", about) };
  const terms = { key: key?.id ?? null, span, amount };
  const { applied } = await changeBudget(administration, account, terms);
  return { span, amount_usd: amount === null ? null : toDecimal(amount), applied };
}
