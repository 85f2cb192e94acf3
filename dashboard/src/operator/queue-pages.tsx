// Lists mails, events of payment providers and journal entries that wait or have failed.

import { useQuery } from "@tanstack/react-query";
import type { EventsReply } from "../../../src/readings/events.ts";
import type { MailsReply } from "../../../src/readings/mails.ts";
import type { RejectedReply } from "../../../src/readings/rejected.ts";
import { nameOf } from "../name-of.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PageHead, Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { choiceAmong, useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { dayTime } from "../time.ts";
import { AccountLink } from "./account-link.tsx";
import { ActButton } from "./act-dialog.tsx";
import { eventsQuery, mailsQuery, rejectedQuery } from "./operator-queries.ts";
import { Paged, StateChoice } from "./paged.tsx";

const MAIL_STATES = ["waiting", "failed", "sent"] as const;
const EVENT_STATES = ["received", "processed"] as const;

type Mail = MailsReply["mails"][number];
type Event = EventsReply["events"][number];
type Entry = RejectedReply["entries"][number];

const MAILS: readonly Column<Mail>[] = columnsOf(ot.columns, {
  at: "created_at",
  kind: ({ kind }) => nameOf(ot.mailKinds, kind),
  recipient: ({ recipient, account }) => (
    <>
      {recipient}
      {account !== null && (
        <div>
          <AccountLink account={account} />
        </div>
      )}
    </>
  ),
  attempts: { count: "attempts" },
  error: "last_error",
  next: ({ status, next_attempt_at: next, ended_at: ended, can_resend: canResend, id }) => {
    const at = next ?? ended;
    return (
      <div className="row">
        {at === null ? "–" : dayTime(at)}
        {status === "waiting" && (
          <ActButton name="mail" path="mails/retry" body={{ mail: id }} calm small of={id} />
        )}
        {canResend && (
          <ActButton name="resend" path="mails/resend" body={{ mail: id }} calm small of={id} />
        )}
      </div>
    );
  },
});

export function MailsPage() {
  const [fields] = useFields();
  const status = choiceAmong(MAIL_STATES, fields.status);
  const query = useQuery({
    ...mailsQuery({ status, before: fields.before }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.mails} about={ot.mailsAbout}>
        <ActButton name="mails" path="mails/retry" calm />
      </PageHead>
      <Panel>
        <StateChoice
          field="status"
          states={MAIL_STATES}
          value={status}
          labelOf={(value) => ot.mailStates[value]}
        />
        <Paged query={query}>
          {({ mails }) => (
            <Table rows={mails} keyOf={({ id }) => id} columns={MAILS} label={ot.nav.pages.mails} />
          )}
        </Paged>
      </Panel>
    </>
  );
}

const EVENTS: readonly Column<Event>[] = columnsOf(
  ot.columns,
  {
    at: "received_at",
    event: ({ type, provider, id }) => (
      <>
        {type}
        <div className="tiny dim mono">
          {provider} {id}
        </div>
      </>
    ),
    object: ({ object_id: object }) => <span className="mono tiny">{object}</span>,
    result: ({ status, result, failure }) => (
      <>
        <Tag tone={status === "processed" ? "paid" : "held"}>
          {result === null ? ot.eventStates[status] : nameOf(ot.eventResults, result)}
        </Tag>
        <div className="tiny dim">{failure}</div>
      </>
    ),
    attempts: { count: "attempts" },
  },
  {
    title: ot.acts.replay.open,
    show: ({ provider, id }) => (
      <ActButton
        name="replay"
        path="events/replay"
        body={{ provider, event: id }}
        calm
        small
        of={id}
      />
    ),
  },
);

export function EventsPage() {
  const [fields] = useFields();
  const status = choiceAmong(EVENT_STATES, fields.status);
  const query = useQuery({
    ...eventsQuery({ status, before: fields.before }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.events} about={ot.eventsAbout} />
      <Panel>
        <StateChoice
          field="status"
          states={EVENT_STATES}
          value={status}
          labelOf={(value) => ot.eventStates[value]}
        />
        <Paged query={query}>
          {({ events }) => (
            <Table
              rows={events}
              keyOf={({ provider, id }) => `${provider} ${id}`}
              columns={EVENTS}
              label={ot.nav.pages.events}
            />
          )}
        </Paged>
      </Panel>
    </>
  );
}

const REJECTED: readonly Column<Entry>[] = columnsOf(ot.columns, {
  at: "rejected_at",
  entry: ({ bucket, entry }) => <span className="mono">{`b${bucket} ${entry}`}</span>,
  account: ({ account, seq }) => (
    <>
      <AccountLink account={account} />
      {seq !== null && <span className="dim"> {seq}</span>}
    </>
  ),
  missing: ({ missing }) => ot.missingRows[missing],
  reason: "reason",
});

export function RejectedPage() {
  const query = useQuery(rejectedQuery);
  const hasSome = (query.data?.entries.length ?? 0) > 0;
  return (
    <>
      <PageHead title={ot.nav.pages.rejected} about={ot.rejectedAbout}>
        {hasSome && <ActButton name="rejected" path="rejected/retry" calm />}
      </PageHead>
      <Panel>
        <Loaded query={query} height={160}>
          {({ entries }) => (
            <Table
              rows={entries}
              keyOf={({ bucket, entry }) => `${bucket} ${entry}`}
              columns={REJECTED}
              label={ot.nav.pages.rejected}
            />
          )}
        </Loaded>
      </Panel>
    </>
  );
}
