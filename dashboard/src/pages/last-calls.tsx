// The newest calls of an account, on its overview.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { requestsQuery } from "../api/queries.ts";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Panel } from "../parts/panel.tsx";
import { RequestTable } from "../parts/request-table.tsx";
import { t } from "../texts.ts";

const SHOWN = 6;
const RENEW_MS = 5_000;
/** The interval of queries while the balance shows a call that the log lacks. */
const AWAITED_MS = 1_000;

interface LastCallsProps {
  readonly account: string;
  /** True if the balance shows a call; the log has it a moment later. */
  readonly hasSpent: boolean;
}

export function LastCalls({ account, hasSpent }: LastCallsProps) {
  const options = requestsQuery(account, { limit: String(SHOWN) });
  const query = useQuery({
    ...options,
    refetchInterval: ({ state }) =>
      hasSpent && state.data?.requests.length === 0 ? AWAITED_MS : RENEW_MS,
  });
  const open = useOpenRequest(account);
  const all = (
    <Link to="/$account/requests" params={{ account }}>
      {t.work.allRequests}
    </Link>
  );
  return (
    <Panel title={t.work.lastCalls} aside={all}>
      <Loaded query={query} height={150}>
        {({ requests }) =>
          requests.length === 0 ? (
            <Empty title={hasSpent ? t.work.writing : t.work.noCalls}>
              <p className="small dim">{hasSpent ? t.work.writingAbout : t.work.noCallsAbout}</p>
            </Empty>
          ) : (
            <RequestTable requests={requests} open={open} short />
          )
        }
      </Loaded>
    </Panel>
  );
}

/** Opens a request on the page of requests. */
function useOpenRequest(account: string): (id: string) => void {
  const navigate = useNavigate();
  return (id) =>
    void navigate({ to: "/$account/requests", params: { account }, search: { open: id } });
}
