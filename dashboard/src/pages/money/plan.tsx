// The plan of an application account: its name and paid time, the contents and prices of all plans,
// and the buttons to change or cancel it.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { mayAct } from "../../../../src/core/access/roles.ts";
import { planTitle } from "../../../../src/core/money/plan-terms.ts";
import type { PlanReply } from "../../../../src/readings/offers/plan.ts";
import { cancelPlan } from "../../api/money-changes.ts";
import { outdateAccount, planQuery } from "../../api/queries.ts";
import { countText } from "../../numbers.ts";
import { Ask } from "../../parts/ask.tsx";
import { type Column, columnsOf } from "../../parts/columns.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Facts, Notice, PageHead, Panel, Tag } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { useFields } from "../../search-fields.ts";
import { useAccount } from "../../session.tsx";
import { t } from "../../texts.ts";
import { day } from "../../time.ts";
import { cardName } from "./cards.tsx";
import { type Offer, PlanOrder } from "./plan-order.tsx";

const RENEW_MS = 5_000;
const SOON_MS = 1_000;

export function PlanPage() {
  const account = useAccount();
  if (account.surface === "application") return <OwnPlan />;
  return (
    <>
      <PageHead title={t.nav.pages.plan} />
      <Notice
        action={
          <Link to="/$account/limits" params={{ account: account.id }}>
            {t.plan.toLimits}
          </Link>
        }
      >
        {t.plan.none}
      </Notice>
    </>
  );
}

function OwnPlan() {
  const account = useAccount();
  const query = useQuery({
    ...planQuery(account.id),
    refetchInterval: ({ state: { data } }) => (data?.open_charge == null ? RENEW_MS : SOON_MS),
  });
  const [fields, change] = useFields();
  const canPay = mayAct(account.role, "billing");
  const chosen = query.data?.plans.find(({ plan }) => plan === fields.plan);
  return (
    <>
      <PageHead title={t.nav.pages.plan} about={t.plan.about}>
        {!canPay && <span className="small dim">{t.billing.forbidden(account.role)}</span>}
      </PageHead>
      <Loaded query={query} height={260}>
        {(plan) => (
          <div className="panels">
            <Hints plan={plan} account={account.id} canPay={canPay} />
            <Current plan={plan} account={account.id} canPay={canPay} />
            <Panel>
              <Table
                rows={plan.plans}
                keyOf={(one) => one.plan}
                columns={columnsFor(plan, canPay, (name) => change({ plan: name }))}
                label={t.nav.pages.plan}
                isOpen={(one) => one.plan === plan.plan}
              />
            </Panel>
            {canPay && chosen?.begins != null && plan.cards.length > 0 && (
              <PlanOrder
                key={chosen.plan}
                account={account.id}
                plan={plan}
                offer={chosen}
                close={() => change({ plan: undefined })}
              />
            )}
          </div>
        )}
      </Loaded>
    </>
  );
}

interface PartProps {
  readonly plan: PlanReply;
  readonly account: string;
  readonly canPay: boolean;
}

/** The obstacles to an order, or to the plan itself. */
function Hints({ plan, account, canPay }: PartProps) {
  const words = t.plan;
  const { paid_until: until, price_usd: price, next_plan: next } = plan;
  const isRenewed = price !== null && next !== "free";
  return (
    <>
      {plan.provider === null && isRenewed && until !== null && (
        <Notice tone="held">{words.unpayable(day(until))}</Notice>
      )}
      {plan.provider !== null && plan.is_due && <Notice tone="owed">{words.due}</Notice>}
      {plan.open_charge !== null && <Notice tone="held">{words.open}</Notice>}
      {plan.provider === null && <Notice>{words.noProvider}</Notice>}
      {plan.provider !== null && plan.cards.length === 0 && canPay && (
        <Notice
          tone="held"
          action={
            <Link to="/$account/billing" params={{ account }} search={{ add: "credit" }}>
              {t.actions.addCredit}
            </Link>
          }
        >
          {words.needsCard}
        </Notice>
      )}
    </>
  );
}

function Current({ plan, account, canPay }: PartProps) {
  const [isCanceling, setCanceling] = useState(false);
  const words = t.plan;
  const { price_usd: price, paid_until: until, next_plan: next, is_due: isDue } = plan;
  const isEnding = next === "free";
  const card = plan.cards.find(({ id }) => id === plan.card);
  const end = until === null ? "" : day(until);
  return (
    <Panel title={words.now(planTitle(plan.plan))}>
      {price === null || until === null ? (
        plan.ended !== null && <p className="small dim">{words.ended[plan.ended]}</p>
      ) : (
        <Facts
          rows={[
            [words.price, <Money key="price" usd={price} />],
            [isEnding ? words.ends : isDue ? words.paidUntil : words.renews, end],
            ...(next !== null && next !== plan.plan
              ? [[words.after, planTitle(next)] as const]
              : []),
            ...(card === undefined || isEnding ? [] : [[t.billing.card, cardName(card)] as const]),
          ]}
        />
      )}
      {canPay && price !== null && !isEnding && (
        <Button size="xs" variant="default" mt="sm" onClick={() => setCanceling(true)}>
          {words.cancel}
        </Button>
      )}
      <Ask
        opened={isCanceling}
        close={() => setCanceling(false)}
        title={words.cancelTitle}
        action={words.cancel}
        done={words.canceled}
        run={async () => {
          await cancelPlan(account);
          await outdateAccount(account);
        }}
      >
        <p className="small">{isDue ? words.cancelNow : words.cancelAbout(end)}</p>
      </Ask>
    </Panel>
  );
}

function columnsFor(
  plan: PlanReply,
  canPay: boolean,
  choose: (name: string) => void,
): readonly Column<Offer>[] {
  const words = t.plan;
  const mayChoose = canPay && plan.cards.length > 0;
  return columnsOf(
    words.columns,
    {
      plan: (one) => (
        <>
          {planTitle(one.plan)} {one.plan === plan.plan && <Tag tone="paid">{words.yours}</Tag>}
          <div className="tiny dim">
            {words.contains(countText(one.requests_per_minute), countText(one.open_calls))}
          </div>
        </>
      ),
      price: {
        number: ({ plan: name, price_usd: price }) => {
          if (price !== null) return <Money usd={price} />;
          return name === "free" ? words.free : words.noPrice;
        },
      },
    },
    {
      show: ({ plan: name, begins }) =>
        mayChoose &&
        begins !== null && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={words.chooseOf(planTitle(name))}
            onClick={() => choose(name)}
          >
            {name === plan.plan ? words.keep : words.choose}
          </Button>
        ),
    },
  );
}
