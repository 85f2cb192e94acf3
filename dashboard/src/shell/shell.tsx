// The frame of every page of an account.

import { Burger, Drawer } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, Navigate, Outlet, useParams, useRouterState } from "@tanstack/react-router";
import { Suspense, useEffect, useRef } from "react";
import { Waiting } from "../parts/loaded.tsx";
import { Brand } from "../parts/mark.tsx";
import { useAccount, useMe } from "../session.tsx";
import { t } from "../texts.ts";
import { AccountState } from "./account-state.tsx";
import { Jump } from "./jump.tsx";
import { KeyboardList } from "./keyboard-list.tsx";
import { useAccountLoss, useSessionEnd } from "./leave.ts";
import { Navigation } from "./navigation.tsx";
import { useShortcuts } from "./shortcuts.ts";

/** The frame, unless the account was lost while its page was open. */
export function Shell() {
  const { accounts } = useMe();
  const { account } = useParams({ strict: false });
  if (accounts.every(({ id }) => id !== account)) return <Navigate to="/" replace />;
  return <Frame />;
}

function Frame() {
  const account = useAccount();
  const [menu, { open, close }] = useDisclosure(false);
  const { shown, hide } = useShortcuts(account.id);
  const main = useTitle();
  useSessionEnd();
  useAccountLoss();
  return (
    <div className="frame">
      <a className="skip-link" href="#content">
        {t.nav.skip}
      </a>
      <div className="frame-top">
        <Link to="/$account/overview" params={{ account: account.id }} className="brand">
          <Brand />
        </Link>
        <Burger size="sm" opened={menu} onClick={open} aria-label={t.nav.menu} />
      </div>
      <Drawer opened={menu} onClose={close} size={260} title={t.product}>
        <div className="frame-side drawer-nav">
          <Navigation account={account} close={close} />
        </div>
      </Drawer>
      <aside className="frame-side">
        <Navigation account={account} />
      </aside>
      <main className="frame-main" id="content" tabIndex={-1} ref={main} key={account.id}>
        <AccountState account={account.id} />
        <Suspense fallback={<Waiting height={220} />}>
          <Outlet />
        </Suspense>
      </main>
      <Jump opened={shown === "jump"} close={hide} account={account.id} />
      <KeyboardList opened={shown === "keyboard"} close={hide} />
    </div>
  );
}

/** Names the window after the page that is open. */
function useTitle() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    const name = path.split("/").at(-1) ?? "";
    const pages: Readonly<Record<string, string>> = t.nav.pages;
    document.title = pages[name] === undefined ? t.product : `${pages[name]} · ${t.product}`;
  }, [path]);
  return main;
}
