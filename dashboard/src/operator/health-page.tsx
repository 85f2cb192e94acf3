// How the installation does: what waits, who serves, which servers are given up; and the switches.

import { Button, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { HealthReply, PausesReply } from "../../../src/operator/running-schema.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Facts, PageHead, Panel, Tag } from "../parts/panel.tsx";
import { ot } from "../texts/operator.ts";
import { nameOf, t } from "../texts.ts";
import { clockTime, dayTime } from "../time.ts";
import { ActButton, ActDialog } from "./act-dialog.tsx";
import { Go } from "./go.tsx";
import { healthQuery, pausesQuery } from "./operator-queries.ts";
import { type Column, Rows } from "./rows.tsx";

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
              <Waiting health={health} />
              <PausesPanel />
            </div>
            <Panel title={words.servers} aside={words.about(health.process.id)}>
              <Rows
                rows={health.process.servers}
                keyOf={({ service, server, subject }) => `${service} ${server} ${subject}`}
                columns={SERVERS}
                label={words.servers}
                none={words.noServers}
              />
            </Panel>
            <Panel title={words.processes}>
              <Rows
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

function Waiting({ health }: { readonly health: HealthReply }) {
  const { journal, mails, events, process } = health;
  const count = (value: number) => value.toLocaleString("en");
  return (
    <Panel title={words.journal}>
      <Facts
        rows={[
          [words.entries, count(journal.entries)],
          [words.behind, `${journal.behind_seconds.toFixed(1)} s`],
          [
            words.rejected,
            <Go key="rejected" to="/rejected">
              {count(journal.rejected)}
            </Go>,
          ],
          [
            words.mails,
            <Go key="mails" to="/mails">
              {count(mails.waiting)}
            </Go>,
          ],
          [words.failed, count(mails.failed)],
          [
            words.events,
            <Go key="events" to="/events">
              {count(events.waiting)}
              {events.oldest_at !== null && ` · ${dayTime(events.oldest_at)}`}
            </Go>,
          ],
          [
            words.disputes,
            <Go key="disputes" to="/disputes">
              {count(health.disputes_open)}
            </Go>,
          ],
          [words.calls, count(process.open_calls)],
        ]}
      />
    </Panel>
  );
}

type Server = HealthReply["process"]["servers"][number];

const SERVERS: readonly Column<Server>[] = [
  { name: ot.columns.service, show: ({ service }) => nameOf(t.services, service) },
  { name: ot.columns.server, show: ({ server }) => server },
  { name: ot.columns.subject, show: ({ subject }) => subject },
  {
    name: ot.columns.state,
    show: ({ is_passable: isPassable }) => (
      <Tag tone={isPassable ? "paid" : "owed"}>{isPassable ? words.passable : words.givenUp}</Tag>
    ),
  },
  { name: ot.columns.failures, isNumber: true, show: ({ failures }) => failures },
];

type Process = HealthReply["processes"][number];

const PROCESSES: readonly Column<Process>[] = [
  {
    name: ot.columns.process,
    show: ({ id, is_this: isThis }) => (
      <>
        <span className="mono tiny">{id}</span>{" "}
        {isThis && <Tag tone="paid">{t.people.thisOne}</Tag>}
      </>
    ),
  },
  { name: ot.columns.version, show: ({ version }) => version ?? words.unknown },
  { name: ot.columns.layouts, show: ({ layouts }) => layouts },
  {
    name: ot.columns.configuration,
    show: ({ configuration }) =>
      configuration === null ? "–" : configuration === 0 ? words.ownFile : configuration,
  },
];

type Paused = PausesReply["paused"][number];

const PAUSED: readonly Column<Paused>[] = [
  { name: ot.columns.target, show: ({ target }) => target },
  { name: ot.columns.since, show: ({ since }) => dayTime(since) },
  {
    name: ot.acts.resumeTarget.open,
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
];

function PausesPanel() {
  const query = useQuery(pausesQuery);
  const [asking, setAsking] = useState(false);
  return (
    <Panel title={words.pauses}>
      <Loaded query={query} height={120}>
        {({ services, paused }) => (
          <div className="stack">
            <Rows
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
  const [model, setModel] = useState("");
  const target = choice === MODEL ? `${MODEL}${model.trim()}` : (choice ?? "");
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
      {choice === MODEL && (
        <TextInput
          label={t.usage.ticket.model}
          value={model}
          onChange={(event) => setModel(event.currentTarget.value)}
        />
      )}
    </ActDialog>
  );
}
