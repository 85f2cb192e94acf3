// Makes the table of the events of webhooks for the documentation.

import {
  sampleData,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_EVENTS,
} from "../../src/core/webhooks/webhook-events.ts";
import { table } from "./markdown.ts";

/** One row for each type, with an example of its data. */
export function webhookEventTable(): string {
  const rows = WEBHOOK_EVENT_TYPES.map((type) => [
    `\`${type}\``,
    WEBHOOK_EVENTS[type].about,
    `\`${JSON.stringify(sampleData(type))}\``,
  ]);
  return table(["type", "when", "its `data`, for example"], rows);
}
