// What waits or failed: journal entries that Postgres refused, mails, and events of providers.

import { list, reply, time } from "../http/console/fields.ts";
import { type Checked, nullable, oneOf, optional, shortText, Type, text } from "../http/schema.ts";
import { ASK } from "./action-schema.ts";

const CLOSED = { additionalProperties: false } as const;
const ID_CHARACTERS_MAX = 255;

export const Rejected = reply({
  entries: list(
    Type.Object({
      bucket: Type.Integer(),
      entry: text({ description: "The epoch and the number of the entry" }),
      account: nullable(text()),
      seq: nullable(Type.Integer({ description: "Its number in the account's ledger" })),
      missing: oneOf(["ledger and log row", "log row", "unknown"]),
      reason: text(),
      rejected_at: time("When"),
    }),
  ),
});
export type RejectedReply = Checked<typeof Rejected>;

export const HastenBody = Type.Object(
  { ...ASK, mail: optional(text({ description: "The id of a mail; all that wait if missing" })) },
  CLOSED,
);

export const ResendBody = Type.Object(
  { ...ASK, mail: text({ description: "The id of a mail that failed" }) },
  CLOSED,
);

export const ReplayBody = Type.Object(
  { ...ASK, provider: shortText(ID_CHARACTERS_MAX), event: shortText(ID_CHARACTERS_MAX) },
  CLOSED,
);

export const REJECTED_EXAMPLE: RejectedReply = {
  entries: [
    {
      bucket: 17,
      entry: "1-4711",
      account: "acct_7n42DGM5Tflk9n8mt7Fhc7",
      seq: 12,
      missing: "ledger and log row",
      reason: "23514 ledger_never_negative",
      rejected_at: "2026-11-22T13:00:00.000Z",
    },
  ],
};
