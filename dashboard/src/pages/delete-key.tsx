// Deletes a key, after its name was typed: it stops working at once.

import { revokeKey } from "../api/money-changes.ts";
import { outdateAccount } from "../api/queries.ts";
import { newKeys } from "../new-keys.ts";
import { Ask, say } from "../parts/ask.tsx";
import { TextField, useConfirmation } from "../parts/text-field.tsx";
import { t } from "../texts.ts";

interface DeleteKeyProps {
  readonly account: string;
  readonly keyRow: { readonly id: string; readonly name: string };
  readonly close: () => void;
}

export function DeleteKey({ account, keyRow: { id, name }, close }: DeleteKeyProps) {
  const typed = useConfirmation(name);
  const run = async () => {
    const { applied } = await revokeKey(account, id);
    if (newKeys.get(account)?.id === id) newKeys.delete(account);
    say(applied ? t.work.keys.removed : t.work.keys.removedSoon);
    await outdateAccount(account);
  };
  return (
    <Ask
      opened
      close={close}
      title={t.work.keys.removeTitle(name)}
      action={t.work.keys.remove}
      run={run}
      disabled={typed.value === null}
    >
      <p className="small">{t.work.keys.removeAbout}</p>
      <TextField field={typed} isFirst label={t.fields.typeToConfirm(name)} autoComplete="off" />
    </Ask>
  );
}
