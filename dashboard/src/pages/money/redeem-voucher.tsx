// Redeems a voucher. A link may bring the code; the person still presses the button.

import type { RedeemedVoucherReply } from "../../../../src/console/money/billing-schema.ts";
import { planTitle } from "../../../../src/core/money/plan-terms.ts";
import { redeemVoucher } from "../../api/money-changes.ts";
import { outdateAccount } from "../../api/queries.ts";
import { moneyText } from "../../money.ts";
import { Ask, say } from "../../parts/ask.tsx";
import { TextField, useTyped } from "../../parts/text-field.tsx";
import { t } from "../../texts.ts";
import { day } from "../../time.ts";

interface RedeemVoucherProps {
  readonly account: string;
  /** The code of the link; "" without one. */
  readonly code: string;
  readonly close: () => void;
}

function addedText(reply: RedeemedVoucherReply): string {
  const { amount_usd: usd, free_until: end, plan, plan_until: planEnd } = reply;
  const { redeemed, redeemedFree, redeemedPlan } = t.billing.voucher;
  if (plan !== null && planEnd !== null) return redeemedPlan(planTitle(plan), day(planEnd));
  const credit = moneyText(usd ?? "0");
  return end === null ? redeemed(credit) : redeemedFree(credit, day(end));
}

export function RedeemVoucher({ account, code, close }: RedeemVoucherProps) {
  const typed = useTyped("voucher", code);
  const words = t.billing.voucher;
  const run = async () => {
    const redeemed = await redeemVoucher(account, typed.value ?? "");
    say(redeemed.is_repeated ? words.repeated : addedText(redeemed));
    await outdateAccount(account);
  };
  return (
    <Ask
      opened
      calm
      close={close}
      title={words.title}
      action={words.redeem}
      run={run}
      disabled={typed.value === null}
    >
      <p className="small">{words.about}</p>
      <TextField field={typed} isFirst label={words.code} autoComplete="off" />
    </Ask>
  );
}
