// An amount of money with all its digits: those beyond four decimals smaller and faint.

import { moneyParts } from "../money.ts";

interface MoneyProps {
  readonly usd: string;
  /** True where a plus is written too: changes of a balance. */
  readonly signed?: boolean;
}

/** Writes an amount exactly; nothing is rounded away. */
export function Money({ usd, signed = false }: MoneyProps) {
  const { sign, plain, fine, after } = moneyParts(usd, signed);
  return (
    <span className="money">
      {sign}
      {plain}
      {fine !== "" && <span className="money-fine">{fine}</span>}
      {after}
    </span>
  );
}
