// How the installation runs, and the switches that pause a service or a model.

import { runningProcesses } from "../../actors/layout-upgrade.ts";
import project from "../../package.json";
import { journalLagNow } from "../accounts/journal-age.ts";
import { SERVICE_NAMES } from "../core/access/services.ts";
import { FORM_FIELDS } from "../core/text/form-fields.ts";
import { invalid } from "../http/body/checks.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { shortText } from "../http/schema.ts";
import { timeText } from "../readings/reading.ts";
import { RejectedEntries } from "../store/ledger/rejected-entries.ts";
import { listDisputes } from "../store/operators/operator-money.ts";
import { countMails } from "../store/operators/operator-queues.ts";
import { isPauseTarget } from "../store/operators/pauses.ts";
import { actOutside } from "./act.ts";
import { operatorAct } from "./act-endpoint.ts";
import { type Context, OPERATOR_PATH, type OperatorDeps } from "./deps.ts";
import {
  HEALTH_EXAMPLE,
  Health,
  type HealthReply,
  PAUSES_EXAMPLE,
  Pauses,
  type PausesReply,
} from "./running-schema.ts";

/** Without a payment provider no event waits for anything. */
const NO_EVENTS = { waiting: 0, oldest: null } as const;
const TARGET_CHARACTERS_MAX = "model:".length + FORM_FIELDS.model.charactersMax;
const DISPUTES_COUNTED_MAX = 1_000;

const health = operatorEndpoint({
  id: "getHealthOfAll",
  method: "GET",
  path: `${OPERATOR_PATH}/health`,
  summary: "Show how servers, processes, journal, mails, events and disputes do",
  reply: Health,
  examples: [{ summary: "All is well", reply: HEALTH_EXAMPLE }],
  run: ({ deps }: Context) => healthReply(deps),
});

async function healthReply({
  reading,
  cashier,
  process: { id: processId, openCalls },
  upstreams,
  clock,
}: OperatorDeps): Promise<HealthReply> {
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
      servers: upstreams.servers().map(({ isPassable, ...view }) => ({
        ...view,
        is_passable: isPassable,
      })),
    },
    processes: processes.map(({ id, version, configuration, layouts: { min, max } }) => ({
      id,
      version,
      configuration,
      layouts: min === max ? `${max}` : `${min}-${max}`,
      is_this: id === processId,
    })),
    journal: { entries: lag.entries, behind_seconds: lag.behindSeconds, rejected },
    mails,
    events: {
      waiting: events.waiting,
      oldest_at: events.oldest === null ? null : timeText(events.oldest),
    },
    disputes_open: disputes.length,
  };
}

const pauses = operatorEndpoint({
  id: "listPauses",
  method: "GET",
  path: `${OPERATOR_PATH}/pauses`,
  summary: "Show which services and models are paused",
  reply: Pauses,
  examples: [{ summary: "Search is paused", reply: PAUSES_EXAMPLE }],
  async run({ deps }: Context) {
    const rows = await deps.switches.rows();
    return {
      services: [...SERVICE_NAMES],
      paused: rows.map(({ target, since }) => ({ target, since: timeText(since) })),
    } satisfies PausesReply;
  },
});

const pause = switchEndpoint("pause", "Pause a service or a model: its calls are refused with 503");
const resume = switchEndpoint("resume", "Resume a service or a model");

function switchEndpoint(verb: "pause" | "resume", summary: string) {
  const isPause = verb === "pause";
  return operatorAct({
    id: isPause ? "pauseTarget" : "resumeTarget",
    name: `pauses/${verb}`,
    summary,
    fields: {
      target: shortText(TARGET_CHARACTERS_MAX, {
        description: "A service, or `model:` with the id of a model",
      }),
    },
    example: { target: "search" },
    exampleSummary: "Search",
    async run(context, input) {
      const { target } = input;
      if (!isPauseTarget(target)) {
        throw invalid("target", `must be one of ${SERVICE_NAMES.join(", ")}, or model:ID`);
      }
      const about = `${target} ${isPause ? "paused" : "resumed"}`;
      const deed = { ask: input, action: verb, subject: target, about };
      return await actOutside(context, deed, async () => {
        const changed = await context.deps.switches[verb](target);
        return changed ? null : `It was ${isPause ? "paused" : "running"} already`;
      });
    },
  });
}

export const RUNNING_ENDPOINTS = [health, pauses, pause, resume] as const;
