// The budgets of an account's end users: those that each has, those of single ones, and the use of
// one end user's. Ids of end users come in bodies, because addresses are logged.

import {
  changeEndUserBudget,
  type EndUserDeps,
  type EndUserUse,
  endUserNamed,
  endUserUses,
} from "../accounts/end-users.ts";
import { END_USER_SPANS } from "../core/access/budgets.ts";
import { END_USER_CHARACTERS_MAX, type EndUser } from "../core/access/end-users.ts";
import { toDecimal } from "../core/money/money.ts";
import {
  flag,
  integer,
  jsonFrom,
  listOf,
  nested,
  nullable as nullableField,
  text as textField,
  time,
  usdField,
  type WireOf,
  word,
} from "../core/records.ts";
import { amountFrom } from "../core/text/field-rules.ts";
import { readField } from "../http/body/checks.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { type AccountContext, accountEndpoint } from "../http/console/console-endpoint.ts";
import { usdSchema } from "../http/console/fields.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { type Checked, nullable, oneOf, optional, shortText, Type, text } from "../http/schema.ts";
import { countNamedEndUsers, readShownDefaults } from "../store/accounts/end-user-budgets.ts";
import { APPLIED } from "./applied.ts";
import type { LimitsDeps } from "./limits.ts";
import { noted } from "./noted.ts";

export interface EndUsersDeps extends LimitsDeps {
  readonly runs: EndUserDeps;
}

type EndUsersContext = AccountContext<EndUsersDeps>;

const PATH = "/console/api/accounts/{account}/end-users";
/** Room for the longest id, of which each character may be escaped. */
const BODY_BYTES_MAX = 8_192;

const KEY = nullableField(
  textField({ about: "The key whose calls alone it counts", sample: "key_7n42DGM5Tflk9n8mt7Fhc7" }),
  { sample: null },
);
const Amount = {
  span: word(END_USER_SPANS, { about: "`5h` begins with its first call", sample: "day" }),
  amount_usd: usdField({ about: "What may be spent in the span", sample: "0.5" }),
};
const Default = { key: KEY, ...Amount };

export const EndUsers = {
  budgets: listOf(nested(Default), { about: "Those of each end user without one of its own" }),
  named: integer({ about: "End users with budgets of their own", sample: 3 }),
};
export type EndUsersReply = WireOf<typeof EndUsers>;

const Use = {
  ...Default,
  is_own: flag({ about: "False for a budget that every end user has", sample: false }),
  spent_usd: usdField({ about: "Charged", sample: "0.12" }),
  held_usd: usdField({ about: "Held by calls under way", sample: "0.03" }),
  left_usd: usdField({ about: "What is left", sample: "0.35" }),
  renews_at: nullableField(
    time({ about: "When the span ends; null without an end", sample: "2026-11-29T00:00:00.000Z" }),
  ),
};

export const EndUserUses = {
  id: textField({
    about: "The keyed hash by which webhooks and the CSV of the request log name it",
    sample: "kPrK_qmxVWaYVA9wwBF6Iu",
  }),
  budgets: listOf(nested(Use)),
};
export type EndUserReply = WireOf<typeof EndUserUses>;

const [defaultFrom, useFrom] = [jsonFrom(Default), jsonFrom(Use)];

/** The budgets of an end user as people read them. */
export function endUserReply(endUser: EndUser, uses: readonly EndUserUse[]): EndUserReply {
  return {
    id: endUser.digests[0],
    budgets: uses.map((one) => useFrom({ ...one, renewsAt: one.renewsAtMs })),
  };
}

const list = accountEndpoint({
  id: "listEndUserBudgets",
  method: "GET",
  path: PATH,
  role: "viewer",
  summary: "List the budgets that each end user of the account has",
  ...replyWith(EndUsers, { summary: "One budget" }),
  async run({ deps, account }: EndUsersContext) {
    const { database } = deps.administration.accounts.deps;
    const defaults = await readShownDefaults(database, account.number);
    const named = await countNamedEndUsers(database, account.number);
    return { budgets: defaults.map(defaultFrom), named } satisfies EndUsersReply;
  },
});

const endUserId = (description: string) => shortText(END_USER_CHARACTERS_MAX, { description });

const Named = Type.Object(
  { end_user: endUserId("The end user, by the id that calls name it with") },
  { additionalProperties: false },
);

const show = accountEndpoint({
  id: "getEndUser",
  method: "POST",
  path: `${PATH}/show`,
  role: "viewer",
  summary: "Show what an end user has spent of its budgets",
  body: jsonBody(Named, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(EndUserUses, {
    summary: "A budget of a day",
    body: { end_user: "customer-4711" },
  }),
  async run({ deps, account }: EndUsersContext, { end_user }: Checked<typeof Named>) {
    const endUser = endUserNamed(deps.administration, account, end_user);
    return endUserReply(endUser, await endUserUses(deps.runs, account, { endUser, key: null }));
  },
});

const Fields = Type.Object(
  {
    end_user: optional(endUserId("The end user whose own budget it is; missing: of each end user")),
    key: optional(text({ description: "The key whose calls alone a budget of each one counts" })),
    span: oneOf(END_USER_SPANS, {
      description: "`5h` begins with its first call; `week` on Monday, UTC",
    }),
    amount_usd: nullable(usdSchema("What may be spent in the span; null takes the budget away")),
  },
  { additionalProperties: false },
);
export type EndUserFields = Checked<typeof Fields>;

const Changed = {
  span: Amount.span,
  amount_usd: nullableField(Amount.amount_usd),
  applied: APPLIED,
};
export type ChangedEndUserReply = WireOf<typeof Changed>;

const set = accountEndpoint({
  id: "setEndUserBudget",
  method: "POST",
  path: `${PATH}/budget`,
  role: "owner",
  summary: "Set a budget of each end user, or of a single one, or take it away",
  body: jsonBody(Fields, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(Changed, {
    summary: "At most 50 cents in a UTC day",
    body: { span: "day", amount_usd: "0.5" },
  }),
  async run(context: EndUsersContext, fields: EndUserFields) {
    const { deps, account } = context;
    const { span, amount_usd: text, key = null, end_user: id = null } = fields;
    const amount = text === null ? null : readField("amount_usd", () => amountFrom(text));
    const endUser = id === null ? null : endUserNamed(deps.administration, account, id);
    const note = (about: string) => noted(context, "budget_changed", about);
    const change = { endUser, key, span, amount, note };
    const { applied } = await changeEndUserBudget(deps.administration, account, change);
    return { span, amount_usd: amount === null ? null : toDecimal(amount), applied };
  },
});

export const END_USER_ENDPOINTS = [list, show, set] as const;
