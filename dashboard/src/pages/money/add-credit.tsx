// Adds credit: on the payment provider's page, or at once with a saved card. The form shows the
// price and the credit before anything is charged.

import { Checkbox, Modal, SegmentedControl, Select } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { StartedTopUpReply } from "../../../../src/console/money/top-ups.ts";
import type { BillingReply } from "../../../../src/readings/billing.ts";
import { RequestError } from "../../api/client.ts";
import { chargeCard, startCheckout } from "../../api/money-changes.ts";
import { outdateAccount } from "../../api/queries.ts";
import { dollarText, isZero, moneyText, nanoOf, sumUsd, usdOf } from "../../money.ts";
import { DialogFoot, say, useChange, whenIdle } from "../../parts/ask.tsx";
import { Form } from "../../parts/form.tsx";
import { Money } from "../../parts/money.tsx";
import { Facts } from "../../parts/panel.tsx";
import { TextField, type Typed, useTypedUsd } from "../../parts/text-field.tsx";
import { t } from "../../texts.ts";
import { bonusOf, feeOf } from "../../top-up-price.ts";
import { declinedWords } from "./failure-words.ts";

interface AddCreditProps {
  readonly close: () => void;
  readonly account: string;
  readonly billing: BillingReply;
}

const AMOUNTS = ["10", "25", "50", "100"] as const;
const PAGE = "page";

/** The fault of an amount in words; null for an amount that can be paid. */
function amountProblem(usd: string, { caps }: BillingReply): string | null {
  if (nanoOf(usd) < nanoOf(caps.min_usd)) return t.billing.tooSmall(moneyText(caps.min_usd));
  if (nanoOf(usd) > nanoOf(caps.now_usd)) return t.billing.tooLarge(moneyText(caps.now_usd));
  return null;
}

/**
 * The dialog. The dialog stays open while a card is charged: closing it would not stop the charge.
 */
export function AddCredit({ close, account, billing }: AddCreditProps) {
  const { cards, caps } = billing;
  const first = AMOUNTS.find((one) => amountProblem(one, billing) === null) ?? caps.min_usd;
  const amount = useTypedUsd(first, (usd) => amountProblem(usd, billing));
  const [way, setWay] = useState(cards[0]?.id ?? PAGE);
  const [saveCard, setSaveCard] = useState(true);
  const charge = useCharge(account);
  const usd = amount.value;
  const change = useChange(async () => {
    if (usd === null) return;
    if (way === PAGE) {
      const { top_up: started } = await startCheckout(account, usd, saveCard);
      if (started.url === null) throw new Error(t.billing.noPage);
      window.location.assign(started.url);
      return;
    }
    const status = await charge(usd, way);
    say(status === "succeeded" ? t.billing.credited(moneyText(usd)) : t.billing.underWay);
    close();
  });
  return (
    <Modal opened onClose={whenIdle(change, close)} title={t.actions.addCredit}>
      <Form submit={change.start}>
        <AmountField amount={amount} billing={billing} />
        <Select
          label={t.billing.payWith}
          data={[
            ...cards.map(({ id, brand, last_four: four }) => ({
              value: id,
              label: `${brand} …${four}`,
            })),
            { value: PAGE, label: t.billing.otherCard },
          ]}
          value={way}
          onChange={(next) => setWay(next ?? PAGE)}
        />
        {way === PAGE && (
          <Checkbox
            label={t.billing.saveCard}
            description={t.billing.saveCardAbout}
            checked={saveCard}
            onChange={(event) => setSaveCard(event.currentTarget.checked)}
          />
        )}
        {usd !== null && <PayAndGet usd={usd} billing={billing} />}
        <DialogFoot
          change={change}
          close={close}
          action={way === PAGE ? t.billing.toPage : t.billing.payNow}
          disabled={usd === null}
        />
      </Form>
    </Modal>
  );
}

type Status = StartedTopUpReply["top_up"]["status"];

/** Charges a saved card. A charge whose answer was lost is asked for again, not made again. */
function useCharge(account: string): (usd: string, card: string) => Promise<Status> {
  const [request, setRequest] = useState(() => crypto.randomUUID());
  return async (usd, card) => {
    try {
      const { top_up: charged } = await chargeCard(account, { usd, card, request });
      // The outcome of this order is known: the next charge is another order.
      setRequest(crypto.randomUUID());
      if (charged.status === "failed") throw new Error(declinedWords(charged.failure));
      return charged.status;
    } catch (error) {
      if (isUnknown(error)) throw new Error(t.billing.lostAnswer, { cause: error });
      if (!(error instanceof RequestError) || error.code !== "reference_reused") throw error;
      setRequest(crypto.randomUUID());
      throw new Error(t.billing.earlierOrder, { cause: error });
    } finally {
      await outdateAccount(account);
    }
  };
}

/** True where the server may have done the work, and its answer was lost. */
function isUnknown(error: unknown): boolean {
  return error instanceof RequestError && (error.status < 400 || error.status >= 500);
}

interface AmountProps {
  readonly amount: Typed;
  readonly billing: BillingReply;
}

/** Offers usual amounts, and a field for any other. */
function AmountField({ amount, billing }: AmountProps) {
  return (
    <>
      <SegmentedControl
        fullWidth
        aria-label={t.billing.amount}
        data={AMOUNTS.map((one) => ({
          value: one,
          label: dollarText(one),
          disabled: amountProblem(one, billing) !== null,
        }))}
        value={AMOUNTS.find((one) => one === amount.value) ?? ""}
        onChange={amount.type}
      />
      <TextField field={amount} isFirst label={t.billing.amount} />
    </>
  );
}

interface PayAndGetProps {
  readonly usd: string;
  readonly billing: BillingReply;
}

/** Shows the price of an amount of credit, as far as it is known before the payment. */
export function Price({ usd, billing }: PayAndGetProps) {
  return (
    <>
      <Money usd={sumUsd([usd, feeOf(usd, billing)])} />
      {billing.adds_tax && ` ${t.billing.plusTax}`}
    </>
  );
}

/** Shows the price of an amount of credit, and the credit that the account gets. */
function PayAndGet({ usd, billing }: PayAndGetProps) {
  const [fee, bonus] = [feeOf(usd, billing), bonusOf(usd, billing)];
  const owed = billing.balance.owed_usd;
  const paysOwed = nanoOf(owed) > nanoOf(usd) ? usd : owed;
  const rows: [string, ReactNode][] = [
    [t.billing.youPay, <Price key="pay" usd={usd} billing={billing} />],
    [t.billing.youGet, <Money key="get" usd={usdOf(nanoOf(usd) - nanoOf(paysOwed))} />],
  ];
  const others = [
    [t.billing.bonusOnTop, bonus],
    [t.billing.ofItFee, fee],
    [t.billing.paysOwed, paysOwed],
  ] as const;
  for (const [name, amount] of others) {
    if (!isZero(amount)) rows.push([name, <Money key={name} usd={amount} />]);
  }
  return <Facts rows={rows} />;
}
