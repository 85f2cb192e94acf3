// The ledger: every change of the balance with what it left, newest first, by time.

import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { LedgerReply } from "../../../../src/readings/ledger.ts";
import { ledgerQuery } from "../../api/queries.ts";
import { AsOf } from "../../parts/as-of.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { nameOf, t } from "../../texts.ts";
import { dayTime } from "../../time.ts";

const KINDS = ["operations", "all"] as const;

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
            {entries.length === 0 ? (
              <p className="small dim table-foot">{t.billing.noEntries}</p>
            ) : (
              <Entries entries={entries} account={account} />
            )}
            <div className="row table-foot" data-end="">
              <Pager before={before} next={next} go={setBefore} />
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

interface EntriesProps {
  readonly entries: LedgerReply["entries"];
  readonly account: string;
}

function Entries({ entries, account }: EntriesProps) {
  const { ledgerColumns: columns } = t.billing;
  return (
    <Table
      columns={[
        columns.at,
        columns.what,
        columns.about,
        { number: columns.amount },
        { number: columns.paid },
        { number: columns.free },
        { number: columns.owed },
      ]}
    >
      {entries.map((entry) => (
        <tr key={`${entry.seq} ${entry.at} ${entry.kind}`}>
          <td className="nowrap tabular">{dayTime(entry.at)}</td>
          <td>{nameOf(t.billing.entries, entry.kind)}</td>
          <td className="small">
            <About entry={entry} account={account} />
          </td>
          <td className="num">
            <Money usd={entry.amount_usd} signed />
          </td>
          <td className="num">
            <Money usd={entry.paid_after_usd} />
          </td>
          <td className="num">
            <Money usd={entry.free_after_usd} />
          </td>
          <td className="num">
            <Money usd={entry.owed_after_usd} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

interface AboutProps {
  readonly entry: LedgerReply["entries"][number];
  readonly account: string;
}

function About({ entry, account }: AboutProps) {
  if (entry.request_id !== null) {
    return (
      <Link
        to="/$account/requests"
        params={{ account }}
        search={{ open: entry.request_id }}
        className="mono"
      >
        {entry.request_id}
      </Link>
    );
  }
  return (
    <>
      {entry.reason}
      {entry.payment_id !== null && <div className="mono tiny dim">{entry.payment_id}</div>}
    </>
  );
}
