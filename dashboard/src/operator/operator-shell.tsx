// The frame of the operators' pages: the same as the dashboard's, below a dark bar that says that
// this is the operators' console and whose account is open.

import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { SsoButton } from "../entry/sso.tsx";
import { groupsOf } from "../page-table.ts";
import { Brand } from "../parts/mark.tsx";
import { PageHead } from "../parts/panel.tsx";
import { useMe } from "../session.tsx";
import { Frame, Navigation } from "../shell/frame.tsx";
import { useKeys } from "../shell/keys.ts";
import { useOperatorLoss, useSessionEnd } from "../shell/leave.ts";
import { PersonMenu } from "../shell/person-menu.tsx";
import { ot } from "../texts/operator.ts";
import { Go, useGo } from "./go.tsx";
import { NoSuchPage } from "./no-such-page.tsx";
import { OPERATOR_PAGES, type OperatorPageName, operatorPath } from "./operator-pages.ts";
import { accountQuery } from "./operator-queries.ts";
import { FirstFactor, SetUp } from "./set-up.tsx";

const GROUPS = groupsOf<OperatorPageName, keyof typeof ot.nav.groups>(OPERATOR_PAGES);

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
  return <OperatorFrame />;
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

function OperatorFrame() {
  useSearchKey();
  return (
    <div className="operator">
      <Frame
        title={ot.operator}
        bar={<Bar />}
        home={
          <Go to="/" className="brand">
            <Brand />
          </Go>
        }
        side={(close) => <Side close={close} />}
      />
    </div>
  );
}

/** `/` leads to the search. */
function useSearchKey() {
  const go = useGo();
  const search = () => {
    go("/");
    document.querySelector<HTMLInputElement>("#operator-search")?.focus();
  };
  useKeys({ keys: { "/": search } });
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

function Side({ close }: { readonly close: (() => void) | undefined }) {
  return (
    <>
      <Navigation
        label={ot.operator}
        groups={GROUPS}
        headings={ot.nav.groups}
        link={(page) => (
          <Go
            to={operatorPath(page)}
            className="nav-link"
            exact={page === "accounts"}
            onClick={close}
          >
            {ot.nav.pages[page]}
          </Go>
        )}
      />
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
