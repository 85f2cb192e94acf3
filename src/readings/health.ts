// Reads the state of the installation: pauses, processes and servers, and work that waits.

import { runningProcesses } from "../../actors/layout-upgrade.ts";
import project from "../../package.json";
import { journalLagNow } from "../accounts/journal-age.ts";
import { SERVICE_NAMES } from "../core/access/services.ts";
import type { Clock } from "../core/clock.ts";
import {
  flag,
  integer,
  jsonFrom,
  listOf,
  nested,
  nullable,
  number,
  text,
  time,
  type WireOf,
} from "../core/records.ts";
import type { PaymentDeps } from "../payments/read-top-up.ts";
import { RejectedEntries } from "../store/ledger/rejected-entries.ts";
import { listDisputes } from "../store/operators/operator-money.ts";
import { countMails } from "../store/operators/operator-queues.ts";
import type { Pauses as PauseStore } from "../store/operators/pauses.ts";
import type { UpstreamBoard } from "../upstream/upstream-board.ts";
import { count, type Reading, timeText } from "./reading.ts";

/** The backlog without a payment provider. */
const NO_EVENTS = { waiting: 0, oldest: null } as const;
const DISPUTES_COUNTED_MAX = 1_000;

const Pause = {
  target: text({ sample: "search" }),
  since: time({ sample: "2026-11-22T13:00:00.000Z" }),
};

export const Pauses = {
  services: listOf(text({ about: "A service that can be paused", sample: "chat" }), {
    sample: SERVICE_NAMES,
  }),
  paused: listOf(nested(Pause)),
};
export type PausesReply = WireOf<typeof Pauses>;

const Server = {
  service: text({ sample: "chat" }),
  server: text({ sample: "local" }),
  subject: text({ about: "A model, or an action", sample: "small" }),
  is_passable: flag({ about: "False while it is given up", sample: true }),
  failures: count("Failures since its last success"),
};

const Process = {
  id: text({ sample: "proc_7n42DGM5Tflk9n8mt7Fhc7" }),
  version: nullable(text({ about: "Null for a release that does not say", sample: "0.1.0" })),
  layouts: text({
    about: "The layouts in Redis that it knows, such as 3 or 2-3",
    sample: "3",
  }),
  configuration: nullable(
    integer({
      about:
        "The version of the configuration that it runs, 0 for its own file; " +
        "null if it uses none, as workers do",
      sample: 3,
    }),
  ),
  is_this: flag({ sample: true }),
};

const Events = {
  waiting: count("Events of payment providers that are not processed"),
  oldest_at: nullable(
    time({ about: "When the oldest of them arrived", sample: "2026-11-22T14:03:20.000Z" }),
    { sample: null },
  ),
};

export const Health = {
  at: time({ about: "The time of the answer", sample: "2026-11-22T14:03:22.000Z" }),
  process: nested(
    {
      id: text({ sample: "proc_7n42DGM5Tflk9n8mt7Fhc7" }),
      version: text({ sample: "0.1.0" }),
      open_calls: count("Calls of this process that hold money now", 3),
      servers: listOf(nested(Server)),
    },
    { about: "What the process sees that answered this request; others have their own view" },
  ),
  processes: listOf(nested(Process)),
  journal: nested({
    entries: count("Journal entries that Postgres does not have yet", 2),
    behind_seconds: number({ minimum: 0, about: "How old the oldest of them is", sample: 0.3 }),
    rejected: count("Entries that Postgres refused and that are not resolved yet"),
  }),
  mails: nested({ waiting: count("Not sent yet"), failed: count("Given up") }),
  events: nested(Events),
  disputes_open: count("Payments whose dispute is open, or that the provider warns of"),
};
export type HealthReply = WireOf<typeof Health>;

const [writePause, writeServer] = [jsonFrom(Pause), jsonFrom(Server)];
const [writeProcess, writeEvents] = [jsonFrom(Process), jsonFrom(Events)];

export async function pausesReply(pauses: Pick<PauseStore, "rows">): Promise<PausesReply> {
  return { services: SERVICE_NAMES, paused: (await pauses.rows()).map(writePause) };
}

export interface HealthSource {
  readonly reading: Reading;
  /** Null where no payment provider is configured. */
  readonly cashier: PaymentDeps | null;
  /** The process that answers. */
  readonly process: { readonly id: string; readonly openCalls: () => number };
  /** The state of the servers behind the services, as this process sees them. */
  readonly upstreams: Pick<UpstreamBoard, "servers">;
  readonly clock: Pick<Clock, "now">;
}

export async function healthReply({
  reading,
  cashier,
  process: { id: processId, openCalls },
  upstreams,
  clock,
}: HealthSource): Promise<HealthReply> {
  const { database, journal } = reading;
  const [lag, rejected, mails, events, disputes, processes] = await Promise.all([
    journalLagNow(journal),
    new RejectedEntries(database).countOpen(),
    countMails(database),
    cashier === null ? NO_EVENTS : cashier.events.backlog(cashier.provider.name),
    listDisputes(database, { openOnly: true, before: null, count: DISPUTES_COUNTED_MAX }),
    runningProcesses(journal.redis),
  ]);
  return {
    at: timeText(clock.now()),
    process: {
      id: processId,
      version: project.version,
      open_calls: openCalls(),
      servers: upstreams.servers().map(writeServer),
    },
    processes: processes.map(({ layouts: { min, max }, ...one }) =>
      writeProcess({
        ...one,
        layouts: min === max ? `${max}` : `${min}-${max}`,
        isThis: one.id === processId,
      }),
    ),
    journal: { entries: lag.entries, behind_seconds: lag.behindSeconds, rejected },
    mails,
    events: writeEvents({ waiting: events.waiting, oldestAt: events.oldest }),
    disputes_open: disputes.length,
  };
}
