// The playground: real calls with the hold before and the cost after.

import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { mayAct } from "../../../../src/core/access/roles.ts";
import type { ServicesWith } from "../../../../src/core/access/services.ts";
import { overviewQuery } from "../../api/queries.ts";
import { Spendable } from "../../parts/balance-bar.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Notice, PageHead, Panel } from "../../parts/panel.tsx";
import { choiceAmong, useFields } from "../../search-fields.ts";
import { type Account, useAccount } from "../../session.tsx";
import { t } from "../../texts.ts";
import { PlaygroundMail, PlaygroundMaps, PlaygroundSearch } from "./playground-calls.tsx";
import { PlaygroundChat } from "./playground-chat.tsx";

interface FormProps {
  readonly account: Account;
}

/** The form of each service that has one. */
const FORMS: Readonly<Record<ServicesWith<"hasForm">, ComponentType<FormProps>>> = {
  chat: ({ account }) => <PlaygroundChat key={account.id} account={account} />,
  search: ({ account }) => <PlaygroundSearch account={account.id} />,
  maps: ({ account }) => <PlaygroundMaps account={account.id} />,
  mail: ({ account }) => <PlaygroundMail account={account.id} />,
};
const TABS = Object.keys(FORMS) as (keyof typeof FORMS)[];

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
  const tab = isApplication ? "chat" : choiceAmong(TABS, fields.tab);
  const Form = FORMS[tab];
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
        <Form account={account} />
      </div>
    </Panel>
  );
}
