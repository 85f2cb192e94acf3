// The terms of the automatic top-up, with its caps and the text that one agrees to.

import { Checkbox, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import type { BillingReply } from "../../../../src/readings/billing.ts";
import { setAutoTopUp } from "../../api/money-changes.ts";
import { outdateAccount } from "../../api/queries.ts";
import { moneyText, nanoOf, typedUsd } from "../../money.ts";
import { Ask } from "../../parts/ask.tsx";
import { t } from "../../texts.ts";
import { Price } from "./add-credit.tsx";
import { cardName } from "./cards.tsx";

interface AutoFormProps {
  readonly opened: boolean;
  readonly close: () => void;
  readonly account: string;
  readonly billing: BillingReply;
}

const THRESHOLD_SUGGESTED = "5";

export function AutoForm({ opened, close, account, billing }: AutoFormProps) {
  const { auto, caps, cards, consent } = billing;
  const [amount, setAmount] = useState(auto?.amount_usd ?? caps.auto_usd);
  const [below, setBelow] = useState(auto?.threshold_usd ?? THRESHOLD_SUGGESTED);
  const [cap, setCap] = useState(auto?.monthly_cap_usd ?? caps.auto_month_usd);
  // The card of one that is paused may be gone.
  const known = cards.find(({ id }) => id === auto?.card) ?? cards[0];
  const [card, setCard] = useState(known?.id ?? null);
  const [agreed, setAgreed] = useState(false);
  const [amountUsd, belowUsd, capUsd] = [typedUsd(amount), typedUsd(below), typedUsd(cap)];
  const problems = {
    amount: aboveCap(amountUsd, caps.auto_usd),
    below: belowUsd === null ? t.work.keys.wrongLimit : null,
    cap: aboveCap(capUsd, caps.auto_month_usd),
  };
  const isWrong = Object.values(problems).some((problem) => problem !== null);
  const run = async () => {
    if (amountUsd === null || belowUsd === null || capUsd === null) return;
    await setAutoTopUp(account, {
      amount_usd: amountUsd,
      threshold_usd: belowUsd,
      monthly_cap_usd: capUsd,
      ...(card !== null && { card }),
      consent_version: consent.version,
    });
    await outdateAccount(account);
  };
  return (
    <Ask
      opened={opened}
      close={close}
      title={t.work.autoTopUp}
      action={auto === null ? t.billing.autoOn : t.actions.save}
      run={run}
      done={t.billing.autoSaved}
      disabled={isWrong || !agreed || card === null}
      calm
    >
      <p className="small">{t.billing.autoAbout}</p>
      <UsdField
        label={t.billing.autoAmount}
        value={amount}
        change={setAmount}
        error={problems.amount}
      />
      {amountUsd !== null && problems.amount === null && (
        <p className="tiny dim">
          {t.billing.autoCharged} <Price usd={amountUsd} billing={billing} />
        </p>
      )}
      <UsdField
        label={t.billing.autoBelow}
        value={below}
        change={setBelow}
        error={problems.below}
      />
      <UsdField label={t.billing.autoCap} value={cap} change={setCap} error={problems.cap} />
      <p className="tiny dim">
        {t.billing.autoCaps(moneyText(caps.auto_usd), moneyText(caps.auto_month_usd))}
      </p>
      <Select
        label={t.billing.card}
        data={cards.map((one) => ({ value: one.id, label: cardName(one) }))}
        value={card}
        onChange={setCard}
      />
      <Checkbox
        label={consent.text}
        checked={agreed}
        onChange={(event) => setAgreed(event.currentTarget.checked)}
      />
    </Ask>
  );
}

function aboveCap(usd: string | null, cap: string): string | null {
  if (usd === null) return t.work.keys.wrongLimit;
  return nanoOf(usd) > nanoOf(cap) ? t.billing.tooLarge(moneyText(cap)) : null;
}

interface UsdFieldProps {
  readonly label: string;
  readonly value: string;
  readonly change: (text: string) => void;
  readonly error: string | null;
}

function UsdField({ label, value, change, error }: UsdFieldProps) {
  return (
    <TextInput
      label={label}
      inputMode="decimal"
      leftSection="$"
      value={value}
      error={error}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
