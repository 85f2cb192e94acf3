// Sets the account's own monthly cap, or takes it away.

import { Button } from "@mantine/core";
import { setOwnCap } from "../api/money-changes.ts";
import { outdateAccount } from "../api/queries.ts";
import { Ask, Problem, say, useChange } from "../parts/ask.tsx";
import { TextField, useTypedUsd } from "../parts/text-field.tsx";
import { t } from "../texts.ts";

interface OwnCapProps {
  readonly account: string;
  readonly cap: string | null;
  readonly close: () => void;
}

export function OwnCap({ account, cap, close }: OwnCapProps) {
  const amount = useTypedUsd(cap ?? "");
  const set = async (value: string | null) => {
    const { applied } = await setOwnCap(account, value);
    const { capSet, capRemoved, capSoon } = t.work.limits;
    say(applied ? (value === null ? capRemoved : capSet) : capSoon);
    await outdateAccount(account);
  };
  const remove = useChange(async () => {
    await set(null);
    close();
  });
  return (
    <Ask
      opened
      close={close}
      title={cap === null ? t.work.limits.setCap : t.work.limits.changeCap}
      action={t.actions.save}
      run={() => set(amount.value)}
      disabled={amount.value === null}
      calm
    >
      <p className="small">{t.work.limits.capAbout}</p>
      <TextField field={amount} isFirst label={t.work.limits.capAmount} />
      {cap !== null && (
        <Button
          variant="subtle"
          size="xs"
          loading={remove.busy}
          onClick={() => void remove.start()}
        >
          {t.work.limits.removeCap}
        </Button>
      )}
      <Problem error={remove.error} />
    </Ask>
  );
}
