// The limits of an account: balance, month and own cap, windows, keys and tiers.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { mayAct } from "../../../src/core/access/roles.ts";
import type { LimitsReply } from "../../../src/readings/limits.ts";
import { setOwnCap } from "../api/money-changes.ts";
import { limitsQuery, outdateAccount, overviewQuery } from "../api/queries.ts";
import { nanoOf, sumUsd } from "../money.ts";
import { countText } from "../numbers.ts";
import { AsOf } from "../parts/as-of.tsx";
import { say } from "../parts/ask.tsx";
import { AskAmount } from "../parts/ask-amount.tsx";
import { Spendable } from "../parts/balance-bar.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Meter } from "../parts/meter.tsx";
import { Money } from "../parts/money.tsx";
import { Facts, PageHead, Panel } from "../parts/panel.tsx";
import { type Account, useAccount } from "../session.tsx";
import { t } from "../texts.ts";
import { day } from "../time.ts";
import { BudgetsPanel } from "./budgets.tsx";
import { BurnPanel } from "./burn-rates.tsx";
import { EndUsersPanel } from "./end-users.tsx";
import { KeyWindows, TierTable } from "./limit-tables.tsx";
import { RunsPanel } from "./runs.tsx";

const RENEW_MS = 3_000;

export function LimitsPage() {
  const account = useAccount();
  const query = useQuery({ ...limitsQuery(account.id), refetchInterval: RENEW_MS });
  return (
    <>
      <PageHead title={t.nav.pages.limits} about={<AsOf value={query.data?.as_of} />} />
      <Loaded query={query} height={260}>
        {(limits) => (
          <div className="panels">
            <div className="split" data-even="">
              <Panel title={t.work.limits.binds}>
                <Balance account={account.id} />
              </Panel>
              <MonthPanel limits={limits} account={account} />
            </div>
            <div className="split" data-even="">
              <Windows limits={limits} />
              <KeyWindows limits={limits} />
            </div>
            <BudgetsPanel limits={limits} account={account} />
            <EndUsersPanel limits={limits} account={account} />
            <BurnPanel limits={limits} account={account} />
            <RunsPanel account={account} />
            {limits.tiers.length > 0 && <TierTable limits={limits} />}
          </div>
        )}
      </Loaded>
    </>
  );
}

function Balance({ account }: { readonly account: string }) {
  const query = useQuery(overviewQuery(account));
  return (
    <Loaded query={query} height={80}>
      {({ balance }) => <Spendable balance={balance} />}
    </Loaded>
  );
}

function MonthPanel({ limits, account }: { limits: LimitsReply; account: Account }) {
  const [isAsking, setAsking] = useState(false);
  const { month } = limits;
  const caps = [month.tier_cap_usd, month.own_cap_usd].filter((one) => one !== null);
  const lowest = caps.toSorted((a, b) => (nanoOf(a) < nanoOf(b) ? -1 : 1))[0];
  const used = sumUsd([month.spent_usd, month.held_usd]);
  return (
    <Panel title={t.work.limits.month} aside={t.work.limits.resets(day(month.resets_at))}>
      <p className="figure">
        <Money usd={month.spent_usd} />{" "}
        {lowest !== undefined && (
          <span className="figure-note">
            {t.work.of} <Money usd={lowest} />
          </span>
        )}
      </p>
      {lowest !== undefined && (
        <Meter used={Number(used)} most={Number(lowest)} label={t.work.limits.month} />
      )}
      <hr className="tear" />
      <Facts
        rows={[
          [t.work.limits.held, <Money key="held" usd={month.held_usd} />],
          [t.work.limits.tierCap, capOf(month.tier_cap_usd)],
          [t.work.limits.ownCap, capOf(month.own_cap_usd)],
        ]}
      />
      {mayAct(account.role, "owner") && (
        <Button size="xs" variant="default" mt="sm" onClick={() => setAsking(true)}>
          {month.own_cap_usd === null ? t.work.limits.setCap : t.work.limits.changeCap}
        </Button>
      )}
      {isAsking && (
        <OwnCap account={account.id} cap={month.own_cap_usd} close={() => setAsking(false)} />
      )}
    </Panel>
  );
}

function capOf(usd: string | null) {
  return usd === null ? t.work.limits.noCap : <Money usd={usd} />;
}

function Windows({ limits }: { readonly limits: LimitsReply }) {
  const { requests, open, mail } = limits;
  const words = t.work.limits;
  return (
    <Panel title={words.windows} aside={t.work.tier(limits.tier.kind, limits.tier.name)}>
      <div className="stack">
        <Meter used={open.streams} most={open.streams_max} label={words.streams} shown />
        <Meter used={open.calls} most={open.calls_max} label={words.callsOpen} shown />
        {mail !== null && (
          <>
            <Meter
              used={mail.messages_minute}
              most={mail.messages_minute_max}
              label={words.mailMinute}
              shown
            />
            <Meter
              used={mail.recipients_day}
              most={mail.recipients_day_max}
              label={words.mailDay}
              shown
            />
          </>
        )}
        <Facts
          rows={[
            [words.requestsKey, countText(requests.per_minute_key)],
            ...(requests.per_minute_account === null
              ? []
              : [[words.requestsAccount, countText(requests.per_minute_account)] as const]),
            [words.batch, countText(limits.batch_searches_max)],
            ...(mail === null
              ? []
              : [[words.mailMessage, countText(mail.recipients_message_max)] as const]),
          ]}
        />
      </div>
    </Panel>
  );
}

interface OwnCapProps {
  readonly account: string;
  readonly cap: string | null;
  readonly close: () => void;
}

/** Sets the account's own monthly cap, or takes the cap away. */
function OwnCap({ account, cap, close }: OwnCapProps) {
  const words = t.work.limits;
  const set = async (value: string | null) => {
    const { applied } = await setOwnCap(account, value);
    say(applied ? (value === null ? words.capRemoved : words.capSet) : words.capSoon);
    await outdateAccount(account);
  };
  return (
    <AskAmount
      title={cap === null ? words.setCap : words.changeCap}
      about={words.capAbout}
      label={words.capAmount}
      present={cap}
      removal={cap === null ? null : words.removeCap}
      set={set}
      close={close}
    />
  );
}
