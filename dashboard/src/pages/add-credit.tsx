// Adds credit: on the payment provider's page, or at once with a saved card. It shows what is paid
// and what is credited before anything is charged.

import { Button, Checkbox, Modal, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import type { BillingReply } from "../../../src/console/billing-schema.ts";
import { chargeCard, startCheckout } from "../api/money-changes.ts";
import { outdateAccount } from "../api/queries.ts";
import { moneyText, nanoOf, typedUsd, usdOf } from "../money.ts";
import { Problem, say, useChange } from "../parts/ask.tsx";
import { Form } from "../parts/form.tsx";
import { Money } from "../parts/money.tsx";
import { Facts } from "../parts/panel.tsx";
import { t } from "../texts.ts";

interface AddCreditProps {
  readonly opened: boolean;
  readonly close: () => void;
  readonly account: string;
  readonly billing: BillingReply;
}

const AMOUNTS = ["10", "25", "50", "100"] as const;
const PAGE = "page";

export function AddCredit({ opened, close, account, billing }: AddCreditProps) {
  return (
    <Modal opened={opened} onClose={close} title={t.actions.addCredit}>
      <CreditForm close={close} account={account} billing={billing} />
    </Modal>
  );
}

/** What is wrong with an amount, in words; null if nothing is. */
function amountProblem(usd: string | null, { caps }: BillingReply): string | null {
  if (usd === null) return t.work.keys.wrongLimit;
  if (nanoOf(usd) < nanoOf(caps.min_usd)) return t.billing.tooSmall(moneyText(caps.min_usd));
  if (nanoOf(usd) > nanoOf(caps.now_usd)) return t.billing.tooLarge(moneyText(caps.now_usd));
  return null;
}

function CreditForm({ close, account, billing }: Omit<AddCreditProps, "opened">) {
  const { cards, caps } = billing;
  const first = AMOUNTS.find((one) => amountProblem(one, billing) === null) ?? caps.min_usd;
  const [text, setText] = useState<string>(first);
  const [way, setWay] = useState(cards[0]?.id ?? PAGE);
  const [saveCard, setSaveCard] = useState(true);
  const [request, setRequest] = useState(() => crypto.randomUUID());
  const usd = typedUsd(text);
  const problem = amountProblem(usd, billing);
  const change = useChange(async () => {
    if (usd === null) return;
    if (way === PAGE) {
      const { top_up: started } = await startCheckout(account, usd, saveCard);
      if (started.url === null) throw new Error(t.billing.noPage);
      window.location.assign(started.url);
      return;
    }
    const { top_up: charged } = await chargeCard(account, usd, way, request);
    if (charged.status === "failed") {
      // It has ended: the next try, perhaps with another card, is another order.
      setRequest(crypto.randomUUID());
      await outdateAccount(account);
      throw new Error(t.billing.declined(charged.failure));
    }
    say(charged.status === "succeeded" ? t.billing.credited(moneyText(usd)) : t.billing.underWay);
    await outdateAccount(account);
    close();
  });
  return (
    <Form submit={() => problem === null && change.start()}>
      <AmountField text={text} change={setText} problem={problem} billing={billing} />
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
      {usd !== null && problem === null && <PayAndGet usd={usd} billing={billing} />}
      <Problem error={change.error} />
      <div className="row" data-end="">
        <Button variant="default" onClick={close}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={change.busy} disabled={problem !== null}>
          {way === PAGE ? t.billing.toPage : t.billing.payNow}
        </Button>
      </div>
    </Form>
  );
}

interface AmountProps {
  readonly text: string;
  readonly change: (text: string) => void;
  readonly problem: string | null;
  readonly billing: BillingReply;
}

/** Usual amounts, or one of one's own. */
function AmountField({ text, change, problem, billing }: AmountProps) {
  return (
    <>
      <SegmentedControl
        fullWidth
        aria-label={t.billing.amount}
        data={AMOUNTS.map((one) => ({
          value: one,
          label: `$${one}`,
          disabled: amountProblem(one, billing) !== null,
        }))}
        value={AMOUNTS.find((one) => one === typedUsd(text)) ?? ""}
        onChange={change}
      />
      <TextInput
        data-autofocus
        label={t.billing.amount}
        inputMode="decimal"
        leftSection="$"
        value={text}
        error={problem}
        onChange={(event) => change(event.currentTarget.value)}
      />
    </>
  );
}

const NANO_PER_CENT = 10_000_000n;
/** A percentage has at most so many decimals, so that it can be computed with whole numbers. */
const PERCENT_SCALE = 10_000;

/** The fee on an amount, rounded up to a cent as the server does. */
function feeOf(usd: string, fee: NonNullable<BillingReply["fee"]>): string {
  const share = BigInt(Math.round(fee.percent * PERCENT_SCALE));
  const exact = nanoOf(usd) * share;
  const divisor = BigInt(PERCENT_SCALE) * 100n;
  const nano = (exact + divisor - 1n) / divisor + nanoOf(fee.fixed_usd);
  return usdOf(((nano + NANO_PER_CENT - 1n) / NANO_PER_CENT) * NANO_PER_CENT);
}

function PayAndGet({ usd, billing }: { readonly usd: string; readonly billing: BillingReply }) {
  const fee = billing.fee === null ? "0" : feeOf(usd, billing.fee);
  const owed = billing.balance.owed_usd;
  const paysOwed = nanoOf(owed) > nanoOf(usd) ? usd : owed;
  const rows = [
    [t.billing.youPay, <Money key="pay" usd={usdOf(nanoOf(usd) + nanoOf(fee))} />],
    [t.billing.youGet, <Money key="get" usd={usdOf(nanoOf(usd) - nanoOf(paysOwed))} />],
  ] as const;
  const fees =
    nanoOf(fee) > 0n ? [[t.billing.ofItFee, <Money key="fee" usd={fee} />] as const] : [];
  const owes =
    nanoOf(paysOwed) > 0n
      ? [[t.billing.paysOwed, <Money key="owed" usd={paysOwed} />] as const]
      : [];
  return <Facts rows={[...rows, ...fees, ...owes]} />;
}
