// A line of the operators' trail, as their console shows it.

import { timeText } from "../console/reading.ts";
import type { TrailEntry } from "../store/operators/operator-actions.ts";
import type { TrailReply } from "./action-schema.ts";

export function trailJson(entry: TrailEntry): TrailReply["entries"][number] {
  const { id, actor, country, action, accountId, subject, about, reason } = entry;
  return {
    id,
    actor,
    country,
    action,
    subject,
    about,
    reason,
    at: timeText(entry.at),
    account: accountId,
    outcome: entry.outcome,
    detail: entry.detail,
  };
}
