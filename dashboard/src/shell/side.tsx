// The side of the frame of an account.

import { Menu, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { DOCS_URL } from "../addresses.ts";
import { overviewQuery } from "../api/queries.ts";
import { groupsOf } from "../page-table.ts";
import { BalanceBar } from "../parts/balance-bar.tsx";
import { BrandLinks } from "../parts/mark.tsx";
import { Money } from "../parts/money.tsx";
import { type Account, useMe } from "../session.tsx";
import { t } from "../texts.ts";
import { Navigation } from "./frame.tsx";
import { isPageOf, PAGES, type PageName, pathOf } from "./pages.ts";
import { PersonMenu } from "./person-menu.tsx";

interface SideProps {
  readonly account: Account;
  readonly close: (() => void) | undefined;
}

const GROUPS = groupsOf<PageName, keyof typeof t.nav.groups>(PAGES);

/** The side of the frame: which account is open, its pages, its balance, and the person. */
export function Side({ account, close }: SideProps) {
  return (
    <>
      <AccountSwitcher account={account} />
      <Navigation
        label={t.nav.label}
        groups={GROUPS.map(({ group, pages }) => ({
          group,
          pages: pages.filter((page) => isPageOf(page, account.surface)),
        }))}
        headings={t.nav.groups}
        after={{ build: <DocsLink /> }}
        link={(page) => (
          <Link
            to={pathOf(page)}
            params={{ account: account.id }}
            className="nav-link"
            activeProps={{ "data-active": "", "aria-current": "page" }}
            activeOptions={{ includeSearch: false }}
            onClick={close}
          >
            {t.nav.pages[page]}
          </Link>
        )}
      />
      <div className="side-foot">
        <SideBalance account={account.id} />
        <OwnMenu account={account.id} />
        <BrandLinks />
      </div>
    </>
  );
}

function DocsLink() {
  return (
    <a className="nav-link" href={DOCS_URL} target="_blank" rel="noreferrer">
      {t.nav.docs} <span aria-hidden="true">↗</span>
    </a>
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
