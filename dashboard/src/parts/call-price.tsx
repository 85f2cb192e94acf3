// The price of a call of the playground: the hold before the call, and the cost after it.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ApiCall, estimate } from "../api/playground.ts";
import { nameOf } from "../name-of.ts";
import { t } from "../texts.ts";
import { Money } from "./money.tsx";

interface HoldProps {
  readonly account: string;
  /** Null while the call is not complete. */
  readonly call: ApiCall | null;
}

/** Shows the amount that the call would hold, or the reason of its refusal. */
export function Hold({ account, call }: HoldProps) {
  const query = useQuery({
    queryKey: [account, "estimate", JSON.stringify(call)],
    queryFn: () => (call === null ? null : estimate(account, call)),
    enabled: call !== null,
    placeholderData: (last) => last,
    retry: false,
  });
  if (call === null) return <p className="small dim">{t.playground.incomplete}</p>;
  if (query.error !== null) return <p className="small danger">{query.error.message}</p>;
  if (query.data === undefined || query.data === null) {
    return <p className="small dim">{t.playground.estimating}</p>;
  }
  return (
    <p className="small dim">
      {t.playground.holds} <Money usd={query.data.hold_usd} /> · {t.playground.atMost}
    </p>
  );
}

interface CostProps {
  readonly account: string;
  /** Null if the page does not know the cost; the receipt has it. */
  readonly usd: string | null;
  readonly requestId: string | null;
  /** The limit that ended the reply. */
  readonly stoppedBy?: string | null;
}

/** Shows the cost of a call, and links to its receipt. */
export function Cost({ account, usd, requestId, stoppedBy = null }: CostProps) {
  return (
    <p className="small dim">
      {usd !== null && (
        <>
          {t.playground.cost} <Money usd={usd} />
        </>
      )}{" "}
      {stoppedBy !== null && (
        <>
          · {t.usage.ticket.endedBy} {nameOf(t.usage.ticket.ends, stoppedBy)} ·{" "}
        </>
      )}
      {requestId !== null && (
        <Link to="/$account/requests" params={{ account }} search={{ open: requestId }}>
          {t.usage.ticket.title}
        </Link>
      )}
    </p>
  );
}
