// The small button of a row or a list item.

import { Button } from "@mantine/core";
import { t } from "../texts.ts";

interface RowButtonProps {
  /** The function of the button, as a verb. */
  readonly children: string;
  /** The row that it is for, which readers of the screen hear after the verb. */
  readonly of?: string;
  readonly onClick: () => void;
}

export function RowButton({ children, of, onClick }: RowButtonProps) {
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={of === undefined ? children : t.pair(children, of)}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}
