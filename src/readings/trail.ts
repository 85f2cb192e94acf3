// Lists the trail of the operators: each change with its actor, time and reason.

import { nullable, text, time, word } from "../core/records.ts";
import { optional, text as textSchema } from "../http/schema.ts";
import type { Accounts } from "../store/accounts/accounts.ts";
import { listActions } from "../store/operators/operator-actions.ts";
import { byNumber, listReading, type PageOf } from "./list-reading.ts";

export const TrailLine = {
  id: text({ sample: "op_7n42DGM5Tflk9n8m" }),
  at: time({ sample: "2026-11-22T13:00:00.000Z" }),
  actor: text({ about: "The operator's e-mail address", sample: "ops@example.com" }),
  country: nullable(text({ sample: "DE" })),
  action: text({ about: "Such as credit", sample: "credit" }),
  account: nullable(
    text({ about: "The account that it is about", sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" }),
  ),
  subject: nullable(
    text({
      about: "A payment, a service, an event or a mail",
      sample: "pay_7n42DGM5Tflk9n8mt7Fhc7",
    }),
    { sample: null },
  ),
  about: text({ about: "In words", sample: "$25 credited as a payment" }),
  reason: text({ sample: "Ticket 4711" }),
  outcome: word(["begun", "done", "unchanged", "failed"], { sample: "done" }),
  detail: nullable(text({ about: "What came of it, or why it failed", sample: "done" }), {
    sample: null,
  }),
};

/** No account has this number. */
const NO_ACCOUNT = 0;

export const TRAIL = listReading({
  name: "entries",
  line: TrailLine,
  filters: {
    account: optional(textSchema({ description: "Only those about this account" })),
  },
  keyset: byNumber("number"),
  async read(accounts: Accounts, { account: id }, page) {
    const account = id == null ? null : ((await accounts.find(id))?.number ?? NO_ACCOUNT);
    return await listActions(accounts.deps.database, { account, ...page });
  },
});

export type TrailReply = PageOf<typeof TRAIL>;
