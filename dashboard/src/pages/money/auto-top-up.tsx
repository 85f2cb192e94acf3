// The automatic top-up: off, on with its terms, or paused with the reason.

import { Button } from "@mantine/core";
import { useState } from "react";
import type { BillingReply } from "../../../../src/readings/billing.ts";
import { stopAutoTopUp } from "../../api/money-changes.ts";
import { outdateAccount } from "../../api/queries.ts";
import { isZero } from "../../money.ts";
import { Ask } from "../../parts/ask.tsx";
import { Money } from "../../parts/money.tsx";
import { Facts, Panel, Tag } from "../../parts/panel.tsx";
import { useFields } from "../../search-fields.ts";
import { t } from "../../texts.ts";
import { AutoForm } from "./auto-form.tsx";
import { cardName } from "./cards.tsx";

interface AutoProps {
  readonly account: string;
  readonly billing: BillingReply;
  readonly canPay: boolean;
}

export function AutoTopUp({ account, billing, canPay }: AutoProps) {
  const { auto, cards, caps } = billing;
  const [fields, change] = useFields();
  const isPossible = canPay && cards.length > 0 && !isZero(caps.auto_usd);
  const state =
    auto === null ? null : (
      <Tag tone={auto.state === "enabled" ? "paid" : "owed"}>{t.work.auto[auto.state]}</Tag>
    );
  return (
    <Panel title={t.work.autoTopUp} aside={state}>
      {auto === null ? (
        <div className="stack">
          <p className="small">{t.billing.autoAbout}</p>
          <Missing billing={billing} />
          {isPossible && (
            <div>
              <Button size="xs" variant="default" onClick={() => change({ add: "auto" })}>
                {t.billing.autoOn}
              </Button>
            </div>
          )}
        </div>
      ) : (
        <AutoTerms account={account} billing={billing} canPay={canPay} isPossible={isPossible} />
      )}
      {isPossible && (
        <AutoForm
          key={String(fields.add === "auto")}
          opened={fields.add === "auto"}
          close={() => change({ add: undefined })}
          account={account}
          billing={billing}
        />
      )}
    </Panel>
  );
}

/** Says which needs of an automatic top-up the account does not meet. */
function Missing({ billing: { cards, caps } }: Pick<AutoProps, "billing">) {
  return (
    <>
      {cards.length === 0 && <p className="small dim">{t.billing.autoNeedsCard}</p>}
      {isZero(caps.auto_usd) && <p className="small dim">{t.billing.autoNotInTier}</p>}
    </>
  );
}

interface AutoTermsProps extends AutoProps {
  /** False where automatic top-ups cannot be changed or resumed. */
  readonly isPossible: boolean;
}

function AutoTerms({ account, billing, canPay, isPossible }: AutoTermsProps) {
  const { auto, cards } = billing;
  const [, change] = useFields();
  const [isStopping, setStopping] = useState(false);
  if (auto === null) return null;
  const card = cards.find(({ id }) => id === auto.card);
  return (
    <div className="stack">
      {auto.state === "paused" && (
        <p className="small danger">{t.billing.autoPaused(auto.reason)}</p>
      )}
      <Facts
        rows={[
          [t.billing.autoAmount, <Money key="amount" usd={auto.amount_usd} />],
          [t.billing.autoBelow, <Money key="below" usd={auto.threshold_usd} />],
          [t.billing.autoCap, <Money key="cap" usd={auto.monthly_cap_usd} />],
          [t.billing.card, card === undefined ? t.states.none : cardName(card)],
        ]}
      />
      <Missing billing={billing} />
      {canPay && (
        <div className="row">
          {isPossible && (
            <Button size="xs" variant="default" onClick={() => change({ add: "auto" })}>
              {auto.state === "paused" ? t.billing.autoResume : t.billing.autoChange}
            </Button>
          )}
          <Button size="xs" variant="default" onClick={() => setStopping(true)}>
            {t.billing.autoOff}
          </Button>
        </div>
      )}
      <Ask
        opened={isStopping}
        close={() => setStopping(false)}
        title={t.billing.autoOffTitle}
        action={t.billing.autoOff}
        run={async () => {
          await stopAutoTopUp(account);
          await outdateAccount(account);
        }}
      >
        <p className="small">{t.billing.autoOffAbout}</p>
      </Ask>
    </div>
  );
}
