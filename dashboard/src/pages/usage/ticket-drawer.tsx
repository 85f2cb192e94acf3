// The drawer that shows a ticket over the page if the page has no room for the ticket.

import { Drawer, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../../texts.ts";

interface TicketDrawerProps {
  readonly opened: boolean;
  readonly close: () => void;
  readonly position: "bottom" | "right";
  readonly size: string | number;
  /** The ticket, which has its own title and its own button to close the drawer. */
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
