// The ledger: every change of the balance with the balance after it, newest first, by time.

import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { LedgerReply } from "../../../../src/readings/ledger.ts";
import { ledgerQuery } from "../../api/queries.ts";
import { nameOf } from "../../name-of.ts";
import { AsOf } from "../../parts/as-of.tsx";
import { type Column, columnsOf } from "../../parts/columns.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { PagerRow } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { t } from "../../texts.ts";

const KINDS = ["operations", "all"] as const;
const VOUCHER = /^voucher (.+)$/;

export function Ledger({ account }: { readonly account: string }) {
  const [kind, setKind] = useState<(typeof KINDS)[number]>("operations");
  const [before, setBefore] = useState<string | undefined>(undefined);
  const query = useQuery({
    ...ledgerQuery(account, { kind, before }),
    placeholderData: (last) => last,
  });
  const choose = (next: string) => {
    setKind(next === "all" ? "all" : "operations");
    setBefore(undefined);
  };
  return (
    <Panel title={t.billing.ledger} aside={<AsOf value={query.data?.as_of} />}>
      <SegmentedControl
        size="xs"
        aria-label={t.billing.ledgerKind}
        data={KINDS.map((one) => ({ value: one, label: t.billing.ledgerKinds[one] }))}
        value={kind}
        onChange={choose}
      />
      <Loaded query={query} height={160}>
        {({ entries, next }) => (
          <>
            <Entries entries={entries} account={account} />
            <PagerRow before={before} next={next} go={setBefore} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

type Entry = LedgerReply["entries"][number];

interface EntriesProps {
  readonly entries: readonly Entry[];
  readonly account: string;
}

function Entries({ entries, account }: EntriesProps) {
  const { ledgerColumns: titles } = t.billing;
  const columns: readonly Column<Entry>[] = columnsOf(titles, {
    at: "at",
    what: ({ kind }) => nameOf(t.billing.entries, kind),
    about: (entry) => <About entry={entry} account={account} />,
    amount: { change: "amount_usd" },
    paid: "paid_after_usd",
    free: "free_after_usd",
    owed: "owed_after_usd",
  });
  return (
    <Table
      columns={columns}
      rows={entries}
      keyOf={({ seq, at, kind }) => `${seq} ${at} ${kind}`}
      none={t.billing.noEntries}
    />
  );
}

interface AboutProps {
  readonly entry: Entry;
  readonly account: string;
}

/** The reason of a booking. Reasons of the service are translated, reasons of operators are not. */
function reasonText(reason: string): string {
  const [, batch] = VOUCHER.exec(reason) ?? [];
  return batch === undefined ? nameOf(t.billing.reasons, reason) : t.billing.voucher.reason(batch);
}

function About({ entry, account }: AboutProps) {
  if (entry.request_id !== null) {
    return (
      <Link
        to="/$account/requests"
        params={{ account }}
        search={{ open: entry.request_id }}
        className="mono small"
      >
        {entry.request_id}
      </Link>
    );
  }
  return (
    <span className="small">
      {entry.reason !== null && reasonText(entry.reason)}
      {entry.payment_id !== null && <div className="mono tiny dim">{entry.payment_id}</div>}
    </span>
  );
}
