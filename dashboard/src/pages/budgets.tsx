// The budgets of an account and of its keys, and the dialog that sets one or takes it away.

import { Button, Select } from "@mantine/core";
import { useState } from "react";
import { STANDING_SPANS, type StandingSpan } from "../../../src/core/access/budgets.ts";
import { mayAct } from "../../../src/core/access/roles.ts";
import type { LimitsReply } from "../../../src/readings/limits.ts";
import { setBudget } from "../api/money-changes.ts";
import { outdateAccount } from "../api/queries.ts";
import { keyNameOf } from "../name-of.ts";
import { say } from "../parts/ask.tsx";
import { AskAmount } from "../parts/ask-amount.tsx";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import type { Account } from "../session.tsx";
import { t } from "../texts.ts";

type Budget = LimitsReply["budgets"][number];

interface BudgetsProps {
  readonly limits: LimitsReply;
  readonly account: Account;
}

/** The owner in the dialog that stands for the account; any other is the id of a key. */
const ACCOUNT = "account";

export function BudgetsPanel({ limits, account }: BudgetsProps) {
  const [isAsking, setAsking] = useState(false);
  const { budgets, requests } = limits;
  const words = t.work.budgets;
  const columns: readonly Column<Budget>[] = columnsOf(words.columns, {
    owner: ({ key }) => keyNameOf(requests.keys, key, words.account),
    span: ({ span }) => t.work.spans[span],
    amount: "amount_usd",
    spent: "spent_usd",
    held: "held_usd",
    left: "left_usd",
    renews: "renews_at",
  });
  return (
    <Panel title={words.title}>
      <Table
        columns={columns}
        rows={budgets}
        keyOf={({ key, span }) => `${key ?? ACCOUNT} ${span}`}
        none={words.none}
      />
      {mayAct(account.role, "admin") && (
        <Button size="xs" variant="default" mt="sm" onClick={() => setAsking(true)}>
          {words.set}
        </Button>
      )}
      {isAsking && <SetBudget limits={limits} account={account} close={() => setAsking(false)} />}
    </Panel>
  );
}

function SetBudget({ limits, account, close }: BudgetsProps & { readonly close: () => void }) {
  const words = t.work.budgets;
  const keys = limits.requests.keys.map(({ id, name }) => ({ value: id, label: name }));
  const owners = mayAct(account.role, "owner")
    ? [{ value: ACCOUNT, label: words.account }, ...keys]
    : keys;
  const [owner, setOwner] = useState(owners[0]?.value ?? ACCOUNT);
  const [span, setSpan] = useState<StandingSpan>("day");
  const key = owner === ACCOUNT ? null : owner;
  const present = limits.budgets.find((one) => one.key === key && one.span === span);
  const set = async (usd: string | null) => {
    const { applied } = await setBudget(account.id, key, { span, amount_usd: usd });
    say(applied ? words.done : words.soon);
    await outdateAccount(account.id);
  };
  return (
    <AskAmount
      title={words.set}
      about={words.about}
      label={words.amount}
      present={null}
      removal={present === undefined ? null : words.remove}
      set={set}
      close={close}
    >
      <Select
        label={words.columns.owner}
        data={owners}
        value={owner}
        allowDeselect={false}
        onChange={(value) => setOwner(value ?? ACCOUNT)}
      />
      <Select
        label={words.columns.span}
        data={STANDING_SPANS.map((one) => ({ value: one, label: t.work.spans[one] }))}
        value={span}
        allowDeselect={false}
        onChange={(value) => setSpan((value ?? "day") as StandingSpan)}
      />
    </AskAmount>
  );
}
