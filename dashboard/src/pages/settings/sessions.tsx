// Lists the sessions of a person, and ends them.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SessionsReply } from "../../../../src/console/people/people-schema.ts";
import { endOtherSessions, endSession, listSessions } from "../../api/people.ts";
import { Problem, say, useChange } from "../../parts/ask.tsx";
import { type Column, columnsOf } from "../../parts/columns.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Panel, Tag } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { t } from "../../texts.ts";

type Session = SessionsReply["sessions"][number];

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
  const columns: readonly Column<Session>[] = columnsOf(
    t.people.sessionColumns,
    { device: (session) => <Device session={session} />, since: "created_at", ends: "expires_at" },
    { show: (session) => <End session={session} end={endOne} /> },
  );
  return (
    <Panel title={t.people.sessions}>
      <Loaded query={query} height={80}>
        {({ sessions }) => (
          <>
            <Table columns={columns} rows={sessions} keyOf={({ id }) => id} />
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

function Device({ session }: { readonly session: Session }) {
  const { user_agent: agent, is_this: isThis, country } = session;
  return (
    <>
      {deviceOf(agent)} {isThis && <Tag tone="paid">{t.people.thisOne}</Tag>}
      {country !== null && <span className="dim"> · {country}</span>}
    </>
  );
}

interface EndProps {
  readonly session: Session;
  readonly end: (id: string) => Promise<void>;
}

function End({ session: { id, is_this: isThis }, end }: EndProps) {
  const change = useChange(() => end(id));
  if (isThis) return null;
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

/** "Firefox on Linux", or the beginning of the program's own name. */
function deviceOf(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return t.people.unknownDevice;
  const browser = BROWSERS.find((one) => userAgent.includes(`${one}/`));
  const system = SYSTEMS.find((one) => userAgent.includes(one));
  if (browser === undefined || system === undefined) return userAgent.slice(0, 60);
  return t.people.device(NAMES[browser] ?? browser, system);
}
