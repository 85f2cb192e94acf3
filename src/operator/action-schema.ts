// What operators send with every change, the line that it leaves, and the trail of these lines.

import { PLAN_NAMES } from "../core/access/limits.ts";
import { sampleOf } from "../core/records.ts";
import { reply, usd } from "../http/console/fields.ts";
import { schemaOf } from "../http/console/record-schema.ts";
import { type Checked, nullable, oneOf, optional, shortText, Type, text } from "../http/schema.ts";
import { TrailLine } from "../readings/trail.ts";

const REASON_CHARACTERS_MAX = 300;

/** What every change carries. */
export const ASK = {
  id: text({
    pattern: "^[A-Za-z0-9_-]{8,64}$",
    must: "must be 8 to 64 letters, digits, _ or -, chosen anew for each change",
    description: "The change is made once for this id, however often it is sent",
  }),
  reason: shortText(REASON_CHARACTERS_MAX, {
    pattern: "\\S",
    must: `must say why, in at most ${REASON_CHARACTERS_MAX} characters`,
    description: "Why; it is recorded with the change, and the account's people can read it",
  }),
};

const CLOSED = { additionalProperties: false } as const;

export const AskBody = Type.Object(ASK, CLOSED);

export const AmountBody = Type.Object({ ...ASK, amount_usd: usd("The amount") }, CLOSED);

export const RefundBody = Type.Object(
  {
    ...ASK,
    payment: text({ description: "The id of a payment of this account" }),
    amount_usd: optional(usd("How much; all that is left if missing")),
  },
  CLOSED,
);
export type RefundBody = Checked<typeof RefundBody>;

export const PlanBody = Type.Object({ ...ASK, plan: oneOf(PLAN_NAMES) }, CLOSED);

export const ContractBody = Type.Object(
  { ...ASK, contract: oneOf(["enterprise", "none"]) },
  CLOSED,
);

export const Action = reply({
  done: schemaOf(TrailLine),
  repeated: Type.Boolean({ description: "True if it was done before under this id" }),
  applied: nullable(
    Type.Boolean({
      description: "False where Redis did not answer: it takes effect once it does",
    }),
  ),
});
export type ActionReply = Checked<typeof Action>;

export const ASK_EXAMPLE = { id: "op_7n42DGM5Tflk9n8m", reason: "Ticket 4711" };

export const ACTION_EXAMPLE: ActionReply = {
  done: sampleOf(TrailLine),
  repeated: false,
  applied: true,
};
