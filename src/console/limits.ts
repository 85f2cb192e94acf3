// POST …/limits/cap sets the monthly cap that an account chooses for itself.

import { type AdministrationDeps, changeAccount } from "../accounts/administration.ts";
import { toDecimal } from "../core/money/money.ts";
import { nullable as nullableField, usd as usdField, type WireOf } from "../core/records.ts";
import { amountFrom } from "../core/text/field-rules.ts";
import { jsonBody } from "../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../http/console/console-endpoint.ts";
import { usd } from "../http/console/fields.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { type Checked, nullable, Type } from "../http/schema.ts";
import { APPLIED } from "./applied.ts";
import { noted } from "./noted.ts";
import { readField } from "./read-fields.ts";

export interface LimitsDeps extends ConsoleFrameDeps {
  readonly administration: AdministrationDeps;
}

type Context = AccountContext<LimitsDeps>;

const PATH = "/console/api/accounts/{account}/limits";
const BODY_BYTES_MAX = 1_024;

const CapBody = Type.Object(
  { own_cap_usd: nullable(usd("The account's own monthly cap; null takes it away")) },
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
  async run(context: Context, { own_cap_usd: text }: Checked<typeof CapBody>) {
    const { deps, account } = context;
    const cap = text === null ? null : readField("own_cap_usd", () => amountFrom(text));
    const also = noted(context, "cap_changed", text === null ? "none" : `$${text}`);
    const administration = { ...deps.administration, also };
    const { applied } = await changeAccount(administration, account.id, { kind: "cap", cap });
    return { own_cap_usd: cap === null ? null : toDecimal(cap), applied };
  },
});
