// A request as a ticket: the hold, each price line, the charge and the rest given back, and below
// the tear line the timing. A refusal is the same ticket with the limit and a remedy.

import { CloseButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ReceiptReply } from "../../../../src/readings/receipt.ts";
import { receiptQuery } from "../../api/queries.ts";
import { isZero, moneyText } from "../../money.ts";
import { nameOf } from "../../name-of.ts";
import { countText } from "../../numbers.ts";
import { Copy } from "../../parts/code.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { PrintedBrand } from "../../parts/mark.tsx";
import { Money } from "../../parts/money.tsx";
import { Facts, Tag } from "../../parts/panel.tsx";
import { t } from "../../texts.ts";
import { duration, exactTime, zoneLabel } from "../../time.ts";
import { useZone } from "../../zone.ts";
import { SignedReceipt } from "./signed-receipt.tsx";

interface TicketProps {
  readonly account: string;
  readonly id: string;
  readonly close: () => void;
}

type Row = readonly [ReactNode, ReactNode];

export function Ticket({ account, id, close }: TicketProps) {
  const query = useQuery(receiptQuery(account, id));
  return (
    <aside aria-label={t.usage.ticket.title}>
      <section className="panel ticket">
        <PrintedBrand />
        <div className="row" data-apart="">
          <h2 className="ticket-title">{t.usage.ticket.title}</h2>
          <div className="row">
            {query.data !== undefined && <Outcome receipt={query.data} />}
            <CloseButton size="sm" aria-label={t.actions.close} onClick={close} />
          </div>
        </div>
        <p className="mono tiny dim">{id}</p>
        <Loaded query={query} height={320}>
          {(receipt) => <Receipt receipt={receipt} account={account} />}
        </Loaded>
      </section>
    </aside>
  );
}

interface ReceiptProps {
  readonly receipt: ReceiptReply;
  readonly account: string;
}

function Receipt({ receipt, account }: ReceiptProps) {
  return (
    <>
      <div className="row ticket-sum" data-apart="">
        <span className="figure">
          <Money usd={receipt.charged_usd} />
        </span>
        <span className="small dim">
          {receipt.held_usd === null ? (
            t.usage.ticket.nothingHeld
          ) : (
            <>
              {t.usage.ticket.ofHeld} <Money usd={receipt.held_usd} /> {t.usage.ticket.held}
            </>
          )}
        </span>
      </div>
      <hr className="tear" />
      {receipt.refusal !== null && <Refusal receipt={receipt} account={account} />}
      <Facts rows={moneyRows(receipt)} />
      {receipt.lines.some(({ price_usd: price }) => price === null) && (
        <p className="tiny dim">{t.usage.ticket.unknownPrices}</p>
      )}
      <hr className="tear" data-soft="" />
      <TimingRows receipt={receipt} />
      <div className="row ticket-actions">
        <SignedReceipt account={account} request={receipt.request.id} />
        <Copy text={receipt.request.id} label={t.usage.ticket.id} name={t.usage.ticket.copyId} />
      </div>
    </>
  );
}

const SERVER_FAULT = 500;

function Outcome({ receipt }: { readonly receipt: ReceiptReply }) {
  const { request, refusal, charged_usd: charged } = receipt;
  if (request.status >= SERVER_FAULT) return <Tag tone="owed">{t.usage.ticket.failed}</Tag>;
  if (refusal !== null) return <Tag tone="owed">{t.usage.ticket.refused}</Tag>;
  if (isZero(charged)) return <Tag tone="free">{t.usage.ticket.free}</Tag>;
  return <Tag tone="paid">{t.usage.ticket.charged}</Tag>;
}

function moneyRows(receipt: ReceiptReply): Row[] {
  const { request, lines } = receipt;
  const rows: Row[] = [[t.usage.ticket.service, nameOf(t.services, request.service)]];
  if (request.model !== null) {
    const name = request.service === "maps" ? t.usage.ticket.action : t.usage.ticket.model;
    rows.push([name, request.model]);
  }
  if (request.asked_model !== null) rows.push([t.usage.ticket.asked, request.asked_model]);
  for (const line of lines)
    rows.push([t.usage.ticket.line(line.what), <PriceLine key={line.what} line={line} />]);
  if (receipt.held_usd !== null) {
    rows.push([t.usage.ticket.returned, <Money key="back" usd={receipt.returned_usd} />]);
  }
  if (!isZero(receipt.charged_usd)) {
    rows.push([t.usage.ticket.fromFree, <Money key="free" usd={receipt.free_usd} />]);
    rows.push([t.usage.ticket.fromPaid, <Money key="paid" usd={receipt.paid_usd} />]);
  }
  if (receipt.balance_after_usd !== null) {
    rows.push([t.usage.ticket.balanceAfter, <Money key="after" usd={receipt.balance_after_usd} />]);
  }
  if (receipt.stopped_by !== null) {
    rows.push([t.usage.ticket.endedBy, nameOf(t.usage.ticket.ends, receipt.stopped_by)]);
  }
  if (receipt.price_version !== null) {
    rows.push([t.usage.ticket.version, <code key="version">{receipt.price_version}</code>]);
  }
  return rows;
}

const MILLION = 1_000_000;
const THOUSAND = 1_000;

function PriceLine({ line }: { readonly line: ReceiptReply["lines"][number] }) {
  const { units, price_usd: price, per, cost_usd: cost } = line;
  if (price === null || cost === null) return <span>{countText(units)}</span>;
  const unit = per === MILLION ? "/M" : per === THOUSAND ? "/k" : per === 1 ? "" : `/${per}`;
  return (
    <span title={moneyText(cost)}>
      {countText(units)} × <Money usd={price} />
      {unit} = <Money usd={cost} />
    </span>
  );
}

function TimingRows({ receipt: { request } }: { readonly receipt: ReceiptReply }) {
  const [zone] = useZone();
  const { key } = request;
  const rows: Row[] = [
    [
      t.usage.ticket.at,
      <span key="at" title={request.at}>
        {exactTime(request.at, zone)} {zoneLabel(zone, new Date(request.at))}
      </span>,
    ],
    [t.usage.ticket.endpoint, <code key="endpoint">{request.endpoint}</code>],
  ];
  if (request.requests > 1) {
    const name = request.status === 200 ? t.usage.ticket.queries : t.usage.ticket.standsFor;
    rows.push([name, countText(request.requests)]);
  }
  if (request.first_token_ms !== null) {
    rows.push([t.usage.ticket.firstToken, duration(request.first_token_ms)]);
  }
  rows.push([t.usage.ticket.total, duration(request.latency_ms)]);
  rows.push([t.usage.ticket.key, `${key.name}${key.last_four === "" ? "" : ` …${key.last_four}`}`]);
  if (request.run !== null) rows.push([t.usage.ticket.run, <code key="run">{request.run}</code>]);
  if (request.step !== null) rows.push([t.usage.ticket.step, <code key="s">{request.step}</code>]);
  if (request.end_user !== null) {
    rows.push([t.usage.filters.endUser, <code key="user">{request.end_user}</code>]);
  }
  if (request.country !== null) rows.push([t.usage.ticket.from, request.country]);
  if (request.lane !== null) rows.push([t.usage.ticket.route, request.lane]);
  return <Facts rows={rows} />;
}

/** The page on which the cause of each code is mended. */
const MENDED_BY: Readonly<Record<string, keyof typeof t.usage.ticket.mend>> = {
  insufficient_credits: "balance",
  payment_required: "balance",
  monthly_limit_reached: "cap",
  account_budget_exceeded: "cap",
  run_budget_exceeded: "run",
  end_user_budget_exceeded: "cap",
  too_many_budgets: "run",
  key_paused: "cap",
  run_paused: "run",
  run_ended: "run",
  rate_limit_exceeded: "cap",
  too_many_streams: "cap",
  mail_rate_limit: "cap",
  mail_daily_limit: "cap",
  key_budget_exceeded: "key",
  insufficient_scope: "key",
  model_not_allowed: "key",
  ip_not_allowed: "key",
  tier_required: "tier",
};
const MEND_PATHS = {
  balance: "/$account/billing",
  cap: "/$account/limits",
  run: "/$account/limits",
  key: "/$account/keys",
  tier: "/$account/limits",
} as const;

function Refusal({ receipt, account }: ReceiptProps) {
  const { refusal, request } = receipt;
  if (refusal === null) return null;
  const mended = MENDED_BY[refusal.code];
  const isFault = request.status >= SERVER_FAULT;
  return (
    <div className="refusal" role="note">
      <p className="small strong">
        {t.pair(isFault ? t.usage.ticket.whyFailed : t.usage.ticket.why, "")}
        <code>{refusal.code}</code>
      </p>
      <p className="small">{t.refusals.explanation(refusal, isFault)}</p>
      {isZero(receipt.charged_usd) && <p className="small">{t.usage.ticket.notCharged}</p>}
      <div className="row small">
        {mended !== undefined && (
          <Link to={MEND_PATHS[mended]} params={{ account }}>
            {t.usage.ticket.mend[mended]}
          </Link>
        )}
        <a href={refusal.docs} target="_blank" rel="noreferrer">
          {t.usage.ticket.explained}
        </a>
      </div>
    </div>
  );
}
