// The saved cards.

import { Button } from "@mantine/core";
import { useState } from "react";
import { capitalised } from "../../../../src/core/text/capital.ts";
import type { BillingReply } from "../../../../src/readings/billing.ts";
import { removeCard } from "../../api/money-changes.ts";
import { outdateAccount } from "../../api/queries.ts";
import { Ask } from "../../parts/ask.tsx";
import { Panel } from "../../parts/panel.tsx";
import { t } from "../../texts.ts";
import { day } from "../../time.ts";

type Card = BillingReply["cards"][number];

interface CardsProps {
  readonly account: string;
  readonly billing: BillingReply;
  readonly canPay: boolean;
}

export function cardName({ brand, last_four: four }: Card): string {
  return `${capitalised(brand)} …${four}`;
}

export function Cards({ account, billing, canPay }: CardsProps) {
  const [removing, setRemoving] = useState<Card | null>(null);
  const { cards } = billing;
  return (
    <Panel title={t.billing.cards}>
      {cards.length === 0 && <p className="small dim">{t.billing.noCards}</p>}
      <ul className="plain-list">
        {cards.map((card) => (
          <li key={card.id} className="row" data-apart="">
            <span>
              <span className="strong">{cardName(card)}</span>{" "}
              <span className="small dim">
                {t.billing.cardFacts(card.expires, day(card.saved_at))}
              </span>
            </span>
            {canPay && (
              <Button
                size="compact-xs"
                variant="default"
                aria-label={t.pair(t.billing.removeCard, cardName(card))}
                onClick={() => setRemoving(card)}
              >
                {t.billing.removeCard}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {removing !== null && (
        <Ask
          opened
          close={() => setRemoving(null)}
          title={t.billing.removeCardTitle(cardName(removing))}
          action={t.billing.removeCard}
          done={t.billing.cardRemoved}
          run={async () => {
            await removeCard(account, removing.id);
            await outdateAccount(account);
          }}
        >
          <p className="small">{t.billing.removeCardAbout}</p>
        </Ask>
      )}
    </Panel>
  );
}
