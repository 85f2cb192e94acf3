// Lists the service's own mails: those that wait, were sent, or failed.

import { flag, integer, nullable, text, time, word } from "../core/records.ts";
import { oneOf, optional } from "../http/schema.ts";
import { listMails, MAIL_STATUSES } from "../store/operators/operator-queues.ts";
import type { Database } from "../store/servers/database.ts";
import { byTime, listReading, type PageOf } from "./list-reading.ts";

export const ServiceMail = {
  id: text({ sample: "3b241101-e2bb-4255-8caf-4136c566a962" }),
  kind: text({ sample: "receipt" }),
  account: nullable(text({ sample: "acct_7n42DGM5Tflk9n8mt7Fhc7" })),
  recipient: text({ sample: "ada@example.com" }),
  status: word(MAIL_STATUSES, { sample: "waiting" }),
  attempts: integer({ sample: 3 }),
  last_error: nullable(text({ sample: "connection refused" })),
  created_at: time({ sample: "2026-11-22T13:00:00.000Z" }),
  next_attempt_at: nullable(
    time({ about: "When, while it waits", sample: "2026-11-22T14:10:00.000Z" }),
  ),
  ended_at: nullable(time({ sample: "2026-11-22T14:10:00.000Z" }), { sample: null }),
  can_resend: flag({
    about: "Whether it failed and can be sent again: its content is kept for 7 days",
    sample: false,
  }),
};

export const MAILS = listReading({
  name: "mails",
  line: ServiceMail,
  filters: { status: optional(oneOf(MAIL_STATUSES)) },
  keyset: byTime(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  read: (database: Database, { status = null }, page) => listMails(database, { status, ...page }),
});

export type MailsReply = PageOf<typeof MAILS>;
