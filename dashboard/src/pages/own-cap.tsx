// Sets the account's own monthly cap, or takes it away.

import { setOwnCap } from "../api/money-changes.ts";
import { outdateAccount } from "../api/queries.ts";
import { say } from "../parts/ask.tsx";
import { AskAmount } from "../parts/ask-amount.tsx";
import { t } from "../texts.ts";

interface OwnCapProps {
  readonly account: string;
  readonly cap: string | null;
  readonly close: () => void;
}

export function OwnCap({ account, cap, close }: OwnCapProps) {
  const words = t.work.limits;
  const set = async (value: string | null) => {
    const { applied } = await setOwnCap(account, value);
    say(applied ? (value === null ? words.capRemoved : words.capSet) : words.capSoon);
    await outdateAccount(account);
  };
  return (
    <AskAmount
      title={cap === null ? words.setCap : words.changeCap}
      about={words.capAbout}
      label={words.capAmount}
      present={cap}
      removal={cap === null ? null : words.removeCap}
      set={set}
      close={close}
    />
  );
}
