// The terms of the automatic top-up, with its caps and the text that one agrees to.

import { Checkbox, Select } from "@mantine/core";
import { useState } from "react";
import type { BillingReply } from "../../../../src/readings/billing.ts";
import { setAutoTopUp } from "../../api/money-changes.ts";
import { outdateAccount } from "../../api/queries.ts";
import { moneyText, nanoOf } from "../../money.ts";
import { Ask } from "../../parts/ask.tsx";
import { TextField, useTypedUsd } from "../../parts/text-field.tsx";
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
  const amount = useTypedUsd(auto?.amount_usd ?? caps.auto_usd, atMost(caps.auto_usd));
  const below = useTypedUsd(auto?.threshold_usd ?? THRESHOLD_SUGGESTED);
  const cap = useTypedUsd(
    auto?.monthly_cap_usd ?? caps.auto_month_usd,
    atMost(caps.auto_month_usd),
  );
  // The card of a paused automatic top-up may be gone.
  const known = cards.find(({ id }) => id === auto?.card) ?? cards[0];
  const [card, setCard] = useState(known?.id ?? null);
  const [agreed, setAgreed] = useState(false);
  const isWrong = [amount, below, cap].some(({ value }) => value === null);
  const run = async () => {
    if (amount.value === null || below.value === null || cap.value === null) return;
    await setAutoTopUp(account, {
      amount_usd: amount.value,
      threshold_usd: below.value,
      monthly_cap_usd: cap.value,
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
      <TextField field={amount} label={t.billing.autoAmount} />
      {amount.value !== null && (
        <p className="tiny dim">
          {t.billing.autoCharged} <Price usd={amount.value} billing={billing} />
        </p>
      )}
      <TextField field={below} label={t.billing.autoBelow} />
      <TextField field={cap} label={t.billing.autoCap} />
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
        label={t.billing.consent(consent.version, consent.text)}
        checked={agreed}
        onChange={(event) => setAgreed(event.currentTarget.checked)}
      />
    </Ask>
  );
}

function atMost(cap: string): (usd: string) => string | null {
  return (usd) => (nanoOf(usd) > nanoOf(cap) ? t.billing.tooLarge(moneyText(cap)) : null);
}
