// Lists the events that payment providers sent.

import { integer, nullable, text, time, word } from "../core/records.ts";
import { oneOf, optional } from "../http/schema.ts";
import { EVENT_STATUSES, listEvents } from "../store/operators/operator-queues.ts";
import type { Database } from "../store/servers/database.ts";
import { byTime, listReading, type PageOf } from "./list-reading.ts";

export const ProviderEvent = {
  provider: text({ sample: "stripe" }),
  id: text({ sample: "evt_1" }),
  type: text({ sample: "checkout.session.completed" }),
  object_id: text({ sample: "cs_1" }),
  status: word(EVENT_STATUSES, { sample: "processed" }),
  result: nullable(text({ about: "What came of it", sample: "credited" })),
  attempts: integer({ sample: 0 }),
  failure: nullable(text({ about: "Why the last attempt failed", sample: "timeout" }), {
    sample: null,
  }),
  occurred_at: time({ sample: "2026-11-22T13:00:00.000Z" }),
  received_at: time({ sample: "2026-11-22T13:00:01.000Z" }),
  processed_at: nullable(time({ sample: "2026-11-22T13:00:01.200Z" })),
};

export const EVENTS = listReading({
  name: "events",
  line: ProviderEvent,
  filters: { status: optional(oneOf(EVENT_STATUSES)) },
  // The provider chooses these ids.
  keyset: byTime(/^.{1,255}$/),
  read: (database: Database, { status = null }, page) => listEvents(database, { status, ...page }),
});

export type EventsReply = PageOf<typeof EVENTS>;
