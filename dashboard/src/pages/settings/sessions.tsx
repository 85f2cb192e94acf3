// Where a person is signed in, and ending it there.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { endOtherSessions, endSession, listSessions } from "../../api/people.ts";
import { Problem, say, useChange } from "../../parts/ask.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Panel, Tag } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { t } from "../../texts.ts";
import { dayTime } from "../../time.ts";

export function Sessions() {
  const query = useQuery({ queryKey: ["sessions"], queryFn: listSessions });
  const endOthers = useChange(async () => {
    await endOtherSessions();
    say(t.people.sessionsEnded);
    await query.refetch();
  });
  const endOne = async (id: string) => {
    await endSession(id);
    await query.refetch();
  };
  const { sessionColumns: columns } = t.people;
  return (
    <Panel title={t.people.sessions}>
      <Loaded query={query} height={80}>
        {({ sessions }) => (
          <>
            <Table columns={[columns.device, columns.since, columns.ends, ""]}>
              {sessions.map((session) => (
                <tr key={session.id}>
                  <td>
                    {deviceOf(session.user_agent)}{" "}
                    {session.is_this && <Tag tone="paid">{t.people.thisOne}</Tag>}
                    {session.country !== null && <span className="dim"> · {session.country}</span>}
                  </td>
                  <td className="nowrap">{dayTime(session.created_at)}</td>
                  <td className="nowrap">{dayTime(session.expires_at)}</td>
                  <td className="num">
                    {!session.is_this && <EndSession end={() => endOne(session.id)} />}
                  </td>
                </tr>
              ))}
            </Table>
            {sessions.length > 1 && (
              <Button
                size="xs"
                variant="default"
                mt="sm"
                loading={endOthers.busy}
                onClick={() => void endOthers.start()}
              >
                {t.people.endOthers}
              </Button>
            )}
            <Problem error={endOthers.error} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function EndSession({ end }: { readonly end: () => Promise<void> }) {
  const change = useChange(end);
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        loading={change.busy}
        onClick={() => void change.start()}
      >
        {t.people.endSession}
      </Button>
      <Problem error={change.error} />
    </>
  );
}

const BROWSERS = ["Edg", "OPR", "Firefox", "Chrome", "Safari"] as const;
const NAMES: Readonly<Record<string, string>> = { Edg: "Edge", OPR: "Opera" };
const SYSTEMS = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"] as const;

/** "Firefox on Linux", or the beginning of what the program calls itself. */
function deviceOf(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return t.people.unknownDevice;
  const browser = BROWSERS.find((one) => userAgent.includes(`${one}/`));
  const system = SYSTEMS.find((one) => userAgent.includes(one));
  if (browser === undefined || system === undefined) return userAgent.slice(0, 60);
  return t.people.device(NAMES[browser] ?? browser, system);
}
