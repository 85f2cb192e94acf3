// The menu of the person who is signed in.

import { Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import type { ReactNode } from "react";
import { useMe } from "../session.tsx";
import { t } from "../texts.ts";
import { leave } from "./leave.ts";

interface PersonMenuProps {
  /** Its first items. */
  readonly children: ReactNode;
}

export function PersonMenu({ children }: PersonMenuProps) {
  const { person } = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu width={220} position="top-start">
      <Menu.Target>
        <UnstyledButton className="switcher" aria-label={person.email}>
          <span>{person.email}</span>
          <span aria-hidden="true">▴</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {children}
        <Menu.Label>{t.nav.schemeLabel}</Menu.Label>
        {(["light", "dark", "auto"] as const).map((scheme) => (
          <Menu.Item
            key={scheme}
            onClick={() => setColorScheme(scheme)}
            rightSection={scheme === colorScheme ? <span aria-hidden="true">✓</span> : null}
          >
            {t.nav.scheme[scheme]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void leave()}>{t.nav.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
