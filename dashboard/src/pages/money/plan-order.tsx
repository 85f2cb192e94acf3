// The question before a plan is ordered: the charges now and each month, and the text that the
// reader agrees to.

import { Checkbox, Select } from "@mantine/core";
import { useState } from "react";
import { PRICED_PLANS, planTitle } from "../../../../src/core/money/plan-terms.ts";
import type { PlanReply } from "../../../../src/readings/offers/plan.ts";
import { orderPlan } from "../../api/money-changes.ts";
import { outdateAccount } from "../../api/queries.ts";
import { isZero, moneyText } from "../../money.ts";
import { Ask, say } from "../../parts/ask.tsx";
import { t } from "../../texts.ts";
import { day } from "../../time.ts";
import { cardName } from "./cards.tsx";
import { declinedWords } from "./failure-words.ts";

export type Offer = PlanReply["plans"][number];

const TERMS = ["price_usd", "charged_now_usd", "begins"] as const satisfies (keyof Offer)[];

interface PlanOrderProps {
  readonly account: string;
  readonly plan: PlanReply;
  readonly offer: Offer;
  readonly close: () => void;
}

export function PlanOrder({ account, plan, offer, close }: PlanOrderProps) {
  // The id is made once, so that a second click charges nothing more.
  const [request, setRequest] = useState(() => crypto.randomUUID());
  const [card, setCard] = useState(plan.card);
  // Terms that change while the question is open need a new consent (D-920).
  const [agreedTo, setAgreedTo] = useState<Offer | null>(null);
  const agreed = TERMS.every((term) => agreedTo?.[term] === offer[term]);
  const words = t.plan;
  const ordered = PRICED_PLANS.find((one) => one === offer.plan);
  const charged = offer.charged_now_usd !== null && !isZero(offer.charged_now_usd);
  const run = async () => {
    const { price_usd, charged_now_usd, begins } = offer;
    if (ordered === undefined || price_usd === null || charged_now_usd === null) return;
    if (begins === null) return;
    const terms = { price_usd, charged_now_usd, begins };
    const order = { plan: ordered, ...terms, request, consent_version: plan.consent.version };
    try {
      const { charge } = await orderPlan(account, { ...order, ...(card !== null && { card }) });
      if (charge?.status === "failed") {
        // The outcome of this order is known: the next click is another order.
        setRequest(crypto.randomUUID());
        throw new Error(declinedWords(charge.failure));
      }
      say(charge?.status === "open" ? words.waits : words.done);
    } finally {
      await outdateAccount(account);
    }
  };
  return (
    <Ask
      opened
      calm
      close={close}
      title={words.title(planTitle(offer.plan))}
      action={charged ? words.order : words.change}
      run={run}
      disabled={!agreed || card === null}
    >
      <Terms plan={plan} offer={offer} />
      <Select
        label={t.billing.card}
        data={plan.cards.map((one) => ({ value: one.id, label: cardName(one) }))}
        value={card}
        onChange={setCard}
        allowDeselect={false}
      />
      <Checkbox
        label={t.billing.consent(plan.consent.version, plan.consent.text)}
        checked={agreed}
        onChange={({ currentTarget }) => setAgreedTo(currentTarget.checked ? offer : null)}
      />
    </Ask>
  );
}

/** The charge of the order now, and the price of each month after it. */
function Terms({ plan, offer }: Pick<PlanOrderProps, "plan" | "offer">) {
  const words = t.plan;
  const { charged_now_usd: now, price_usd: price, begins } = offer;
  const sentences = [nowText()];
  if (price !== null) sentences.push(words.monthly(moneyText(price)));
  if (plan.adds_tax) sentences.push(words.plusTax);
  return <p className="small">{t.sentences(sentences)}</p>;

  function nowText(): string {
    if (now !== null && !isZero(now)) return words.charged(moneyText(now));
    if (offer.plan === plan.plan) return words.keepAbout;
    if (begins === "next_month" && plan.paid_until !== null)
      return words.later(day(plan.paid_until));
    return words.freeChange;
  }
}
