// Shows the health of the installation: queues, processes, servers that are given up, and pauses.

import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { HealthReply, PausesReply } from "../../../src/readings/health.ts";
import { nameOf } from "../name-of.ts";
import { countText, decimalText } from "../numbers.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Facts, PageHead, Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { TextField, useTyped } from "../parts/text-field.tsx";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";
import { clockTime, dayTime } from "../time.ts";
import { ActButton, ActDialog } from "./act-dialog.tsx";
import { Go } from "./go.tsx";
import { healthQuery, pausesQuery } from "./operator-queries.ts";

const words = ot.health;

export function HealthPage() {
  const query = useQuery(healthQuery);
  return (
    <>
      <PageHead
        title={ot.nav.pages.health}
        about={query.data === undefined ? null : `${clockTime(query.data.at)} UTC`}
      />
      <Loaded query={query} height={300}>
        {(health) => (
          <div className="panels">
            <div className="split" data-even="">
              <WaitingWork health={health} />
              <PausesPanel />
            </div>
            <Panel title={words.servers} aside={words.about(health.process.id)}>
              <Table
                rows={health.process.servers}
                keyOf={({ service, server, subject }) => `${service} ${server} ${subject}`}
                columns={SERVERS}
                label={words.servers}
                none={words.noServers}
              />
            </Panel>
            <Panel title={words.processes}>
              <Table
                rows={health.processes}
                keyOf={({ id }) => id}
                columns={PROCESSES}
                label={words.processes}
              />
            </Panel>
          </div>
        )}
      </Loaded>
    </>
  );
}

function WaitingWork({ health }: { readonly health: HealthReply }) {
  const { journal, mails, events, process } = health;
  return (
    <Panel title={words.journal}>
      <Facts
        rows={[
          [words.entries, countText(journal.entries)],
          [words.behind, `${decimalText(journal.behind_seconds, 1)} s`],
          [
            words.rejected,
            <Go key="rejected" to="/rejected">
              {countText(journal.rejected)}
            </Go>,
          ],
          [
            words.mails,
            <Go key="mails" to="/mails">
              {countText(mails.waiting)}
            </Go>,
          ],
          [words.failed, countText(mails.failed)],
          [
            words.events,
            <Go key="events" to="/events">
              {countText(events.waiting)}
              {events.oldest_at !== null && ` · ${dayTime(events.oldest_at)}`}
            </Go>,
          ],
          [
            words.disputes,
            <Go key="disputes" to="/disputes">
              {countText(health.disputes_open)}
            </Go>,
          ],
          [words.calls, countText(process.open_calls)],
        ]}
      />
    </Panel>
  );
}

type Server = HealthReply["process"]["servers"][number];

const SERVERS: readonly Column<Server>[] = columnsOf(ot.columns, {
  service: ({ service }) => nameOf(t.services, service),
  server: "server",
  subject: "subject",
  state: ({ is_passable: isPassable }) => (
    <Tag tone={isPassable ? "paid" : "owed"}>{isPassable ? words.passable : words.givenUp}</Tag>
  ),
  failures: { count: "failures" },
});

type Process = HealthReply["processes"][number];

const PROCESSES: readonly Column<Process>[] = columnsOf(ot.columns, {
  process: ({ id, is_this: isThis }) => (
    <>
      <span className="mono tiny">{id}</span> {isThis && <Tag tone="paid">{words.thisProcess}</Tag>}
    </>
  ),
  version: ({ version }) => version ?? words.unknown,
  layouts: "layouts",
  configuration: ({ configuration }) =>
    configuration === null ? "–" : configuration === 0 ? words.ownFile : configuration,
});

type Paused = PausesReply["paused"][number];

const PAUSED: readonly Column<Paused>[] = columnsOf(
  ot.columns,
  {
    target: "target",
    since: "since",
  },
  {
    title: ot.acts.resumeTarget.open,
    show: ({ target }) => (
      <ActButton
        name="resumeTarget"
        path="pauses/resume"
        body={{ target }}
        calm
        small
        of={target}
      />
    ),
  },
);

function PausesPanel() {
  const query = useQuery(pausesQuery);
  const [asking, setAsking] = useState(false);
  return (
    <Panel title={words.pauses}>
      <Loaded query={query} height={120}>
        {({ services, paused }) => (
          <div className="stack">
            <Table
              rows={paused}
              keyOf={({ target }) => target}
              columns={PAUSED}
              label={words.pauses}
              none={words.noPauses}
            />
            <div>
              <Button size="xs" variant="default" onClick={() => setAsking(true)}>
                {ot.acts.pause.open}
              </Button>
            </div>
            {asking && <PauseDialog services={services} close={() => setAsking(false)} />}
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

const MODEL = "model:";

interface PauseDialogProps {
  readonly services: PausesReply["services"];
  readonly close: () => void;
}

function PauseDialog({ services, close }: PauseDialogProps) {
  const [choice, setChoice] = useState<string | null>(services[0] ?? null);
  const model = useTyped("model");
  const target = choice === MODEL ? `${MODEL}${model.text.trim()}` : (choice ?? "");
  return (
    <ActDialog
      name="pause"
      path="pauses/pause"
      body={{ target }}
      confirm={target}
      disabled={target === "" || target === MODEL}
      close={close}
    >
      <Select
        label={ot.columns.target}
        data={[
          ...services.map((one) => ({ value: one, label: nameOf(t.services, one) })),
          { value: MODEL, label: t.usage.ticket.model },
        ]}
        value={choice}
        onChange={setChoice}
        allowDeselect={false}
      />
      {choice === MODEL && <TextField field={model} label={t.usage.ticket.model} />}
    </ActDialog>
  );
}
