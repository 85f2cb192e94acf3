// The dialog that sets an amount, or takes it away.

import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../texts.ts";
import { Ask, Problem, useChange } from "./ask.tsx";
import { TextField, useTypedUsd } from "./text-field.tsx";

interface AskAmountProps {
  readonly title: string;
  readonly about: string;
  /** The name of the field. */
  readonly label: string;
  /** The amount that the field begins with; null for an empty field. */
  readonly present: string | null;
  /** The words of the button that takes the amount away; null for no button. */
  readonly removal: string | null;
  /** Sets an amount; null takes it away. */
  readonly set: (amount: string | null) => Promise<void>;
  readonly close: () => void;
  /** Further fields, above the amount. */
  readonly children?: ReactNode;
}

export function AskAmount(props: AskAmountProps) {
  const { title, about, label, present, removal, set, close, children } = props;
  const amount = useTypedUsd(present ?? "");
  const remove = useChange(async () => {
    await set(null);
    close();
  });
  return (
    <Ask
      opened
      close={close}
      title={title}
      action={t.actions.save}
      run={() => set(amount.value)}
      disabled={amount.value === null}
      calm
    >
      <p className="small">{about}</p>
      {children}
      <TextField field={amount} isFirst label={label} />
      {removal !== null && (
        <Button
          variant="subtle"
          size="xs"
          loading={remove.busy}
          onClick={() => void remove.start()}
        >
          {removal}
        </Button>
      )}
      <Problem error={remove.error} />
    </Ask>
  );
}
