// Redeems a voucher. A link may bring the code; the person still presses the button.

import { redeemVoucher } from "../../api/money-changes.ts";
import { outdateAccount } from "../../api/queries.ts";
import { moneyText } from "../../money.ts";
import { Ask, say } from "../../parts/ask.tsx";
import { TextField, useTyped } from "../../parts/text-field.tsx";
import { t } from "../../texts.ts";

interface RedeemVoucherProps {
  readonly account: string;
  /** The code of the link; "" without one. */
  readonly code: string;
  readonly close: () => void;
}

export function RedeemVoucher({ account, code, close }: RedeemVoucherProps) {
  const typed = useTyped("voucher", code);
  const words = t.billing.voucher;
  const run = async () => {
    const { amount_usd: usd, is_repeated: isRepeated } = await redeemVoucher(
      account,
      typed.value ?? "",
    );
    say(isRepeated ? words.repeated : words.redeemed(moneyText(usd)));
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
