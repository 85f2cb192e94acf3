// The frame of the operators' pages: the same as the dashboard's, below a dark bar that says that
// this is the operators' console and whose account is open.

import { Burger, Drawer, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useParams } from "@tanstack/react-router";
import { Suspense, useEffect } from "react";
import { SsoButton } from "../entry/sso.tsx";
import { Waiting } from "../parts/loaded.tsx";
import { Brand } from "../parts/mark.tsx";
import { PageHead } from "../parts/panel.tsx";
import { useMe } from "../session.tsx";
import { useOperatorLoss, useSessionEnd } from "../shell/leave.ts";
import { PersonMenu } from "../shell/person-menu.tsx";
import { ot } from "../texts/operator.ts";
import { Go, useGo } from "./go.tsx";
import { NoSuchPage } from "./no-such-page.tsx";
import { accountQuery } from "./operator-queries.ts";
import { FirstFactor, SetUp } from "./set-up.tsx";

type PageName = keyof typeof ot.nav.pages;

const NAVIGATION: readonly {
  readonly group: keyof typeof ot.nav.groups;
  readonly pages: readonly PageName[];
}[] = [
  { group: "top", pages: ["accounts", "trail"] },
  { group: "money", pages: ["revenue", "disputes", "grants"] },
  {
    group: "running",
    pages: ["health", "configurations", "mails", "events", "rejected", "audits"],
  },
];

export function OperatorShell() {
  const { person } = useMe();
  useSessionEnd();
  useOperatorLoss();
  if (person.operator_pages === null) {
    return (
      <main className="entry">
        <NoSuchPage />
      </main>
    );
  }
  if (person.operator_pages === "need_sso") return <NeedsSso />;
  if (person.operator_pages === "need_second_factor") return <NeedsFactor />;
  return <Frame />;
}

function NeedsSso() {
  const { person } = useMe();
  const { pathname, search } = window.location;
  return (
    <div className="operator">
      <Bar />
      <main className="entry">
        <div className="stack">
          <PageHead title={ot.needsSso} about={ot.needsSsoAbout} />
          <SsoButton returnTo={pathname + search} />
          {person.second_factor === "off" && (
            <>
              <p className="small">{ot.setUpBeforeSso}</p>
              <FirstFactor />
            </>
          )}
        </div>
      </main>
    </div>
  );
}

function NeedsFactor() {
  return (
    <div className="operator">
      <Bar />
      <main className="entry">
        <SetUp />
      </main>
    </div>
  );
}

function Frame() {
  const [menu, { open, close }] = useDisclosure(false);
  useSearchKey();
  return (
    <div className="operator">
      <a className="skip-link" href="#content">
        {ot.nav.skip}
      </a>
      <Bar />
      <div className="frame">
        <div className="frame-top">
          <Go to="/" className="brand">
            <Brand />
          </Go>
          <Burger size="sm" opened={menu} onClick={open} aria-label={ot.nav.menu} />
        </div>
        <Drawer opened={menu} onClose={close} size={260} title={ot.operator}>
          <div className="frame-side drawer-nav">
            <Navigation close={close} />
          </div>
        </Drawer>
        <aside className="frame-side">
          <Navigation />
        </aside>
        <main className="frame-main" id="content" tabIndex={-1}>
          <Suspense fallback={<Waiting height={220} />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
    </div>
  );
}

/** `/` leads to the search, except where somebody types. */
function useSearchKey() {
  const go = useGo();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target } = event;
      const isTyping =
        target instanceof HTMLElement && target.closest("input, textarea, [role=dialog]") !== null;
      if (event.key !== "/" || isTyping) return;
      event.preventDefault();
      go("/");
      document.querySelector<HTMLInputElement>("#operator-search")?.focus();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [go]);
}

function Bar() {
  const { person } = useMe();
  const { account } = useParams({ strict: false });
  return (
    <header className="operator-bar">
      <strong>{ot.operator}</strong>
      {account !== undefined && person.operator_pages === "open" && <OpenAccount id={account} />}
      <span className="bar-who bar-end">{person.email}</span>
    </header>
  );
}

function OpenAccount({ id }: { readonly id: string }) {
  const { data } = useQuery(accountQuery(id));
  const name = data?.name ?? data?.email ?? id;
  return (
    <span className="bar-who">
      {ot.ofAccount} <b>{name}</b> <span className="mono tiny">{id}</span>
    </span>
  );
}

function Navigation({ close }: { readonly close?: () => void }) {
  return (
    <>
      <Go to="/" className="brand">
        <Brand />
      </Go>
      <nav aria-label={ot.nav.label}>
        {NAVIGATION.map(({ group, pages }) => (
          <div key={group}>
            {ot.nav.groups[group] !== "" && <div className="nav-group">{ot.nav.groups[group]}</div>}
            <ul className="nav-list">
              {pages.map((page) => (
                <li key={page}>
                  <Go
                    to={page === "accounts" ? "/" : `/${page}`}
                    className="nav-link"
                    exact={page === "accounts"}
                    {...(close !== undefined && { onClick: close })}
                  >
                    {ot.nav.pages[page]}
                  </Go>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="side-foot">
        <PersonMenu>
          <Menu.Item component="a" href="/dashboard">
            {ot.nav.toDashboard}
          </Menu.Item>
        </PersonMenu>
      </div>
    </>
  );
}
