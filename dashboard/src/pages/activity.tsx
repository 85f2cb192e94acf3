// Who did what in this account.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { activityQuery } from "../api/queries.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Panel } from "../parts/panel.tsx";
import { t } from "../texts.ts";
import { dayTime } from "../time.ts";

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
            {entries.length === 0 && <p className="small dim">{t.people.noActivity}</p>}
            {entries.length > 0 && (
              <div className="table-scroll">
                <table className="table">
                  <thead>
                    <tr>
                      <th scope="col">{t.people.activityColumns.at}</th>
                      <th scope="col">{t.people.activityColumns.who}</th>
                      <th scope="col">{t.people.activityColumns.what}</th>
                      <th scope="col">{t.people.activityColumns.from}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {entries.map((entry) => (
                      <tr key={`${entry.at} ${entry.action} ${entry.about}`}>
                        <td className="nowrap tabular">{dayTime(entry.at)}</td>
                        <td>{entry.actor}</td>
                        <td>
                          {t.people.action(entry.action)} <span className="dim">{entry.about}</span>
                        </td>
                        <td>{entry.country ?? "–"}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            <div className="row table-foot" data-end="">
              <Button
                size="xs"
                variant="default"
                disabled={before === undefined}
                onClick={() => setBefore(undefined)}
              >
                {t.usage.newest}
              </Button>
              <Button
                size="xs"
                variant="default"
                disabled={next === null}
                onClick={() => setBefore(next ?? undefined)}
              >
                {t.usage.older}
              </Button>
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}
