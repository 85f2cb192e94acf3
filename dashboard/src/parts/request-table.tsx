// Requests as rows: time, model or endpoint, key, result, and exact cost.

import type { RequestsReply } from "../../../src/readings/requests.ts";
import { nameOf } from "../name-of.ts";
import { countText } from "../numbers.ts";
import { t } from "../texts.ts";
import { clockTime, duration, shortDay, zoneLabel } from "../time.ts";
import { useZone } from "../zone.ts";
import { type Column, columnsOf } from "./columns.tsx";
import { Tag } from "./panel.tsx";
import { Table } from "./table.tsx";

export type RequestRow = RequestsReply["requests"][number];

interface RequestTableProps {
  readonly requests: readonly RequestRow[];
  readonly open: (id: string) => void;
  readonly opened?: string;
  /** True where there is little room. */
  readonly short?: boolean;
}

export function RequestTable({ requests, open, opened, short = false }: RequestTableProps) {
  const [zone] = useZone();
  const label = zoneLabel(zone, new Date(requests[0]?.at ?? 0));
  const columns: readonly Column<RequestRow>[] = columnsOf(
    { ...t.usage.requestColumns, time: `${t.usage.requestColumns.time} (${label})` },
    {
      time: (request) => <OpenButton request={request} zone={zone} />,
      call: (request) => (
        <>
          {callName(request)}
          {request.requests > 1 && <span className="dim"> × {request.requests}</span>}
          <NamedBy request={request} />
        </>
      ),
      key: ({ key }) => (
        <span title={key.last_four === "" ? key.name : `…${key.last_four}`}>{key.name}</span>
      ),
      result: ({ status, code }) => <StatusTag status={status} code={code} />,
      ...(!short && TOKENS),
      took: { number: ({ latency_ms: ms }) => duration(ms) },
      cost: "cost_usd",
    },
  );
  return (
    <Table
      columns={columns}
      rows={requests}
      keyOf={({ id }) => id}
      open={({ id }) => open(id)}
      isOpen={({ id }) => id === opened}
    />
  );
}

/** The run and the end user that a request named, in a line of their own. */
function NamedBy({ request: { run, end_user: endUser } }: { readonly request: RequestRow }) {
  const { filters } = t.usage;
  const names = [
    ...(run === null ? [] : [t.pair(filters.run, run)]),
    ...(endUser === null ? [] : [t.pair(filters.endUser, endUser)]),
  ];
  if (names.length === 0) return null;
  return <div className="tiny dim">{names.join(" · ")}</div>;
}

const TOKENS = { tokens: { number: tokensOf } } as const;

interface OpenButtonProps {
  readonly request: RequestRow;
  readonly zone: string;
}

/** Opens the row from the keyboard, too: the click reaches the row. */
function OpenButton({ request: { id, at }, zone }: OpenButtonProps) {
  return (
    <button type="button" className="row-link nowrap tabular" title={t.usage.openRow(id)}>
      {clockTime(at, zone)} <span className="dim tiny">{shortDay(at, zone)}</span>
    </button>
  );
}

/** The name of the called model, action or service. */
export function callName({ service, model, endpoint }: RequestRow): string {
  if (model !== null) return service === "maps" ? `${t.services.maps} · ${model}` : model;
  return t.services[service as keyof typeof t.services] === undefined
    ? endpoint
    : nameOf(t.services, service);
}

function tokensOf({
  service,
  prompt_tokens: input,
  completion_tokens: output,
}: RequestRow): string {
  if (service !== "chat") return "";
  return countText(input + output);
}

const REFUSED_FROM = 400;

/** The status of a request, with the code of a refusal. */
export function StatusTag({
  status,
  code,
}: {
  readonly status: number;
  readonly code: string | null;
}) {
  return (
    <Tag tone={status >= REFUSED_FROM ? "owed" : "paid"}>
      {status}
      {code !== null && ` ${code}`}
    </Tag>
  );
}
