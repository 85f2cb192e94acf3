// Who did what in this account.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { activityQuery } from "../../api/queries.ts";
import { Loaded } from "../../parts/loaded.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { t } from "../../texts.ts";
import { dayTime } from "../../time.ts";

export function ActivityPanel({ account }: { readonly account: string }) {
  const [before, setBefore] = useState<string | undefined>(undefined);
  const query = useQuery({
    ...activityQuery(account, { before }),
    placeholderData: (last) => last,
  });
  const { activityColumns: columns } = t.people;
  return (
    <Panel title={t.people.activity} aside={t.people.activityAbout}>
      <Loaded query={query} height={120}>
        {({ entries, next }) => (
          <>
            {entries.length === 0 && <p className="small dim">{t.people.noActivity}</p>}
            {entries.length > 0 && (
              <Table columns={[columns.at, columns.who, columns.what, columns.from]}>
                {entries.map((entry) => (
                  <tr key={`${entry.at} ${entry.action} ${entry.about}`}>
                    <td className="nowrap tabular">{dayTime(entry.at)}</td>
                    <td className="words">{entry.actor}</td>
                    <td className="words">
                      {t.people.action(entry.action)} <span className="dim">{entry.about}</span>
                    </td>
                    <td>{entry.country ?? "–"}</td>
                  </tr>
                ))}
              </Table>
            )}
            <div className="row table-foot" data-end="">
              <Pager before={before} next={next} go={setBefore} />
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}
