// The runs of an account: the spending of each, its sums by model and step, and its changes.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { RunReply, RunsReply } from "../../../src/console/run-lists.ts";
import { mayAct } from "../../../src/core/access/roles.ts";
import { changeRun } from "../api/money-changes.ts";
import { outdateAccount, runQuery, runsQuery } from "../api/queries.ts";
import { nameOf } from "../name-of.ts";
import { Problem, say, useChange } from "../parts/ask.tsx";
import { AskAmount } from "../parts/ask-amount.tsx";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PagerRow } from "../parts/pager.tsx";
import { Panel } from "../parts/panel.tsx";
import { RowButton } from "../parts/row-button.tsx";
import { Table } from "../parts/table.tsx";
import type { Account } from "../session.tsx";
import { t } from "../texts.ts";

type Run = RunsReply["runs"][number];

export function RunsPanel({ account }: { readonly account: Account }) {
  const words = t.work.runs;
  const [before, setBefore] = useState<string>();
  const [opened, open] = useState<string>();
  const [raised, raise] = useState<Run>();
  const query = useQuery({ ...runsQuery(account.id, { before }), placeholderData: (old) => old });
  const columns: readonly Column<Run>[] = columnsOf(
    words.columns,
    {
      id: "id",
      state: ({ state }) => words.states[state],
      max: "max_usd",
      spent: "spent_usd",
      held: "held_usd",
      left: "left_usd",
      ends: "ends_at",
    },
    {
      show: (run) => (
        <div className="row">
          <RowButton of={run.id} onClick={() => open(run.id)}>
            {words.details}
          </RowButton>
          {mayAct(account.role, "admin") && <Acts run={run} of={account.id} raise={raise} />}
        </div>
      ),
    },
  );
  return (
    <Panel title={words.title}>
      <Loaded query={query} height={80}>
        {({ runs, next }) => (
          <>
            <Table columns={columns} rows={runs} keyOf={({ id }) => id} none={words.none} />
            {(next !== null || before !== undefined) && (
              <PagerRow before={before} next={next} go={setBefore} />
            )}
          </>
        )}
      </Loaded>
      {opened !== undefined && <RunSums account={account.id} id={opened} />}
      {raised !== undefined && (
        <Raise run={raised} account={account.id} close={() => raise(undefined)} />
      )}
    </Panel>
  );
}

interface ActsProps {
  readonly run: Run;
  readonly of: string;
  readonly raise: (run: Run) => void;
}

function Acts({ run, of: account, raise }: ActsProps) {
  const words = t.work.runs;
  const isPaused = run.paused_at !== null;
  const pause = useChange(async () => {
    await changeRun(account, run.id, { paused: !isPaused });
    say(isPaused ? words.resumed : words.paused);
    await outdateAccount(account);
  });
  return (
    <>
      <RowButton of={run.id} onClick={() => void pause.start()}>
        {isPaused ? words.resume : words.pause}
      </RowButton>
      <RowButton of={run.id} onClick={() => raise(run)}>
        {words.raise}
      </RowButton>
      <Problem error={pause.error} />
    </>
  );
}

interface RaiseProps {
  readonly run: Run;
  readonly account: string;
  readonly close: () => void;
}

function Raise({ run, account, close }: RaiseProps) {
  const words = t.work.runs;
  const set = async (usd: string | null) => {
    if (usd === null) return;
    await changeRun(account, run.id, { max_usd: usd });
    say(words.raised);
    await outdateAccount(account);
  };
  return (
    <AskAmount
      title={t.pair(words.raise, run.id)}
      about={words.raiseAbout}
      label={words.amount}
      present={run.max_usd}
      removal={null}
      set={set}
      close={close}
    />
  );
}

interface Sum {
  readonly name: string;
  readonly calls: number;
  readonly cost_usd: string;
}

function RunSums({ account, id }: { readonly account: string; readonly id: string }) {
  const query = useQuery(runQuery(account, id));
  return (
    <Loaded query={query} height={80}>
      {(run) => (
        <>
          <hr className="tear" />
          <Sums title={t.pair(id, t.usage.filters.model)} sums={modelSums(run)} />
          <Sums title={t.pair(id, t.usage.ticket.step)} sums={stepSums(run)} />
          <p className="small">
            <Link to="/$account/requests" params={{ account }} search={{ run: id }}>
              {t.work.runs.requests}
            </Link>
          </p>
        </>
      )}
    </Loaded>
  );
}

function modelSums({ models }: RunReply): readonly Sum[] {
  return models.map(({ service, model, ...sum }) => {
    const title = nameOf(t.services, service);
    return { name: model === null ? title : `${title} ${model}`, ...sum };
  });
}

function stepSums({ steps }: RunReply): readonly Sum[] {
  return steps.map(({ step, ...sum }) => ({ name: step, ...sum }));
}

function Sums({ title, sums }: { readonly title: string; readonly sums: readonly Sum[] }) {
  if (sums.length === 0) return null;
  const titles = { name: title, calls: t.work.runs.calls, cost: t.usage.columns.cost };
  const columns: readonly Column<Sum>[] = columnsOf(titles, {
    name: "name",
    calls: { count: "calls" },
    cost: "cost_usd",
  });
  return <Table columns={columns} rows={sums} keyOf={({ name }) => name} />;
}
