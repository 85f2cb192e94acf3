// The request log by time, newest first, with filters in the address; a row opens as a receipt.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { withQuery } from "../../api/client.ts";
import { ofAccount, requestsQuery } from "../../api/queries.ts";
import { AsOf } from "../../parts/as-of.tsx";
import { Empty, Loaded } from "../../parts/loaded.tsx";
import { Pager } from "../../parts/pager.tsx";
import { PageHead, Panel } from "../../parts/panel.tsx";
import { RequestTable } from "../../parts/request-table.tsx";
import { type Fields, useFields } from "../../search-fields.ts";
import { useAccount } from "../../session.tsx";
import { t } from "../../texts.ts";
import { useZone } from "../../zone.ts";
import { FILTERS, RequestFilters } from "./request-filters.tsx";
import { Ticket } from "./ticket.tsx";
import { TicketDrawer } from "./ticket-drawer.tsx";
import { ZonePicker } from "./usage-controls.tsx";

const PAGE_ROWS = "50";
const NARROW = "(max-width: 1080px)";

export function RequestsPage() {
  const account = useAccount();
  const [fields, change] = useFields();
  const [zone] = useZone();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, fields[name]]));
  const page = { ...filters, before: fields.before, limit: PAGE_ROWS };
  const query = useQuery({
    ...requestsQuery(account.id, page),
    placeholderData: (before) => before,
  });
  const isNarrow = useIsNarrow();
  const { open } = fields;
  const close = () => change({ open: undefined });
  const ticket = open !== undefined && (
    <Ticket key={open} account={account.id} id={open} close={close} />
  );
  const csv = withQuery(ofAccount(account.id, "requests.csv"), filters);
  const about = (
    <>
      {t.usage.requestsAbout} · <AsOf value={query.data?.as_of} zone={zone} />
    </>
  );
  return (
    <>
      <PageHead title={t.nav.pages.requests} about={about}>
        <ZonePicker />
        <Button variant="default" component="a" href={csv} download>
          {t.usage.csvLog}
        </Button>
      </PageHead>
      <div className={open === undefined || isNarrow ? "panels" : "split"}>
        <Panel>
          <RequestFilters account={account.id} fields={fields} change={change} />
          <Loaded query={query} height={300}>
            {({ requests, next }) => (
              <>
                {requests.length === 0 ? (
                  <NoRequests filters={filters} />
                ) : (
                  <RequestTable
                    requests={requests}
                    open={(id) => change({ open: id })}
                    opened={open}
                  />
                )}
                <Pages fields={fields} change={change} next={next} count={requests.length} />
              </>
            )}
          </Loaded>
        </Panel>
        {!isNarrow && ticket}
      </div>
      <TicketDrawer
        opened={isNarrow && open !== undefined}
        close={close}
        position="bottom"
        size="85%"
      >
        {isNarrow && ticket}
      </TicketDrawer>
    </>
  );
}

/** True on a narrow screen. Paper is narrow, but a page must not be rebuilt while it is printed. */
function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => window.matchMedia(NARROW).matches);
  useEffect(() => {
    const narrow = window.matchMedia(NARROW);
    const look = () => {
      if (!window.matchMedia("print").matches) setNarrow(narrow.matches);
    };
    narrow.addEventListener("change", look);
    return () => narrow.removeEventListener("change", look);
  }, []);
  return isNarrow;
}

function NoRequests({ filters }: { readonly filters: Fields }) {
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Empty title={isFiltered ? t.usage.noRequests : t.usage.noneYet}>
      <p className="small dim">{isFiltered ? t.usage.noRequestsAbout : t.usage.noneYetAbout}</p>
    </Empty>
  );
}

interface PagesProps {
  readonly fields: Fields;
  readonly change: (some: Fields) => void;
  readonly next: string | null;
  readonly count: number;
}

/** Pages by time: back to the newest, on to older ones. */
function Pages({ fields, change, next, count }: PagesProps) {
  return (
    <div className="row table-foot" data-apart="">
      <span className="small dim">{t.usage.showing(count, next !== null)}</span>
      <div className="row">
        <Pager before={fields.before} next={next} go={(before) => change({ before })} />
      </div>
    </div>
  );
}
