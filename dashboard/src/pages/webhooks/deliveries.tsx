// The log of deliveries: the events for the webhooks of an account, and the answers of these.

import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { DeliveriesReply } from "../../../../src/console/webhook-lists.ts";
import { outdateAccount } from "../../api/queries.ts";
import { deliveriesQuery, replayDelivery, webhooksQuery } from "../../api/webhooks.ts";
import { Problem, say, useChange } from "../../parts/ask.tsx";
import { type Column, columnsOf } from "../../parts/columns.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { PagerRow } from "../../parts/pager.tsx";
import { Panel, Tag, type Tone } from "../../parts/panel.tsx";
import { RowButton } from "../../parts/row-button.tsx";
import { Table } from "../../parts/table.tsx";
import { choiceAmong, useFields } from "../../search-fields.ts";
import { t } from "../../texts.ts";
import { dayTime } from "../../time.ts";

type Delivery = DeliveriesReply["deliveries"][number];

const STATUSES = ["all", "waiting", "delivered", "failed"] as const;
const TONES: Readonly<Record<Delivery["status"], Tone>> = {
  waiting: "held",
  delivered: "paid",
  failed: "owed",
};

/** The log of an account's own people, who send events again. */
export function Deliveries({ account }: { readonly account: string }) {
  const webhooks = useQuery(webhooksQuery(account));
  const again = useChange(async (delivery: number) => {
    await replayDelivery(account, delivery);
    say(t.webhooks.sentAgain);
    await outdateAccount(account);
  });
  const hostOf = (id: string) => {
    const url = webhooks.data?.webhooks.find((one) => one.id === id)?.url;
    return url === undefined ? id : new URL(url).host;
  };
  return (
    <DeliveryLog account={account} hostOf={hostOf} again={(delivery) => void again.start(delivery)}>
      <Problem error={again.error} />
    </DeliveryLog>
  );
}

interface DeliveryLogProps {
  readonly account: string;
  /** The host of a webhook by its id. */
  readonly hostOf: (webhook: string) => string;
  /** Sends an event again. Without it the log has no button, as for operators. */
  readonly again?: (delivery: number) => void;
  readonly children?: ReactNode;
}

export function DeliveryLog({ account, hostOf, again, children }: DeliveryLogProps) {
  const [fields, change] = useFields();
  const status = choiceAmong(STATUSES, fields.status);
  const { before } = fields;
  const query = useQuery({
    ...deliveriesQuery(account, { before, status: status === "all" ? undefined : status }),
    placeholderData: (last) => last,
  });
  const columns = columnsFor(hostOf, again);
  return (
    <Panel title={t.webhooks.log} aside={t.webhooks.logAbout}>
      <SegmentedControl
        size="xs"
        mb="sm"
        aria-label={t.webhooks.statusLabel}
        data={STATUSES.map((one) => ({ value: one, label: t.webhooks.status[one] }))}
        value={status}
        onChange={(chosen) => change({ status: chosen, before: undefined })}
      />
      {children}
      <Loaded query={query} height={200}>
        {({ deliveries, next }) => (
          <>
            <Table
              columns={columns}
              rows={deliveries}
              keyOf={({ number }) => String(number)}
              none={t.webhooks.logNone}
            />
            <PagerRow before={before} next={next} go={(place) => change({ before: place })} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function columnsFor(
  hostOf: (webhook: string) => string,
  again: ((delivery: number) => void) | undefined,
): readonly Column<Delivery>[] {
  return columnsOf(
    t.webhooks.logColumns,
    {
      at: "created_at",
      event: {
        words: ({ type, event }) => (
          <>
            {type}
            <div className="tiny dim mono">{event}</div>
          </>
        ),
      },
      to: { words: ({ webhook }) => hostOf(webhook) },
      status: ({ status, next_attempt_at: next }) => (
        <>
          <Tag tone={TONES[status]}>{t.webhooks.status[status]}</Tag>
          {next !== null && <div className="tiny dim">{t.webhooks.next(dayTime(next))}</div>}
        </>
      ),
      attempts: { count: "attempts" },
      answer: { words: (delivery) => <Answer delivery={delivery} /> },
    },
    again && {
      show: ({ number, status, attempts, event }) =>
        // A delivery without an attempt is on its way.
        (status !== "waiting" || attempts > 0) && (
          <RowButton of={event} onClick={() => again(number)}>
            {t.webhooks.again}
          </RowButton>
        ),
    },
  );
}

function Answer({ delivery }: { readonly delivery: Delivery }) {
  const { http_status: status, duration_ms: duration, error } = delivery;
  if (duration === null) return <span className="dim">–</span>;
  return (
    <>
      <span className="nowrap">
        {status ?? t.webhooks.noAnswer} · {t.webhooks.milliseconds(duration)}
      </span>
      {error !== null && <div className="tiny dim">{error}</div>}
    </>
  );
}
