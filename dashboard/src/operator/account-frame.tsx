// One account: its name, its state, and the tabs of its records.

import { useQuery } from "@tanstack/react-query";
import { Outlet, useParams } from "@tanstack/react-router";
import { AsOf } from "../parts/as-of.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PageHead } from "../parts/panel.tsx";
import { ot } from "../texts/operator.ts";
import { Go } from "./go.tsx";
import { ACCOUNT_TAB_NAMES } from "./operator-pages.ts";
import { accountQuery } from "./operator-queries.ts";
import { StateTag } from "./state-tag.tsx";

/** The id of the account that the address names. */
export function useAccountId(): string {
  const { account } = useParams({ strict: false });
  if (account === undefined) throw new Error("The address names no account");
  return account;
}

export function AccountFrame() {
  const id = useAccountId();
  const query = useQuery(accountQuery(id));
  return (
    <Loaded query={query} height={260}>
      {(account) => (
        <>
          <PageHead
            title={account.name ?? account.email ?? account.id}
            about={<AsOf value={account.overview.as_of} />}
          >
            <StateTag state={account.overview.account.state} />
          </PageHead>
          <nav className="tabs" aria-label={ot.account}>
            {ACCOUNT_TAB_NAMES.map((tab) => (
              <Go
                key={tab}
                to={tab === "overview" ? `/${id}` : `/${id}/${tab}`}
                className="nav-link"
                exact={tab === "overview"}
              >
                {ot.tabs[tab]}
              </Go>
            ))}
          </nav>
          <Outlet />
        </>
      )}
    </Loaded>
  );
}
