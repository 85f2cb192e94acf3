// Money over all accounts: revenue with its charts, disputes, and grants of free credit.

import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { DAY_MS } from "../../../src/core/durations.ts";
import { REVENUE_GROUPS } from "../../../src/core/usage-query.ts";
import type { DisputesReply } from "../../../src/readings/disputes.ts";
import type { GrantsReply } from "../../../src/readings/grants.ts";
import type { RevenueReply } from "../../../src/readings/revenue.ts";
import { serverTime } from "../api/client.ts";
import { moneyText } from "../money.ts";
import { nameOf } from "../name-of.ts";
import { countText } from "../numbers.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { UsageChart } from "../parts/lazy-chart.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { Facts, PageHead, Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { choiceAmong, useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";
import { isoOf, UTC } from "../time.ts";
import { Go } from "./go.tsx";
import { disputesQuery, grantsQuery, revenueQuery } from "./operator-queries.ts";
import { Paged, StateChoice } from "./paged.tsx";
import { chargedView, type GroupName, receivedView, titleOf } from "./revenue-view.ts";

const RANGES = ["30", "7", "90", "365"] as const;

function dayBack(days: number): string {
  return isoOf(serverTime() - days * DAY_MS).slice(0, "2026-11-22".length);
}

export function RevenuePage() {
  const [fields, change] = useFields();
  const range = choiceAmong(RANGES, fields.range);
  const group = choiceAmong(REVENUE_GROUPS, fields.group);
  const days = { from: dayBack(Number(range) - 1), to: dayBack(0) };
  const query = useQuery({
    ...revenueQuery({ ...days, group }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.revenue} about={ot.revenueAbout}>
        <SegmentedControl
          size="xs"
          aria-label={ot.group}
          data={REVENUE_GROUPS.map((value) => ({ value, label: ot.groups[value] }))}
          value={group}
          onChange={(value) => change({ group: value })}
        />
        <SegmentedControl
          size="xs"
          aria-label={ot.range}
          data={RANGES.toSorted((a, b) => Number(a) - Number(b)).map((value) => ({
            value,
            label: ot.ranges[value],
          }))}
          value={range}
          onChange={(value) => change({ range: value })}
        />
      </PageHead>
      <Loaded query={query} height={300}>
        {(revenue) => <RevenuePanels revenue={revenue} group={group} />}
      </Loaded>
    </>
  );
}

type Group = RevenueReply["groups"][number];

const columnsFor = (by: GroupName): readonly Column<Group>[] =>
  columnsOf(ot.columns, {
    name: (row) => titleOf(row, by),
    calls: { count: "calls" },
    fromFree: "free_usd",
    charged: "charged_usd",
    upstream: { number: (row) => known(row, row.upstream_usd) },
    byProvider: { number: (row) => known(row, row.provider_usd) },
    margin: { number: (row) => known(row, row.margin_usd) },
  });

/** Of the calls whose upstream cost is known; a dash where that is none. */
function known({ known_calls: calls }: Pick<Group, "known_calls">, usd: string) {
  return calls === 0 ? "–" : <Money usd={usd} />;
}

interface RevenuePanelsProps {
  readonly revenue: RevenueReply;
  readonly group: GroupName;
}

function RevenuePanels({ revenue, group }: RevenuePanelsProps) {
  const { total, received, groups } = revenue;
  const charged = useMemo(() => chargedView(revenue, group), [revenue, group]);
  const paid = useMemo(() => receivedView(revenue), [revenue]);
  return (
    <div className="panels">
      <div className="split" data-even="">
        <Panel>
          <p className="small dim">{ot.earned}</p>
          <p className="figure">
            <Money usd={total.earned_usd} />
          </p>
          <Facts
            rows={[
              [ot.charged, <Money key="charged" usd={total.charged_usd} />],
              [ot.ofFree, <Money key="free" usd={total.free_usd} />],
              [ot.columns.calls, countText(total.calls)],
              [ot.columns.upstream, known(total, total.upstream_usd)],
              [ot.byProvider(countText(total.provider_calls)), known(total, total.provider_usd)],
              [ot.margin(countText(total.known_calls)), known(total, total.margin_usd)],
            ]}
          />
        </Panel>
        <Panel>
          <p className="small dim">{ot.received}</p>
          <p className="figure">
            <Money usd={received.amount_usd} />
          </p>
          <Facts
            rows={[
              [ot.payments, countText(received.payments)],
              [ot.takenBack, <Money key="back" usd={received.taken_back_usd} />],
            ]}
          />
        </Panel>
      </div>
      <Panel title={ot.chargedByDay}>
        <UsageChart view={charged} metric="cost" zone={UTC} step="1d" height={240} />
        <Table
          rows={groups}
          keyOf={({ name }) => name}
          columns={columnsFor(group)}
          label={ot.chargedByDay}
        />
      </Panel>
      <Panel title={ot.receivedByDay}>
        <UsageChart view={paid} metric="cost" zone={UTC} step="1d" height={180} />
      </Panel>
    </div>
  );
}

type Dispute = DisputesReply["disputes"][number];

const DISPUTES: readonly Column<Dispute>[] = columnsOf(ot.columns, {
  account: ({ account, account_name: name }) => (
    <Go to={`/${account}/billing`}>{name ?? account}</Go>
  ),
  payment: ({ payment, provider, top_up: topUp }) => (
    <>
      <span className="mono tiny">{payment}</span>
      <div className="tiny dim">
        {nameOf(ot.providers, provider)} {topUp}
      </div>
    </>
  ),
  at: "paid_at",
  dispute: ({ dispute, concern }) => (
    <>
      <Tag tone={dispute === "won" ? "paid" : dispute === null ? "held" : "owed"}>
        {ot.disputes[dispute ?? "warned"]}
      </Tag>
      <div className="tiny dim">{concern !== null && concernText(concern)}</div>
    </>
  ),
  amount: "amount_usd",
});

const CONCERNS = ["refunded", "inquiry", "open", "won", "lost"] as const;
const CONCERN = /^(?:dispute )?(\w+) \$([\d.]+)$/;

/** The parts of what a provider last said, such as "dispute open $25", in the page's language. */
function concernText(concern: string): string {
  const textOf = (part: string) => {
    if (part === "fraud warning") return ot.concerns.fraudWarning;
    const [, what, usd = "0"] = CONCERN.exec(part) ?? [];
    const known = CONCERNS.find((one) => one === what);
    return known === undefined ? part : ot.concerns[known](moneyText(usd));
  };
  return t.list(concern.split(", ").map(textOf));
}

const STATES = ["open", "all"] as const;

export function DisputesPage() {
  const [fields] = useFields();
  const state = choiceAmong(STATES, fields.state);
  const query = useQuery({
    ...disputesQuery({ state, before: fields.before }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.disputes} about={ot.disputesAbout} />
      <Panel>
        <StateChoice field="state" states={STATES} value={state} labelOf={(value) => ot[value]} />
        <Paged query={query}>
          {({ disputes }) => (
            <Table
              rows={disputes}
              keyOf={({ payment }) => payment}
              columns={DISPUTES}
              label={ot.nav.pages.disputes}
            />
          )}
        </Paged>
      </Panel>
    </>
  );
}

type Grant = GrantsReply["grants"][number];

const GRANTS: readonly Column<Grant>[] = columnsOf(ot.columns, {
  at: "at",
  account: ({ account, account_name: name }) => <Go to={`/${account}`}>{name ?? account}</Go>,
  by: ({ actor }) => nameOf(t.people.actors, actor),
  kind: ({ kind }) => ot.grantKinds[kind],
  ends: "expires_at",
  amount: "amount_usd",
});

export function GrantsPage() {
  const [fields] = useFields();
  const query = useQuery({
    ...grantsQuery({ before: fields.before }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.grants} about={ot.grantsAbout} />
      <Panel>
        <Paged query={query}>
          {({ grants }) => (
            <Table
              rows={grants}
              keyOf={({ account, at, kind }) => `${account} ${at} ${kind}`}
              columns={GRANTS}
              label={ot.nav.pages.grants}
            />
          )}
        </Paged>
      </Panel>
    </>
  );
}
