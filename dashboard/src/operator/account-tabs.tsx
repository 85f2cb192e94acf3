// The tabs of an account: balances, payments, keys, requests, and activity.

import { SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { CALL_STATUSES } from "../../../src/core/usage-query.ts";
import type { BillingReply } from "../../../src/readings/billing.ts";
import type { KeysReply } from "../../../src/readings/keys.ts";
import type { OperatorAccountReply } from "../../../src/readings/operator-account.ts";
import { billingQuery, keysQuery, requestsQuery } from "../api/queries.ts";
import { nameOf } from "../name-of.ts";
import { countText } from "../numbers.ts";
import { Ledger } from "../pages/money/ledger.tsx";
import { Payments } from "../pages/money/payments.tsx";
import { ActivityPanel } from "../pages/settings/activity.tsx";
import { Ticket } from "../pages/usage/ticket.tsx";
import { TicketDrawer } from "../pages/usage/ticket-drawer.tsx";
import { BalancePicture } from "../parts/balance-bar.tsx";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { PagerRow } from "../parts/pager.tsx";
import { Facts, Notice, Panel, Tag } from "../parts/panel.tsx";
import { RequestTable } from "../parts/request-table.tsx";
import { Table } from "../parts/table.tsx";
import { choiceAmong, useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";
import { dayTime } from "../time.ts";
import { AccountChanges } from "./account-changes.tsx";
import { useAccountId } from "./account-frame.tsx";
import { ActButton } from "./act-dialog.tsx";
import { accountQuery, trailQuery } from "./operator-queries.ts";
import { TrailRows } from "./trail-page.tsx";

export function OverviewTab() {
  const id = useAccountId();
  const query = useQuery(accountQuery(id));
  return (
    <Loaded query={query} height={260}>
      {(account) => (
        <div className="panels">
          {account.overview.account.state !== "active" && (
            <Notice tone="owed">{standingText(account.overview.account)}</Notice>
          )}
          <div className="split">
            <Panel title={ot.balance}>
              <p className="small dim">{ot.spendable}</p>
              <p className="figure">
                <Money usd={account.overview.balance.spendable_usd} />
              </p>
              <BalancePicture balance={account.overview.balance} />
            </Panel>
            <Panel title={ot.account}>
              <Facts rows={factsOf(account)} />
            </Panel>
          </div>
          <AccountChanges account={account} />
          <Panel title={ot.people}>
            <Table
              rows={account.people.members}
              keyOf={({ person_id: person }) => person}
              columns={PEOPLE}
              label={ot.people}
              none={ot.noPeople}
            />
          </Panel>
        </div>
      )}
    </Loaded>
  );
}

type Standing = OperatorAccountReply["overview"]["account"];

/** The state of an account that is not active, and its reason. */
function standingText({ state, state_reason: reason }: Standing): string {
  return t.pair(ot.states[state], reason === null ? t.states.none : nameOf(ot.reasons, reason));
}

type Member = OperatorAccountReply["people"]["members"][number];

const PEOPLE: readonly Column<Member>[] = columnsOf(ot.columns, {
  name: ({ name, email }) => `${name} · ${email}`,
  role: ({ role }) => t.nav.roles[role],
  since: "joined_at",
});

function factsOf(account: OperatorAccountReply) {
  const { overview } = account;
  const { facts } = ot;
  const rows: (readonly [string, React.ReactNode])[] = [
    [facts.id, <code key="id">{account.id}</code>],
    [facts.email, account.email ?? t.states.none],
    [facts.surface, t.nav.surfaces[account.surface]],
    [facts.tier, t.work.tier(overview.tier.kind, overview.tier.name)],
    [facts.calls, countText(account.open_calls)],
    [facts.streams, countText(account.open_streams)],
    [facts.month, <Money key="month" usd={overview.month.spent_usd} />],
    [
      facts.cap,
      overview.month.cap_usd === null ? (
        t.states.none
      ) : (
        <Money key="cap" usd={overview.month.cap_usd} />
      ),
    ],
    [facts.auto, overview.auto_top_up === null ? t.states.none : t.work.auto[overview.auto_top_up]],
    [facts.domain, account.mail_domain ?? t.states.none],
    [facts.since, dayTime(account.created_at)],
  ];
  return rows;
}

export function BillingTab() {
  const id = useAccountId();
  const query = useQuery(billingQuery(id));
  return (
    <Loaded query={query} height={260}>
      {(billing) => (
        <div className="panels">
          <Refundable id={id} billing={billing} />
          <Payments account={id} billing={billing} />
          <Ledger account={id} />
        </div>
      )}
    </Loaded>
  );
}

type PaymentRow = BillingReply["payments"][number];

function Refundable({ id, billing }: { readonly id: string; readonly billing: BillingReply }) {
  const columns: readonly Column<PaymentRow>[] = columnsOf(
    ot.columns,
    {
      payment: ({ id: payment, provider }) => (
        <>
          <span className="mono small">{payment}</span>
          <div className="tiny dim">{nameOf(ot.providers, provider)}</div>
        </>
      ),
      at: "paid_at",
      amount: "amount_usd",
      refunded: "refunded_usd",
      dispute: ({ dispute }) =>
        dispute === null ? (
          "–"
        ) : (
          <Tag tone={dispute === "won" ? "paid" : "owed"}>{ot.disputes[dispute]}</Tag>
        ),
    },
    {
      title: ot.acts.refund.open,
      show: ({ id: payment, dispute, amount_usd: amount, refunded_usd: refunded }) =>
        dispute === "open" || amount === refunded ? (
          "–"
        ) : (
          <ActButton
            name="refund"
            path={`accounts/${id}/refund`}
            body={{ payment }}
            amount="optional"
            confirm={payment}
            small
            of={payment}
          />
        ),
    },
  );
  return (
    <Panel title={ot.acts.refund.title}>
      <Table
        rows={billing.payments}
        keyOf={({ id: payment }) => payment}
        columns={columns}
        label={ot.acts.refund.title}
        none={t.billing.noPayments}
      />
    </Panel>
  );
}

type KeyRow = KeysReply["keys"][number];

const KEYS: readonly Column<KeyRow>[] = columnsOf(ot.columns, {
  name: ({ id, name, last_four: last }) => (
    <>
      {name} <span className="dim">…{last}</span>
      <div className="tiny dim mono">{id}</div>
    </>
  ),
  state: ({ revoked_at: at }) =>
    at === null ? <Tag tone="paid">{ot.states.active}</Tag> : <Tag>{t.work.keys.revoked}</Tag>,
  scopes: ({ scopes }) => t.list(scopes.map((scope) => nameOf(t.scopes, scope))),
  used: ({ last_used_at: at }) => (at === null ? t.states.never : dayTime(at)),
  spent: "month_spent_usd",
  budget: "monthly_limit_usd",
});

export function KeysTab() {
  const query = useQuery(keysQuery(useAccountId()));
  return (
    <Panel title={ot.tabs.keys}>
      <Loaded query={query} height={200}>
        {({ keys }) => (
          <Table rows={keys} keyOf={({ id }) => id} columns={KEYS} label={ot.tabs.keys} />
        )}
      </Loaded>
    </Panel>
  );
}

const STATUSES = ["any", ...CALL_STATUSES] as const;

export function RequestsTab() {
  const id = useAccountId();
  const [fields, change] = useFields();
  const status = choiceAmong(STATUSES, fields.status);
  const query = useQuery({
    ...requestsQuery(id, {
      status: status === "any" ? undefined : status,
      request: fields.request,
      before: fields.before,
    }),
    placeholderData: (last) => last,
  });
  const close = () => change({ open: undefined });
  return (
    <Panel title={ot.tabs.requests}>
      <div className="row table-foot">
        <SegmentedControl
          size="xs"
          aria-label={ot.status}
          data={STATUSES.map((value) => ({ value, label: ot.statuses[value] }))}
          value={status}
          onChange={(value) => change({ status: value, before: undefined })}
        />
        <TextInput
          size="xs"
          aria-label={ot.findRequest}
          placeholder={ot.findRequest}
          defaultValue={fields.request ?? ""}
          onBlur={(event) => change({ request: event.currentTarget.value.trim() || undefined })}
        />
      </div>
      <Loaded query={query} height={300}>
        {({ requests, next }) => (
          <>
            {requests.length === 0 ? (
              <p className="small dim">{t.states.noRows}</p>
            ) : (
              <RequestTable requests={requests} open={(open) => change({ open })} />
            )}
            <PagerRow before={fields.before} next={next} go={(before) => change({ before })} />
          </>
        )}
      </Loaded>
      <TicketDrawer opened={fields.open !== undefined} close={close} position="right" size={460}>
        {fields.open !== undefined && <Ticket account={id} id={fields.open} close={close} />}
      </TicketDrawer>
    </Panel>
  );
}

export function ActivityTab() {
  const id = useAccountId();
  const query = useQuery(trailQuery({ account: id }));
  return (
    <div className="panels">
      <Panel title={ot.nav.pages.trail} aside={ot.trailAbout}>
        <Loaded query={query} height={160}>
          {({ entries }) => <TrailRows entries={entries} />}
        </Loaded>
      </Panel>
      <ActivityPanel account={id} />
    </div>
  );
}
