// The tab of problems of an account: keys that spend fast, and webhooks that fail.

import { useQuery } from "@tanstack/react-query";
import type { AccountWebhooksReply } from "../../../src/operator/account-webhooks.ts";
import { burnRulesQuery, keysQuery } from "../api/queries.ts";
import { keyNameOf } from "../name-of.ts";
import { Alarms, lastingText, ruleColumns } from "../pages/burn-rates.tsx";
import { DeliveryLog } from "../pages/webhooks/deliveries.tsx";
import { WebhookState } from "../pages/webhooks/webhook-state.tsx";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";
import { useAccountId } from "./account-frame.tsx";
import { accountWebhooksQuery } from "./operator-queries.ts";

export function WatchTab() {
  const id = useAccountId();
  return (
    <div className="panels">
      <Rules account={id} />
      <Panel title={ot.watch.alarms} aside={ot.watch.alarmsAbout}>
        <Alarms account={id} none={ot.watch.noAlarms} />
      </Panel>
      <Webhooks account={id} />
    </div>
  );
}

/** The rules of the account, and the keys that any rule slows or pauses now. */
function Rules({ account }: { readonly account: string }) {
  const query = useQuery(burnRulesQuery(account));
  const keys = useQuery(keysQuery(account));
  const nameOf = (key: string | null) => keyNameOf(keys.data?.keys ?? [], key, t.work.burn.eachKey);
  return (
    <Panel title={t.work.burn.title}>
      <Loaded query={query} height={80}>
        {({ rules, lasting }) => (
          <>
            {lasting.map((alarm) => (
              <p key={alarm.number} className="small strong">
                {lastingText(alarm)}
              </p>
            ))}
            <Table
              columns={ruleColumns(nameOf)}
              rows={rules}
              keyOf={({ number }) => String(number)}
              label={t.work.burn.title}
              none={ot.watch.noRules}
            />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

type WebhookRow = AccountWebhooksReply["webhooks"][number];

const WEBHOOKS: readonly Column<WebhookRow>[] = columnsOf(ot.columns, {
  host: ({ id, host }) => (
    <>
      {host}
      <div className="tiny dim mono">{id}</div>
    </>
  ),
  events: { words: ({ events }) => t.list(events) },
  state: (webhook) => <WebhookState webhook={webhook} />,
  since: "disabled_at",
  delivered: "last_delivered_at",
  waiting: { count: "waiting" },
  failed: { count: "failed" },
});

function Webhooks({ account }: { readonly account: string }) {
  const query = useQuery(accountWebhooksQuery(account));
  const hostOf = (id: string) =>
    query.data?.webhooks.find((webhook) => webhook.id === id)?.host ?? id;
  return (
    <>
      <Panel title={ot.watch.webhooks}>
        <Loaded query={query} height={80}>
          {({ webhooks }) => (
            <Table
              columns={WEBHOOKS}
              rows={webhooks}
              keyOf={({ id }) => id}
              label={ot.watch.webhooks}
              none={ot.watch.noWebhooks}
            />
          )}
        </Loaded>
      </Panel>
      <DeliveryLog account={account} hostOf={hostOf} />
    </>
  );
}
