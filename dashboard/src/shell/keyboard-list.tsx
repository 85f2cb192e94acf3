// The list of keys that `?` shows.

import { Kbd, Modal } from "@mantine/core";
import { Facts } from "../parts/panel.tsx";
import { t } from "../texts.ts";
import { PAGE_NAMES, PAGES } from "./pages.ts";

export function KeyboardList({ opened, close }: { opened: boolean; close: () => void }) {
  const { "/": jump, ...others } = t.keyboard.keys;
  const keys = [
    ["/", jump],
    ...PAGE_NAMES.map((name) => [`g ${PAGES[name].letter}`, t.nav.pages[name]]),
    ...Object.entries(others),
  ];
  return (
    <Modal opened={opened} onClose={close} title={t.keyboard.title} size="sm">
      <Facts rows={keys.map(([key, what]) => [<Kbd key={key}>{key}</Kbd>, what])} />
    </Modal>
  );
}
