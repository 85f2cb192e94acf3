// The playground: real calls with their price before (what is held) and after (what it cost).

import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { mayAct } from "../../../../src/core/access/roles.ts";
import { overviewQuery } from "../../api/queries.ts";
import { Spendable } from "../../parts/balance-bar.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Notice, PageHead, Panel } from "../../parts/panel.tsx";
import { oneOf, useFields } from "../../search-fields.ts";
import { type Account, useAccount } from "../../session.tsx";
import { t } from "../../texts.ts";
import { PlaygroundMail, PlaygroundMaps, PlaygroundSearch } from "./playground-calls.tsx";
import { PlaygroundChat } from "./playground-chat.tsx";

const TABS = ["chat", "search", "maps", "mail"] as const;

export function PlaygroundPage() {
  const account = useAccount();
  const overview = useQuery(overviewQuery(account.id));
  return (
    <>
      <PageHead title={t.nav.pages.playground} about={t.playground.about} />
      {!mayAct(account.role, "billing") ? (
        <Notice>{t.playground.forbidden(account.role)}</Notice>
      ) : (
        <div className="split">
          <Calls account={account} />
          <Panel>
            <Loaded query={overview} height={100}>
              {({ balance }) => <Spendable balance={balance} />}
            </Loaded>
          </Panel>
        </div>
      )}
    </>
  );
}

function Calls({ account }: { readonly account: Account }) {
  const [fields, change] = useFields();
  const isApplication = account.surface === "application";
  const tab = isApplication ? "chat" : oneOf(TABS, fields.tab);
  return (
    <Panel>
      <div className="stack">
        {!isApplication && (
          <div>
            <SegmentedControl
              size="xs"
              aria-label={t.playground.service}
              data={TABS.map((one) => ({ value: one, label: t.services[one] }))}
              value={tab}
              onChange={(next) => change({ tab: next })}
            />
          </div>
        )}
        {tab === "chat" && <PlaygroundChat key={account.id} account={account} />}
        {tab === "search" && <PlaygroundSearch account={account.id} />}
        {tab === "maps" && <PlaygroundMaps account={account.id} />}
        {tab === "mail" && <PlaygroundMail account={account.id} />}
      </div>
    </Panel>
  );
}
