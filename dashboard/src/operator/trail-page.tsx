// The trail: the changes by operators, newest first.

import { useQuery } from "@tanstack/react-query";
import type { TrailReply } from "../../../src/readings/trail.ts";
import { nameOf } from "../name-of.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { PageHead, Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { AccountLink } from "./account-link.tsx";
import { trailQuery } from "./operator-queries.ts";
import { Paged } from "./paged.tsx";

type Entry = TrailReply["entries"][number];

const TONES = { begun: "held", done: "paid", unchanged: "plain", failed: "owed" } as const;

const COLUMNS: readonly Column<Entry>[] = columnsOf(ot.columns, {
  at: "at",
  who: ({ actor, country }) => (
    <>
      {actor} <span className="dim">{country}</span>
    </>
  ),
  what: ({ action, about }) => (
    <>
      {nameOf(ot.deeds, action)}
      <div className="tiny dim" lang="en">
        {about}
      </div>
    </>
  ),
  account: ({ account }) => <AccountLink account={account} />,
  why: "reason",
  outcome: ({ outcome, detail }) => (
    <>
      <Tag tone={TONES[outcome]}>{ot.outcomes[outcome]}</Tag>
      <div className="tiny dim" lang="en">
        {detail}
      </div>
    </>
  ),
});

export function TrailRows({ entries }: { readonly entries: TrailReply["entries"] }) {
  return (
    <Table rows={entries} keyOf={({ id }) => id} columns={COLUMNS} label={ot.nav.pages.trail} />
  );
}

export function TrailPage() {
  const [fields] = useFields();
  const query = useQuery({
    ...trailQuery({ before: fields.before }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.trail} about={ot.trailAbout} />
      <Panel>
        <Paged query={query}>{({ entries }) => <TrailRows entries={entries} />}</Paged>
      </Panel>
    </>
  );
}
