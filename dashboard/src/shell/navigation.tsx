// The navigation: which account is open, its pages, its balance, and the person.

import { Menu, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { overviewQuery } from "../api/queries.ts";
import { BalanceBar } from "../parts/balance-bar.tsx";
import { Brand } from "../parts/mark.tsx";
import { Money } from "../parts/money.tsx";
import { type Account, useMe } from "../session.tsx";
import { t } from "../texts.ts";
import { DOCS_URL, NAVIGATION, PAGE_PATHS, type PageName } from "./pages.ts";
import { PersonMenu } from "./person-menu.tsx";

interface NavigationProps {
  readonly account: Account;
  readonly close?: () => void;
}

export function Navigation({ account, close }: NavigationProps) {
  return (
    <>
      <Link to="/$account/overview" params={{ account: account.id }} className="brand">
        <Brand />
      </Link>
      <AccountSwitcher account={account} />
      <nav aria-label={t.nav.label}>
        {NAVIGATION.map(({ group, pages }) => (
          <div key={group}>
            {t.nav.groups[group] !== "" && <div className="nav-group">{t.nav.groups[group]}</div>}
            <ul className="nav-list">
              {pages.map((page) => (
                <li key={page}>
                  <PageLink page={page} account={account.id} close={close} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="side-foot">
        <SideBalance account={account.id} />
        <OwnMenu account={account.id} />
      </div>
    </>
  );
}

interface PageLinkProps {
  readonly page: PageName | "docs";
  readonly account: string;
  readonly close: (() => void) | undefined;
}

function PageLink({ page, account, close }: PageLinkProps) {
  const name = t.nav.pages[page];
  if (page === "docs") {
    return (
      <a className="nav-link" href={DOCS_URL} target="_blank" rel="noreferrer">
        {name} <span aria-hidden="true">↗</span>
      </a>
    );
  }
  return (
    <Link
      to={PAGE_PATHS[page]}
      params={{ account }}
      className="nav-link"
      activeProps={{ "data-active": "", "aria-current": "page" }}
      activeOptions={{ includeSearch: false }}
      {...(close !== undefined && { onClick: close })}
    >
      {name}
    </Link>
  );
}

function AccountSwitcher({ account }: { readonly account: Account }) {
  const { accounts } = useMe();
  const navigate = useNavigate();
  const open = (id: string) => void navigate({ to: "/$account/overview", params: { account: id } });
  return (
    <Menu width={240} position="bottom-start">
      <Menu.Target>
        <UnstyledButton className="switcher">
          <span title={account.name}>{account.name}</span>
          <span aria-hidden="true">▾</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.nav.accounts}</Menu.Label>
        {accounts.map((one) => (
          <Menu.Item key={one.id} onClick={() => open(one.id)}>
            <div>{one.name}</div>
            <div className="tiny dim">
              {t.nav.surfaces[one.surface]} · {t.nav.roles[one.role]}
            </div>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          onClick={() =>
            void navigate({
              to: "/$account/settings",
              params: { account: account.id },
              search: { new: "account" },
            })
          }
        >
          {t.nav.newAccount}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** The same bar as everywhere, small, so that the balance is on every page. */
function SideBalance({ account }: { readonly account: string }) {
  const { data } = useQuery(overviewQuery(account));
  if (data === undefined) return null;
  return (
    <Link to="/$account/billing" params={{ account }} className="nav-link">
      <span className="tiny">{t.balance.spendable}</span>
      <div className="strong">
        <Money usd={data.balance.spendable_usd} />
      </div>
      <BalanceBar balance={data.balance} thin />
    </Link>
  );
}

function OwnMenu({ account }: { readonly account: string }) {
  const navigate = useNavigate();
  return (
    <PersonMenu>
      <Menu.Item onClick={() => void navigate({ to: "/$account/settings", params: { account } })}>
        {t.nav.you}
      </Menu.Item>
    </PersonMenu>
  );
}
