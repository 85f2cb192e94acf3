// The balance bar: paid, free, held and owed. The bar looks the same wherever an account is shown.

import { moneyText, nanoOf, sumUsd } from "../money.ts";
import { t } from "../texts.ts";
import { dayTime, shortDay } from "../time.ts";
import { Money } from "./money.tsx";

/** The balance as the server sends it. */
export interface BalanceFigures {
  readonly paid_usd: string;
  readonly free_usd: string;
  readonly free_expires_at: string | null;
  readonly free_lots: readonly { readonly amount_usd: string; readonly ends_at: string | null }[];
  readonly held_usd: string;
  readonly owed_usd: string;
  readonly spendable_usd: string;
  readonly spendable_limit: keyof typeof t.balance.limits;
  readonly spendable_budget: {
    readonly span: keyof typeof t.work.spans;
    readonly left_usd: string;
    readonly renews_at: string | null;
  } | null;
}

const PARTS = ["paid", "free", "held", "owed"] as const;
type Part = (typeof PARTS)[number];

function amountOf(balance: BalanceFigures, part: Part): string {
  return balance[`${part}_usd`];
}

/** The bar alone. */
export function BalanceBar({ balance, thin }: { balance: BalanceFigures; thin?: boolean }) {
  const total = nanoOf(sumUsd(PARTS.map((part) => amountOf(balance, part))));
  const filled = PARTS.filter((part) => nanoOf(amountOf(balance, part)) > 0n);
  const label = t.list(
    filled.map((part) => `${t.balance.parts[part]} ${moneyText(amountOf(balance, part))}`),
  );
  return (
    <div
      className="bar"
      role="img"
      aria-label={label === "" ? t.balance.nothing : label}
      {...(thin && { "data-thin": "" })}
    >
      {PARTS.map((part) => {
        const nano = nanoOf(amountOf(balance, part));
        if (nano <= 0n || total === 0n) return null;
        const width = `${Number((nano * 10_000n) / total) / 100}%`;
        return <i key={part} data-part={part} style={{ width }} />;
      })}
    </div>
  );
}

/** The bar with its legend. */
export function BalancePicture({ balance }: { readonly balance: BalanceFigures }) {
  return (
    <>
      <BalanceBar balance={balance} />
      <ul className="legend">
        {PARTS.map((part) => {
          const amount = amountOf(balance, part);
          if (part !== "paid" && nanoOf(amount) === 0n) return null;
          return (
            <li key={part}>
              <i className="dot" data-part={part} />
              {labelOf(balance, part)} <Money usd={amount} />
              {part === "free" && <FreeLots balance={balance} />}
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** The parts of free credit that end at different times, if there are several. */
function FreeLots({ balance: { free_lots: lots } }: { readonly balance: BalanceFigures }) {
  if (lots.length < 2) return null;
  return (
    <span className="dim">
      {lots.map(({ amount_usd: usd, ends_at: end }) => (
        <span key={end}>
          {" · "}
          <Money usd={usd} /> {end !== null && t.balance.lotUntil(shortDay(end))}
        </span>
      ))}
    </span>
  );
}

function labelOf(balance: BalanceFigures, part: Part): string {
  const isOne = balance.free_lots.length < 2;
  if (part !== "free" || balance.free_expires_at === null || !isOne) return t.balance.parts[part];
  return t.balance.freeUntil(shortDay(balance.free_expires_at));
}

/**
 * The most important figure: the amount that can be spent now, the bar below it, and the limit that
 * decides it.
 */
export function Spendable({ balance }: { readonly balance: BalanceFigures }) {
  const { spendable_limit: limit, spendable_budget: budget } = balance;
  return (
    <>
      <p className="small dim">{t.balance.spendable}</p>
      <p className="figure">
        <Money usd={balance.spendable_usd} />
      </p>
      <BalancePicture balance={balance} />
      {limit !== "balance" && <p className="small danger">{t.balance.limits[limit]}</p>}
      {budget !== null && (
        <p className="small dim">
          {t.pair(t.work.spans[budget.span], t.work.limits.left(moneyText(budget.left_usd)))}
          {budget.renews_at !== null && ` · ${t.work.limits.renews(dayTime(budget.renews_at))}`}
        </p>
      )}
    </>
  );
}
