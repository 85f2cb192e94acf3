// Audits: asked for here, run by a worker, with their progress and result.

import { Progress } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { AuditsReply } from "../../../src/readings/audits.ts";
import { countText } from "../numbers.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { PageHead, Panel, Tag } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { AccountLink } from "./account-link.tsx";
import { ActButton } from "./act-dialog.tsx";
import { auditsQuery } from "./operator-queries.ts";
import { Paged } from "./paged.tsx";

type Run = AuditsReply["runs"][number];

const PERCENT = 100;

const COLUMNS: readonly Column<Run>[] = columnsOf(ot.columns, {
  at: "created_at",
  by: "actor",
  account: ({ account }) => (account === null ? ot.allAccounts : <AccountLink account={account} />),
  progress: (run) => <Came run={run} />,
  result: (run) => <Result run={run} />,
});

function Came({ run: { state, done, total } }: { readonly run: Run }) {
  const text = total === null ? ot.auditStates[state] : `${countText(done)} / ${countText(total)}`;
  if (state !== "running" || total === null || total === 0) return text;
  return (
    <>
      {text}
      <Progress value={(done / total) * PERCENT} aria-label={ot.columns.progress} />
    </>
  );
}

function Result({ run: { report, failure } }: { readonly run: Run }) {
  if (failure !== null) return <Tag tone="owed">{failure}</Tag>;
  if (report === null) return "–";
  const findings = [...report.differences, ...report.rejected];
  return (
    <>
      <Tag tone={report.ok ? "paid" : "owed"}>{report.ok ? ot.clean : ot.difference}</Tag>
      <div className="tiny dim">
        {ot.auditOk(
          countText(report.accounts),
          countText(report.entries),
          countText(report.open_holds),
        )}
      </div>
      {findings.map(({ message }) => (
        <div key={message} className="small danger" lang="en">
          {message}
        </div>
      ))}
    </>
  );
}

export function AuditsPage() {
  const [fields] = useFields();
  const query = useQuery(auditsQuery({ before: fields.before }));
  return (
    <>
      <PageHead title={ot.nav.pages.audits} about={ot.auditsAbout}>
        <ActButton name="audit" path="audits" calm />
      </PageHead>
      <Panel>
        <Paged query={query} height={160}>
          {({ runs }) => (
            <Table
              rows={runs}
              keyOf={({ id }) => id}
              columns={COLUMNS}
              label={ot.nav.pages.audits}
            />
          )}
        </Paged>
      </Panel>
    </>
  );
}
