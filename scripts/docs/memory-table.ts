// Makes the table of the memory that a process keeps, for docs/operating.md.

import { QUEUE_EVENTS_MAX } from "../../src/store/servers/queue-streams.ts";
import { FAILED_JOBS_KEPT } from "../../workers/scheduled-job.ts";
import { table } from "./markdown.ts";
import { REMEMBERED } from "./remembered.ts";

const number = (value: number) => value.toLocaleString("en-US");

/** The rows of collections in Redis. */
const IN_REDIS: readonly (readonly string[])[] = [
  [
    "in Redis: failed runs of a scheduled job",
    `${FAILED_JOBS_KEPT} of each`,
    "",
    "the oldest is removed; runs that succeeded and jobs of mail are never kept",
  ],
  ["in Redis: events of a queue", number(QUEUE_EVENTS_MAX), "", "the oldest is removed"],
];

/** Returns the table of docs/operating.md. */
export function memoryTable(): string {
  const rows = REMEMBERED.map(({ what, most, count, bytes, beyond = "there are no more" }) => [
    what,
    most,
    count === undefined || bytes === undefined ? "" : size(count * bytes),
    beyond,
  ]);
  return table(["what", "at most", "about", "and then"], [...rows, ...IN_REDIS]);
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${Math.round(bytes / 1e6)} MB`;
}
