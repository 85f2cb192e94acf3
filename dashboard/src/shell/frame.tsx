// The frame of both apps: the navigation at the side, on a phone behind a button, and the page.

import { Burger, Drawer } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet } from "@tanstack/react-router";
import { type ReactNode, Suspense } from "react";
import { Placeholder } from "../parts/loaded.tsx";
import { t } from "../texts.ts";

interface FrameProps {
  /** The name of the app, above the navigation on a phone. */
  readonly title: string;
  /** Above everything else. */
  readonly bar?: ReactNode;
  /** The mark, which leads to the first page. */
  readonly home: ReactNode;
  /** Below the mark; on a phone a link closes the navigation. */
  readonly side: (close?: () => void) => ReactNode;
  /** Above the page. */
  readonly notice?: ReactNode;
  /** A page begins again where its subject changes. */
  readonly subject?: string;
}

export function Frame({ title, bar, home, side, notice, subject }: FrameProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <a className="skip-link" href="#content">
        {t.nav.skip}
      </a>
      {bar}
      <div className="frame">
        <div className="frame-top">
          {home}
          <Burger size="sm" opened={isOpen} onClick={open} aria-label={t.nav.menu} />
        </div>
        <Drawer opened={isOpen} onClose={close} size={260} title={title}>
          <div className="frame-side drawer-nav">
            {home}
            {side(close)}
          </div>
        </Drawer>
        <aside className="frame-side">
          {home}
          {side()}
        </aside>
        <main className="frame-main" id="content" tabIndex={-1} key={subject}>
          {notice}
          <Suspense fallback={<Placeholder height={220} />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
    </>
  );
}

interface NavigationProps<Name extends string, Group extends string> {
  readonly label: string;
  readonly groups: readonly { readonly group: Group; readonly pages: readonly Name[] }[];
  readonly headings: Readonly<Record<Group, string>>;
  readonly link: (page: Name) => ReactNode;
  /** A last link below a heading, which leads elsewhere. */
  readonly after?: Readonly<Partial<Record<Group, ReactNode>>>;
}

/** The links to the pages of an app, below their headings. */
export function Navigation<Name extends string, Group extends string>({
  label,
  groups,
  headings,
  link,
  after,
}: NavigationProps<Name, Group>) {
  return (
    <nav aria-label={label}>
      {groups.map(({ group, pages }) => (
        <div key={group}>
          {headings[group] !== "" && <div className="nav-group">{headings[group]}</div>}
          <ul className="nav-list">
            {pages.map((page) => (
              <li key={page}>{link(page)}</li>
            ))}
            {after?.[group] !== undefined && <li>{after[group]}</li>}
          </ul>
        </div>
      ))}
    </nav>
  );
}
