// The statement of a month: both balances, the changes between them, and the charges by model. The
// statement is signed, and made to be printed.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { addMonths, isMonth, monthText } from "../../../../src/core/money/months.ts";
import type { StatementReply } from "../../../../src/readings/signed/signed-statement.ts";
import { serverTime } from "../../api/client.ts";
import { statementQuery } from "../../api/queries.ts";
import { nameOf } from "../../name-of.ts";
import { countText } from "../../numbers.ts";
import { AsOf } from "../../parts/as-of.tsx";
import { columnsOf } from "../../parts/columns.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { PrintedBrand } from "../../parts/mark.tsx";
import { Money } from "../../parts/money.tsx";
import { Facts, PageHead, Panel } from "../../parts/panel.tsx";
import { SignedText } from "../../parts/signed-text.tsx";
import { Table } from "../../parts/table.tsx";
import { useFields } from "../../search-fields.ts";
import { useAccount } from "../../session.tsx";
import { t } from "../../texts.ts";
import { dayTime, month as monthName } from "../../time.ts";

export function StatementPage() {
  const account = useAccount();
  const [fields, change] = useFields();
  const now = monthText(serverTime());
  const { month: asked = now } = fields;
  const month = isMonth(asked) ? asked : now;
  const query = useQuery(statementQuery(account.id, month));
  const go = (count: number) => change({ month: addMonths(month, count) });
  return (
    <>
      <PrintedBrand />
      <PageHead title={t.nav.pages.statement} about={<AsOf value={query.data?.as_of} />}>
        <div className="row">
          <Button variant="default" onClick={() => go(-1)}>
            {t.statement.earlier}
          </Button>
          <Button variant="default" disabled={month >= now} onClick={() => go(1)}>
            {t.statement.later}
          </Button>
          <Button disabled={query.data === undefined} onClick={() => window.print()}>
            {t.statement.print}
          </Button>
        </div>
      </PageHead>
      <Loaded query={query} height={380}>
        {(reply) => <Statement reply={reply} account={account.id} name={account.name} />}
      </Loaded>
    </>
  );
}

interface StatementProps {
  readonly reply: StatementReply;
  readonly account: string;
  readonly name: string;
}

function Statement({ reply, account, name }: StatementProps) {
  const { statement, jws } = reply;
  const { month, from, to, is_over: isOver, calls } = statement;
  return (
    <div className="panels">
      <Panel title={monthName(from)}>
        <Facts
          rows={[
            [t.statement.account, name],
            [t.statement.id, <code key="id">{account}</code>],
            [t.statement.from, dayTime(from)],
            [t.statement.to, dayTime(to)],
            [t.statement.state, isOver ? t.statement.over : t.statement.running],
          ]}
        />
      </Panel>
      <Panel title={t.statement.balances}>
        <Balances statement={statement} />
      </Panel>
      <Panel title={t.statement.charges} aside={t.statement.charged(countText(calls.charged))}>
        <Charges statement={statement} />
      </Panel>
      <Panel title={t.statement.signature}>
        <p className="small">{t.statement.signed}</p>
        <SignedText
          jws={jws}
          reply={reply}
          file={`statement-${month}.json`}
          label={t.statement.signature}
        />
      </Panel>
    </div>
  );
}

type Stated = Pick<StatementProps["reply"], "statement">;

interface BalanceRow {
  readonly id: string;
  readonly what: string;
  readonly count: number | null;
  readonly paid: string;
  readonly free: string;
  readonly isChange: boolean;
}

function Balances({ statement: { opening, entries, closing } }: Stated) {
  const end = (id: "opening" | "closing", { paid_usd: paid, free_usd: free }: typeof opening) => ({
    id,
    what: t.statement[id],
    count: null,
    paid,
    free,
    isChange: false,
  });
  const rows: readonly BalanceRow[] = [
    end("opening", opening),
    ...entries.map(({ kind, count, paid_usd: paid, free_usd: free }) => ({
      id: kind,
      what: nameOf(t.billing.entries, kind),
      count,
      paid,
      free,
      isChange: true,
    })),
    end("closing", closing),
  ];
  const columns = columnsOf<BalanceRow, typeof t.statement.columns>(t.statement.columns, {
    what: "what",
    count: { number: ({ count }) => (count === null ? "" : countText(count)) },
    paid: { number: ({ paid, isChange }) => <Money usd={paid} signed={isChange} /> },
    free: { number: ({ free, isChange }) => <Money usd={free} signed={isChange} /> },
  });
  return (
    <>
      <Table columns={columns} rows={rows} keyOf={({ id }) => id} />
      {closing.owed_usd !== "0" && (
        <p className="small">
          {t.statement.owed}: <Money usd={closing.owed_usd} />
        </p>
      )}
    </>
  );
}

type Charge = Stated["statement"]["charges"][number];

function Charges({ statement: { charges, calls } }: Stated) {
  const columns = columnsOf<Charge, typeof t.statement.chargeColumns>(t.statement.chargeColumns, {
    service: ({ service }) => nameOf(t.services, service),
    model: "model",
    free: "free_usd",
    cost: "cost_usd",
  });
  return (
    <Table
      columns={columns}
      rows={charges}
      keyOf={({ service, model }) => `${service} ${model}`}
      none={t.statement.noCharges}
      total={[
        t.usage.total,
        "",
        <Money key="free" usd={calls.free_usd} />,
        <Money key="cost" usd={calls.cost_usd} />,
      ]}
    />
  );
}
