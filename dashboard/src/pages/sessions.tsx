// Where a person is signed in, and ending it there.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { endOtherSessions, endSession, listSessions, ownSession } from "../api/auth.ts";
import { Problem, say, useChange } from "../parts/ask.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Panel, Tag } from "../parts/panel.tsx";
import { t } from "../texts.ts";
import { ago, dayTime } from "../time.ts";

export function Sessions() {
  const query = useQuery({
    queryKey: ["sessions"],
    queryFn: async () => {
      const [sessions, own] = await Promise.all([listSessions(), ownSession()]);
      return { sessions, own: own?.session.id ?? null };
    },
  });
  const endOthers = useChange(async () => {
    await endOtherSessions();
    say(t.people.sessionsEnded);
    await query.refetch();
  });
  const endOne = async (token: string) => {
    await endSession(token);
    await query.refetch();
  };
  return (
    <Panel title={t.people.sessions}>
      <Loaded query={query} height={80}>
        {({ sessions, own }) => (
          <>
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th scope="col">{t.people.sessionColumns.device}</th>
                    <th scope="col">{t.people.sessionColumns.since}</th>
                    <th scope="col">{t.people.sessionColumns.used}</th>
                    <td />
                  </tr>
                </thead>
                <tbody>
                  {sessions.map((session) => (
                    <tr key={session.id}>
                      <td>
                        {deviceOf(session.userAgent)}{" "}
                        {session.id === own && <Tag tone="paid">{t.people.thisOne}</Tag>}
                      </td>
                      <td className="nowrap">{dayTime(session.createdAt)}</td>
                      <td className="nowrap">{ago(session.updatedAt, Date.now())}</td>
                      <td className="num">
                        {session.id !== own && <EndSession end={() => endOne(session.token)} />}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
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
