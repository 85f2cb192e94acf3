// The list of keys that `?` shows.

import { Kbd, Modal } from "@mantine/core";
import { Facts } from "../parts/panel.tsx";
import { t } from "../texts.ts";

export function KeyboardList({ opened, close }: { opened: boolean; close: () => void }) {
  return (
    <Modal opened={opened} onClose={close} title={t.keyboard.title} size="sm">
      <Facts rows={t.keyboard.rows.map(([key, what]) => [<Kbd key={key}>{key}</Kbd>, what])} />
    </Modal>
  );
}
