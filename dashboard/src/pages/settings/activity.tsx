// Lists the actions of people in this account.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ActivityReply } from "../../../../src/readings/activity.ts";
import { activityQuery } from "../../api/queries.ts";
import { nameOf } from "../../name-of.ts";
import { type Column, columnsOf } from "../../parts/columns.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { PagerRow } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { t } from "../../texts.ts";

type Entry = ActivityReply["entries"][number];

const COLUMNS: readonly Column<Entry>[] = columnsOf(t.people.activityColumns, {
  at: "at",
  who: { words: ({ actor }) => nameOf(t.people.actors, actor) },
  what: {
    words: ({ action, about }) => (
      <>
        {t.people.action(action)} <span className="dim">{about}</span>
      </>
    ),
  },
  from: "country",
});

export function ActivityPanel({ account }: { readonly account: string }) {
  const [before, setBefore] = useState<string | undefined>(undefined);
  const query = useQuery({
    ...activityQuery(account, { before }),
    placeholderData: (last) => last,
  });
  return (
    <Panel title={t.people.activity} aside={t.people.activityAbout}>
      <Loaded query={query} height={120}>
        {({ entries, next }) => (
          <>
            <Table
              columns={COLUMNS}
              rows={entries}
              keyOf={({ at, action, about }) => `${at} ${action} ${about}`}
              none={t.people.noActivity}
            />
            <PagerRow before={before} next={next} go={setBefore} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
