// Money: balances, adding credit, cards, the automatic top-up, payments and the ledger.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { mayAct } from "../../../../src/core/access/roles.ts";
import { movesMoney } from "../../../../src/core/money/payment-names.ts";
import type { BillingReply } from "../../../../src/readings/billing.ts";
import {
  billingQuery,
  isMissing,
  outdateAccount,
  outdateBalance,
  topUpQuery,
} from "../../api/queries.ts";
import { isZero, moneyText } from "../../money.ts";
import { AsOf } from "../../parts/as-of.tsx";
import { Spendable } from "../../parts/balance-bar.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Facts, Notice, PageHead, Panel } from "../../parts/panel.tsx";
import { useFields } from "../../search-fields.ts";
import { type Account, useAccount } from "../../session.tsx";
import { t } from "../../texts.ts";
import { AddCredit } from "./add-credit.tsx";
import { AutoTopUp } from "./auto-top-up.tsx";
import { Cards } from "./cards.tsx";
import { failureWords } from "./failure-words.ts";
import { Ledger } from "./ledger.tsx";
import { Payments } from "./payments.tsx";
import { RedeemVoucher } from "./redeem-voucher.tsx";

const RENEW_MS = 5_000;
const SOON_MS = 1_000;
const TONES = { open: "held", succeeded: "paid", failed: "owed", expired: "held" } as const;

export function BillingPage() {
  const account = useAccount();
  const query = useQuery({ ...billingQuery(account.id), refetchInterval: RENEW_MS });
  const [fields, change] = useFields();
  const canPay = mayAct(account.role, "billing");
  const provider = query.data?.provider ?? null;
  const left = query.data?.balance.spendable_usd;
  // The navigation and the ledger show the same balance.
  useEffect(() => {
    if (left !== undefined) void outdateBalance(account.id);
  }, [left, account.id]);
  return (
    <>
      <PageHead title={t.nav.pages.billing} about={<AsOf value={query.data?.as_of} />}>
        {canPay ? (
          <div className="row">
            <Button variant="default" onClick={() => change({ add: "voucher" })}>
              {t.billing.voucher.title}
            </Button>
            <Button disabled={provider === null} onClick={() => change({ add: "credit" })}>
              {t.actions.addCredit}
            </Button>
          </div>
        ) : (
          <span className="small dim">{t.billing.forbidden(account.role)}</span>
        )}
      </PageHead>
      {fields.top_up !== undefined && <Returned account={account.id} id={fields.top_up} />}
      {canPay && fields.add === "voucher" && (
        <RedeemVoucher close={() => change({ add: undefined })} account={account.id} code="" />
      )}
      <Loaded query={query} height={260}>
        {(billing) => (
          <>
            <Sections billing={billing} account={account} canPay={canPay} />
            {canPay && billing.provider !== null && fields.add === "credit" && (
              <AddCredit
                close={() => change({ add: undefined })}
                account={account.id}
                billing={billing}
              />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

/** Shows the outcome of the top-up from whose page the reader comes back. */
function Returned({ account, id }: { readonly account: string; readonly id: string }) {
  const query = useQuery({
    ...topUpQuery(account, id),
    refetchInterval: ({ state: { data, error } }) => {
      if (data === undefined) return isMissing(error) ? false : RENEW_MS;
      return data.top_up.status === "open" ? SOON_MS : false;
    },
  });
  const [, change] = useFields();
  const status = query.data?.top_up.status;
  useEffect(() => {
    if (status === "succeeded") void outdateAccount(account);
  }, [status, account]);
  const end = (
    <Button size="xs" variant="subtle" onClick={() => change({ top_up: undefined })}>
      {t.actions.close}
    </Button>
  );
  if (query.data !== undefined) {
    const { top_up: topUp } = query.data;
    return (
      <Notice tone={TONES[topUp.status]} action={end}>
        {t.billing.returned[topUp.status](moneyText(topUp.amount_usd))}{" "}
        {topUp.failure !== null && failureWords(topUp.failure)}
      </Notice>
    );
  }
  if (query.error === null) return null;
  return (
    <Notice tone="held" action={end}>
      {!isMissing(query.error) && t.billing.returnedUnknown} {query.error.message}
    </Notice>
  );
}

interface SectionsProps {
  readonly billing: BillingReply;
  readonly account: Account;
  readonly canPay: boolean;
}

function Sections({ billing, account, canPay }: SectionsProps) {
  const { provider, balance } = billing;
  return (
    <div className="panels">
      {provider === null && <Notice tone="held">{t.billing.noProvider}</Notice>}
      {provider !== null && !movesMoney(provider) && <Notice>{t.billing.sandbox}</Notice>}
      {!isZero(balance.owed_usd) && <Notice tone="owed">{t.billing.owedHow}</Notice>}
      <div className="split">
        <Panel>
          <Spendable balance={balance} />
        </Panel>
        <Caps billing={billing} />
      </div>
      <div className="split" data-even="">
        <AutoTopUp account={account.id} billing={billing} canPay={canPay} />
        <Cards account={account.id} billing={billing} canPay={canPay} />
      </div>
      <Payments account={account.id} billing={billing} />
      <Ledger account={account.id} />
    </div>
  );
}

function Caps({ billing }: { readonly billing: BillingReply }) {
  const { caps, fee } = billing;
  const words = t.billing.caps;
  const amounts = [
    [words.now, caps.now_usd],
    [words.min, caps.min_usd],
    [words.once, caps.at_once_usd],
    [words.day, caps.day_usd],
    [words.autoMonth, caps.auto_month_usd],
  ] as const;
  const rows = amounts.map(([name, usd]) => [name, <Money key={name} usd={usd} />] as const);
  const fees = fee === null ? [] : [[words.fee, t.billing.fee(fee)] as const];
  const taxes = billing.adds_tax ? [[words.tax, t.billing.taxAdded] as const] : [];
  return (
    <Panel title={words.title}>
      <Facts rows={[...rows, ...fees, ...taxes]} />
    </Panel>
  );
}
