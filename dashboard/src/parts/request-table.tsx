// Requests as rows: time, what was called, with which key, the result, and the exact cost.

import type { RequestsReply } from "../../../src/console/usage/requests-schema.ts";
import { nameOf, t } from "../texts.ts";
import { clockTime, duration, shortDay, zoneLabel } from "../time.ts";
import { useZone } from "../zone.ts";
import { Money } from "./money.tsx";
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
  const columns = [
    `${t.usage.time} (${label})`,
    t.usage.call,
    t.usage.key,
    t.usage.result,
    ...(short ? [] : [{ number: t.usage.tokens }]),
    { number: t.usage.took },
    { number: t.usage.cost },
  ];
  return (
    <Table columns={columns}>
      {requests.map((one) => (
        <Row
          key={one.id}
          request={one}
          open={open}
          isOpen={one.id === opened}
          short={short}
          zone={zone}
        />
      ))}
    </Table>
  );
}

interface RowProps {
  readonly request: RequestRow;
  readonly open: (id: string) => void;
  readonly isOpen: boolean;
  readonly short: boolean;
  readonly zone: string;
}

function Row({ request, open, isOpen, short, zone }: RowProps) {
  const { id, at, key, latency_ms: latency } = request;
  return (
    <tr data-click="" onClick={() => open(id)} {...(isOpen && { "data-open": "" })}>
      <td className="nowrap tabular">
        <button type="button" className="row-link" title={t.usage.openRow(id)}>
          {clockTime(at, zone)} <span className="dim tiny">{shortDay(at, zone)}</span>
        </button>
      </td>
      <td>
        {callName(request)}
        {request.requests > 1 && <span className="dim"> × {request.requests}</span>}
      </td>
      <td title={key.last_four === "" ? key.name : `…${key.last_four}`}>{key.name}</td>
      <td>
        <StatusTag status={request.status} code={request.code} />
      </td>
      {!short && <td className="num">{tokensOf(request)}</td>}
      <td className="num">{duration(latency)}</td>
      <td className="num">
        <Money usd={request.cost_usd} />
      </td>
    </tr>
  );
}

/** What was called, in a few words. */
export function callName({ service, model, endpoint }: RequestRow): string {
  if (model !== null) return service === "maps" ? `${t.services.maps} · ${model}` : model;
  return t.services[service as keyof typeof t.services] === undefined
    ? endpoint
    : nameOf(t.services, service);
}

function tokensOf({ service, prompt_tokens: input, completion_tokens: output }: RequestRow) {
  if (service !== "chat") return "";
  return (input + output).toLocaleString("en");
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
