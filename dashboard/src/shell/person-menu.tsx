// The menu of the person who is signed in.

import { Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import type { ReactNode } from "react";
import { LANGUAGES, type Language } from "../../../src/core/languages.ts";
import { thrownMessage } from "../../../src/core/text/error-message.ts";
import { changeLanguage } from "../api/people.ts";
import { OFFERED, showIn } from "../language.ts";
import { language } from "../locale.ts";
import { say } from "../parts/ask.tsx";
import { useMe } from "../session.tsx";
import { t } from "../texts.ts";
import { leave } from "./leave.ts";

/** The languages that a person can choose; the choice holds for their mails, too. */
function LanguageItems() {
  const choose = async (chosen: Language) => {
    try {
      await changeLanguage(chosen);
    } catch (error) {
      return say(thrownMessage(error));
    }
    showIn(chosen);
  };
  return (
    <>
      <Menu.Label>{t.nav.language}</Menu.Label>
      {OFFERED.map((one) => (
        <Menu.Item
          key={one}
          lang={one}
          onClick={() => void choose(one)}
          rightSection={one === language ? <span aria-hidden="true">✓</span> : null}
        >
          {LANGUAGES[one].name}
        </Menu.Item>
      ))}
    </>
  );
}

interface PersonMenuProps {
  /** The first items of the menu. */
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
        {OFFERED.length > 1 && <LanguageItems />}
        <Menu.Divider />
        <Menu.Item onClick={() => void leave()}>{t.nav.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
