// A ticket over the page, where there is no room for it beside the list.

import { Drawer, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../../texts.ts";

interface TicketDrawerProps {
  readonly opened: boolean;
  readonly close: () => void;
  readonly position: "bottom" | "right";
  readonly size: string | number;
  /** The ticket, which shows the title and the way out. */
  readonly children: ReactNode;
}

export function TicketDrawer({ opened, close, position, size, children }: TicketDrawerProps) {
  return (
    <Drawer
      opened={opened}
      onClose={close}
      position={position}
      size={size}
      title={<VisuallyHidden>{t.usage.ticket.title}</VisuallyHidden>}
      classNames={{ header: "drawer-bare" }}
      withCloseButton={false}
    >
      {children}
    </Drawer>
  );
}
