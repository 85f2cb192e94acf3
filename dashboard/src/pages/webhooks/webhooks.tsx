// Webhooks: added, tested, changed, and the log of their deliveries.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { mayAct } from "../../../../src/core/access/roles.ts";
import { outdateAccount } from "../../api/queries.ts";
import { testWebhook, type Webhook, webhooksQuery } from "../../api/webhooks.ts";
import { Problem, say, useChange } from "../../parts/ask.tsx";
import { type Column, columnsOf } from "../../parts/columns.tsx";
import { Empty, Loaded } from "../../parts/loaded.tsx";
import { PageHead, Panel } from "../../parts/panel.tsx";
import { RowButton } from "../../parts/row-button.tsx";
import { Table } from "../../parts/table.tsx";
import { useAccount } from "../../session.tsx";
import { t } from "../../texts.ts";
import { dayTime } from "../../time.ts";
import { Deliveries } from "./deliveries.tsx";
import { AddWebhook, ChangeWebhook } from "./webhook-dialogs.tsx";
import { WebhookState } from "./webhook-state.tsx";

export function WebhooksPage() {
  const account = useAccount();
  const canChange = mayAct(account.role, "admin");
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHead title={t.nav.pages.webhooks} about={t.webhooks.about}>
        {canChange ? (
          <Button onClick={() => setAdding(true)}>{t.webhooks.add}</Button>
        ) : (
          <span className="small dim">{t.states.forbidden(account.role)}</span>
        )}
      </PageHead>
      {canChange && (
        <div className="panels">
          <WebhookList account={account.id} add={() => setAdding(true)} />
          <Deliveries account={account.id} />
        </div>
      )}
      {isAdding && <AddWebhook account={account.id} close={() => setAdding(false)} />}
    </>
  );
}

interface WebhookListProps {
  readonly account: string;
  readonly add: () => void;
}

function WebhookList({ account, add }: WebhookListProps) {
  const query = useQuery(webhooksQuery(account));
  const [changing, setChanging] = useState<string | null>(null);
  const test = useChange(async (id: string) => {
    await testWebhook(account, id);
    say(t.webhooks.testSent);
    await outdateAccount(account);
  });
  const columns: readonly Column<Webhook>[] = columnsOf(
    t.webhooks.columns,
    {
      url: {
        words: ({ url, description }) => (
          <>
            <code>{url}</code>
            {description !== "" && <div className="tiny dim">{description}</div>}
          </>
        ),
      },
      events: { words: ({ events }) => events.join(", ") },
      state: (webhook) => <WebhookState webhook={webhook} />,
      delivered: ({ last_delivered_at: at }) => (at === null ? t.states.never : dayTime(at)),
    },
    {
      show: ({ id, url, enabled }) => (
        <div className="row" data-end="">
          {enabled && (
            <RowButton of={url} onClick={() => void test.start(id)}>
              {t.webhooks.test}
            </RowButton>
          )}
          <RowButton of={url} onClick={() => setChanging(id)}>
            {t.webhooks.change}
          </RowButton>
        </div>
      ),
    },
  );
  return (
    <Panel>
      <Loaded query={query} height={160}>
        {({ webhooks }) => {
          const chosen = webhooks.find(({ id }) => id === changing);
          return (
            <>
              {webhooks.length === 0 ? (
                <Empty title={t.webhooks.none}>
                  <p className="small dim">{t.webhooks.noneAbout}</p>
                  <Button onClick={add}>{t.webhooks.add}</Button>
                </Empty>
              ) : (
                <Table columns={columns} rows={webhooks} keyOf={({ id }) => id} />
              )}
              {chosen !== undefined && (
                <ChangeWebhook account={account} webhook={chosen} close={() => setChanging(null)} />
              )}
            </>
          );
        }}
      </Loaded>
      <Problem error={test.error} />
    </Panel>
  );
}
