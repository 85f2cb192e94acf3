// The balance, how long it lasts, the last calls, and the first steps.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { OverviewReply } from "../../../src/readings/overview.ts";
import { DOCS_URL } from "../addresses.ts";
import { overviewQuery } from "../api/queries.ts";
import { isZero } from "../money.ts";
import { nameOf } from "../name-of.ts";
import { countText } from "../numbers.ts";
import { AsOf } from "../parts/as-of.tsx";
import { Spendable } from "../parts/balance-bar.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Money } from "../parts/money.tsx";
import { Facts, Notice, PageHead, Panel, Tag } from "../parts/panel.tsx";
import { useAccount } from "../session.tsx";
import { t } from "../texts.ts";
import { FirstSteps } from "./first-steps.tsx";
import { LastCalls } from "./last-calls.tsx";
import { OverviewChart } from "./overview-chart.tsx";

const RENEW_MS = 5_000;
/** The interval of queries while the log lacks calls that the balance shows already. */
const BEHIND_MS = 1_000;

export function OverviewPage() {
  const account = useAccount();
  const overview = useQuery({
    ...overviewQuery(account.id),
    refetchInterval: ({ state }) =>
      (state.data?.as_of.behind_seconds ?? 0) > 0 ? BEHIND_MS : RENEW_MS,
  });
  const navigate = useNavigate();
  const { data } = overview;
  const tier = data === undefined ? "" : `${t.work.tier(data.tier.kind, data.tier.name)} · `;
  const about = (
    <>
      {account.name} · {tier}
      <AsOf value={data?.as_of} />
    </>
  );
  return (
    <>
      <PageHead title={t.nav.pages.overview} about={about}>
        <Button variant="default" component="a" href={DOCS_URL} target="_blank">
          {t.actions.docs}
        </Button>
        <Button
          onClick={() =>
            void navigate({
              to: "/$account/billing",
              params: { account: account.id },
              search: { add: "credit" },
            })
          }
        >
          {t.actions.addCredit}
        </Button>
      </PageHead>
      <Loaded query={overview} height={200}>
        {(loaded) => <Figures overview={loaded} account={account.id} />}
      </Loaded>
    </>
  );
}

interface FiguresProps {
  readonly overview: OverviewReply;
  readonly account: string;
}

function Figures({ overview, account }: FiguresProps) {
  const { has_key: hasKey, has_called: hasCalled } = overview.first_steps;
  const isNew = !hasKey || !hasCalled;
  return (
    <div className="panels">
      <FreeCredit overview={overview} />
      {isNew && <FirstSteps overview={overview} account={account} />}
      <div className="split">
        <Panel>
          <Spendable balance={overview.balance} />
        </Panel>
        <Panel>
          <Lasts overview={overview} account={account} />
        </Panel>
      </div>
      <OverviewChart account={account} today={overview.today.cost_usd} />
      <div className="split">
        <LastCalls account={account} hasSpent={hasSpent(overview)} />
        <TodayPanel overview={overview} account={account} />
      </div>
      {!isNew && !overview.first_steps.has_paid && (
        <FirstSteps overview={overview} account={account} />
      )}
    </div>
  );
}

/** Says why the account has no free credit, unless that is plain. */
function FreeCredit({ overview }: { readonly overview: OverviewReply }) {
  const { free_credit: free, first_steps: steps } = overview;
  if (free === "granted" || free === "none" || steps.has_paid) return null;
  return <Notice tone="free">{t.work.freeCredit[free]}</Notice>;
}

function Lasts({ overview, account }: FiguresProps) {
  const { burn, month, tier, auto_top_up: auto } = overview;
  const rows: [string, React.ReactNode][] = [
    [t.work.autoTopUp, <AutoState key="auto" auto={auto} account={account} />],
    [
      t.work.thisMonth,
      <span key="month">
        <Money usd={month.spent_usd} />
        {month.cap_usd !== null && (
          <>
            {" "}
            {t.work.of} <Money usd={month.cap_usd} />
          </>
        )}
      </span>,
    ],
  ];
  if (tier.next !== null) rows.push([t.work.nextTier, t.work.next(tier.next)]);
  return (
    <>
      <p className="small dim">{t.work.lastsAbout}</p>
      <p className={burn.lasts_days === null ? "strong" : "figure"}>
        {lastsText(overview)}{" "}
        {!isZero(burn.usd_per_day) && (
          <span className="figure-note">
            {t.work.at} <Money usd={burn.usd_per_day} /> {t.work.aDay}
          </span>
        )}
      </p>
      <hr className="tear" />
      <Facts rows={rows} />
    </>
  );
}

/** The rate is a mean of whole days, so an account has none on its first day. */
function lastsText(overview: OverviewReply): string {
  if (overview.burn.lasts_days !== null) return t.work.days(overview.burn.lasts_days);
  return hasSpent(overview) ? t.work.notEnoughSpending : t.work.noSpending;
}

/** True if the balance shows a call, which is there before the call is in the log. */
function hasSpent({ today, month }: OverviewReply): boolean {
  return [today.cost_usd, month.spent_usd, month.held_usd].some((usd) => !isZero(usd));
}

interface AutoStateProps {
  readonly auto: OverviewReply["auto_top_up"];
  readonly account: string;
}

function AutoState({ auto, account }: AutoStateProps) {
  if (auto === null) {
    return (
      <Link to="/$account/billing" params={{ account }} search={{ add: "auto" }}>
        {t.work.turnOn}
      </Link>
    );
  }
  return <Tag tone={auto === "enabled" ? "paid" : "owed"}>{t.work.auto[auto]}</Tag>;
}

function TodayPanel({ overview, account }: FiguresProps) {
  const { today, last_errors: errors } = overview;
  return (
    <Panel title={t.work.today} aside={t.work.sinceMidnight}>
      <Facts
        rows={[
          [t.work.calls, countText(today.calls)],
          [t.work.refusedOrFailed, countText(today.errors)],
          [t.work.cost, <Money key="cost" usd={today.cost_usd} />],
        ]}
      />
      {errors.length > 0 && (
        <>
          <hr className="tear" />
          <p className="small strong">{t.work.lastErrors}</p>
          <ul className="plain-list">
            {errors.map((one) => (
              <li key={one.request_id} className="small">
                <Link
                  to="/$account/requests"
                  params={{ account }}
                  search={{ open: one.request_id }}
                >
                  <Tag tone="owed">
                    {one.status} {one.code}
                  </Tag>
                </Link>{" "}
                <span className="dim mono tiny">{nameOf({}, one.endpoint)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}
