// What waits or failed: journal entries that Postgres refused, mails, and events of providers.

import { before, list, reply, time } from "../console/fields.ts";
import { type Checked, nullable, oneOf, optional, shortText, Type, text } from "../http/schema.ts";
import { EVENT_STATUSES, MAIL_STATUSES } from "../store/operators/operator-queues.ts";
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

export const MailsQuery = Type.Object({ status: optional(oneOf(MAIL_STATUSES)), before }, CLOSED);
export const Mails = reply({
  mails: list(
    Type.Object({
      id: text(),
      kind: text(),
      account: nullable(text()),
      recipient: text(),
      status: oneOf(MAIL_STATUSES),
      attempts: Type.Integer(),
      last_error: nullable(text()),
      created_at: time("When"),
      next_attempt_at: nullable(time("When, while it waits")),
      ended_at: nullable(time("When")),
      can_resend: Type.Boolean({
        description: "Whether it failed and can be sent again: its content is kept for 7 days",
      }),
    }),
  ),
  next: nullable(text()),
});
export type MailsReply = Checked<typeof Mails>;

export const HastenBody = Type.Object(
  { ...ASK, mail: optional(text({ description: "The id of a mail; all that wait if missing" })) },
  CLOSED,
);

export const ResendBody = Type.Object(
  { ...ASK, mail: text({ description: "The id of a mail that failed" }) },
  CLOSED,
);

export const EventsQuery = Type.Object({ status: optional(oneOf(EVENT_STATUSES)), before }, CLOSED);
export const Events = reply({
  events: list(
    Type.Object({
      provider: text(),
      id: text(),
      type: text(),
      object_id: text(),
      status: oneOf(EVENT_STATUSES),
      result: nullable(text({ description: "What came of it" })),
      attempts: Type.Integer(),
      failure: nullable(text({ description: "Why the last attempt failed" })),
      occurred_at: time("When"),
      received_at: time("When"),
      processed_at: nullable(time("When")),
    }),
  ),
  next: nullable(text()),
});
export type EventsReply = Checked<typeof Events>;

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

export const MAILS_EXAMPLE: MailsReply = {
  mails: [
    {
      id: "3b241101-e2bb-4255-8caf-4136c566a962",
      kind: "receipt",
      account: "acct_7n42DGM5Tflk9n8mt7Fhc7",
      recipient: "ada@example.com",
      status: "waiting",
      attempts: 3,
      last_error: "connection refused",
      created_at: "2026-11-22T13:00:00.000Z",
      next_attempt_at: "2026-11-22T14:10:00.000Z",
      ended_at: null,
      can_resend: false,
    },
  ],
  next: null,
};

export const EVENTS_EXAMPLE: EventsReply = {
  events: [
    {
      provider: "stripe",
      id: "evt_1",
      type: "checkout.session.completed",
      object_id: "cs_1",
      status: "processed",
      result: "credited",
      attempts: 0,
      failure: null,
      occurred_at: "2026-11-22T13:00:00.000Z",
      received_at: "2026-11-22T13:00:01.000Z",
      processed_at: "2026-11-22T13:00:01.200Z",
    },
  ],
  next: null,
};
