// Deletes a key, after its name was typed: it stops working at once.

import { TextInput } from "@mantine/core";
import { useState } from "react";
import { revokeKey } from "../api/money-changes.ts";
import { outdateAccount } from "../api/queries.ts";
import { Ask } from "../parts/ask.tsx";
import { t } from "../texts.ts";

interface DeleteKeyProps {
  readonly account: string;
  readonly keyRow: { readonly id: string; readonly name: string };
  readonly close: () => void;
}

export function DeleteKey({ account, keyRow: { id, name }, close }: DeleteKeyProps) {
  const [typed, setTyped] = useState("");
  const run = async () => {
    await revokeKey(account, id);
    await outdateAccount(account);
  };
  return (
    <Ask
      opened
      close={close}
      title={t.work.keys.removeTitle(name)}
      action={t.work.keys.remove}
      run={run}
      done={t.work.keys.removed}
      disabled={typed.trim() !== name.trim()}
    >
      <p className="small">{t.work.keys.removeAbout}</p>
      <TextInput
        data-autofocus
        label={t.work.keys.removeType(name)}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </Ask>
  );
}
