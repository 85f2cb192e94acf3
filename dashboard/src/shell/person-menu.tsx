// The menu of the person who is signed in.

import { Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import type { ReactNode } from "react";
import { signOut } from "../api/auth.ts";
import { queryClient } from "../api/queries.ts";
import { useMe } from "../session.tsx";
import { t } from "../texts.ts";

interface PersonMenuProps {
  /** Its first items. */
  readonly children: ReactNode;
  /** Leads to the page for signing in. */
  readonly onSignedOut: () => unknown;
}

export function PersonMenu({ children, onSignedOut }: PersonMenuProps) {
  const { person } = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const leave = async () => {
    await signOut();
    queryClient.clear();
    await onSignedOut();
  };
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
