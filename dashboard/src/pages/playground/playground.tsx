// The playground: real calls with the hold before and the cost after.

import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { mayAct } from "../../../../src/core/access/roles.ts";
import type { ServicesWith } from "../../../../src/core/access/services.ts";
import type { Capped } from "../../api/playground.ts";
import { overviewQuery } from "../../api/queries.ts";
import { isZero } from "../../money.ts";
import { Spendable } from "../../parts/balance-bar.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Notice, PageHead, Panel } from "../../parts/panel.tsx";
import { TextField, useTypedUsd } from "../../parts/text-field.tsx";
import { choiceAmong, useFields } from "../../search-fields.ts";
import { type Account, useAccount } from "../../session.tsx";
import { t } from "../../texts.ts";
import { PlaygroundMail, PlaygroundMaps, PlaygroundSearch } from "./playground-calls.tsx";
import { PlaygroundChat } from "./playground-chat.tsx";

interface FormProps {
  readonly account: Account;
  readonly capped: Capped;
}

/** The form of each service that has one. */
const FORMS: Readonly<Record<ServicesWith<"hasForm">, ComponentType<FormProps>>> = {
  chat: ({ account, capped }) => (
    <PlaygroundChat key={account.id} account={account} capped={capped} />
  ),
  search: ({ account, capped }) => <PlaygroundSearch account={account.id} capped={capped} />,
  maps: ({ account, capped }) => <PlaygroundMaps account={account.id} capped={capped} />,
  mail: ({ account, capped }) => <PlaygroundMail account={account.id} capped={capped} />,
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
  const cap = useTypedUsd("", (usd) => (isZero(usd) ? t.fields.wrongAmount : null));
  const capped: Capped = (call) => {
    if (call === null || cap.problem !== null) return null;
    return cap.value === null ? call : { ...call, max_cost_usd: cap.value };
  };
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
        <TextField field={cap} label={t.playground.cap} about={t.playground.capAbout} />
        <Form account={account} capped={capped} />
      </div>
    </Panel>
  );
}
