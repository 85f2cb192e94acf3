// What operators send with every change, the line that it leaves, and the trail of these lines.

import { before, list, reply, time, usd } from "../console/fields.ts";
import { PLAN_NAMES } from "../core/access/limits.ts";
import { type Checked, nullable, oneOf, optional, shortText, Type, text } from "../http/schema.ts";

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

const TrailLine = Type.Object({
  id: text(),
  at: time("When"),
  actor: text({ description: "The operator's e-mail address" }),
  country: nullable(text()),
  action: text({ description: "Such as credit" }),
  account: nullable(text({ description: "The account that it is about" })),
  subject: nullable(text({ description: "A payment, a service, an event or a mail" })),
  about: text({ description: "In words" }),
  reason: text(),
  outcome: oneOf(["begun", "done", "unchanged", "failed"]),
  detail: nullable(text({ description: "What came of it, or why it failed" })),
});

export const Action = reply({
  done: TrailLine,
  repeated: Type.Boolean({ description: "True if it was done before under this id" }),
  applied: nullable(
    Type.Boolean({
      description: "False where Redis did not answer: it takes effect once it does",
    }),
  ),
});
export type ActionReply = Checked<typeof Action>;

export const TrailQuery = Type.Object(
  {
    account: optional(text({ description: "Only those about this account" })),
    before,
  },
  CLOSED,
);
export const Trail = reply({ entries: list(TrailLine), next: nullable(text()) });
export type TrailReply = Checked<typeof Trail>;

export const ASK_EXAMPLE = { id: "op_7n42DGM5Tflk9n8m", reason: "Ticket 4711" };

export const ACTION_EXAMPLE: ActionReply = {
  done: {
    id: "op_7n42DGM5Tflk9n8m",
    at: "2026-11-22T13:00:00.000Z",
    actor: "ops@example.com",
    country: "DE",
    action: "credit",
    account: "acct_7n42DGM5Tflk9n8mt7Fhc7",
    subject: null,
    about: "$25 credited as a payment",
    reason: "Ticket 4711",
    outcome: "done",
    detail: null,
  },
  repeated: false,
  applied: true,
};

export const TRAIL_EXAMPLE: TrailReply = { entries: [ACTION_EXAMPLE.done], next: null };
