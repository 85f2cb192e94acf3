// The trail: what operators did, newest first.

import { useQuery } from "@tanstack/react-query";
import type { TrailReply } from "../../../src/readings/trail.ts";
import { PageHead, Panel, Tag } from "../parts/panel.tsx";
import { useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { dayTime } from "../time.ts";
import { Go } from "./go.tsx";
import { trailQuery } from "./operator-queries.ts";
import { Paged } from "./paged.tsx";
import { type Column, Rows } from "./rows.tsx";

type Entry = TrailReply["entries"][number];

const TONES = { begun: "held", done: "paid", unchanged: "plain", failed: "owed" } as const;

const COLUMNS: readonly Column<Entry>[] = [
  { name: ot.columns.at, show: ({ at }) => <span className="nowrap tabular">{dayTime(at)}</span> },
  {
    name: ot.columns.who,
    show: ({ actor, country }) => (
      <>
        {actor} <span className="dim">{country}</span>
      </>
    ),
  },
  { name: ot.columns.what, show: ({ about }) => about },
  {
    name: ot.columns.account,
    show: ({ account }) =>
      account === null ? (
        "–"
      ) : (
        <Go to={`/${account}`} className="mono tiny">
          {account}
        </Go>
      ),
  },
  { name: ot.columns.why, show: ({ reason }) => reason },
  {
    name: ot.columns.outcome,
    show: ({ outcome, detail }) => (
      <>
        <Tag tone={TONES[outcome]}>{ot.outcomes[outcome]}</Tag>
        <div className="tiny dim">{detail}</div>
      </>
    ),
  },
];

export function TrailRows({ entries }: { readonly entries: TrailReply["entries"] }) {
  return (
    <Rows rows={entries} keyOf={({ id }) => id} columns={COLUMNS} label={ot.nav.pages.trail} />
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
