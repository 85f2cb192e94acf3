// Says on every page why an account cannot be used as it is.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { overviewQuery } from "../api/queries.ts";
import { isZero } from "../money.ts";
import { nameOf } from "../name-of.ts";
import { Money } from "../parts/money.tsx";
import { Notice } from "../parts/panel.tsx";
import { t } from "../texts.ts";

/** Warns of owed money and of an account that is not active, and links the remedy. */
export function AccountState({ account }: { readonly account: string }) {
  const { data } = useQuery(overviewQuery(account));
  if (data === undefined) return null;
  const { state, state_reason: reason } = data.account;
  const { owed_usd: owed } = data.balance;
  const billing = (
    <Link to="/$account/billing" params={{ account }}>
      {t.work.state.clear}
    </Link>
  );
  if (!isZero(owed)) {
    return (
      <Notice tone="owed" action={billing}>
        <Money usd={owed} /> {t.work.state.owed}
      </Notice>
    );
  }
  if (state === "active") return null;
  const reasons = reason === null ? [] : [nameOf(t.work.state.reasons, reason)];
  return <Notice tone="owed">{t.sentences([t.work.state[state], ...reasons])}</Notice>;
}
