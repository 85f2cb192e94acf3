// The budgets of an account's end users: the default budgets, the dialog that sets a budget, and
// the spending of a single end user.

import { Button, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { EndUserReply, EndUsersReply } from "../../../src/console/end-users.ts";
import { END_USER_SPANS, type Span } from "../../../src/core/access/budgets.ts";
import { mayAct } from "../../../src/core/access/roles.ts";
import type { LimitsReply } from "../../../src/readings/limits.ts";
import { setEndUserBudget, showEndUser } from "../api/money-changes.ts";
import { endUsersQuery, outdateAccount } from "../api/queries.ts";
import { keyNameOf } from "../name-of.ts";
import { Problem, say, useChange } from "../parts/ask.tsx";
import { AskAmount } from "../parts/ask-amount.tsx";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Form } from "../parts/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import type { Account } from "../session.tsx";
import { t } from "../texts.ts";

type Default = EndUsersReply["budgets"][number];
type Use = EndUserReply["budgets"][number];

interface EndUsersProps {
  readonly limits: LimitsReply;
  readonly account: Account;
}

/** The key in the dialog that stands for all keys. */
const ALL_KEYS = "all";
const SPAN_FIRST: Span = "day";

export function EndUsersPanel({ limits, account }: EndUsersProps) {
  const words = t.work.endUsers;
  const [isAsking, setAsking] = useState(false);
  const query = useQuery(endUsersQuery(account.id));
  const columns: readonly Column<Default>[] = columnsOf(words.columns, {
    key: ({ key }) => keyNameOf(limits.requests.keys, key, words.allKeys),
    span: ({ span }) => t.work.spans[span],
    amount: "amount_usd",
  });
  return (
    <Panel title={words.title}>
      <p className="small">{words.about}</p>
      <Loaded query={query} height={80}>
        {({ budgets, named }) => (
          <>
            <Table
              columns={columns}
              rows={budgets}
              keyOf={({ key, span }) => `${key ?? ALL_KEYS} ${span}`}
              none={words.none}
            />
            {named > 0 && <p className="small">{words.named(named)}</p>}
          </>
        )}
      </Loaded>
      {mayAct(account.role, "owner") && (
        <Button size="xs" variant="default" mt="sm" onClick={() => setAsking(true)}>
          {words.set}
        </Button>
      )}
      {isAsking && <SetBudget limits={limits} account={account} close={() => setAsking(false)} />}
      <Find limits={limits} account={account} />
    </Panel>
  );
}

function SetBudget({ limits, account, close }: EndUsersProps & { readonly close: () => void }) {
  const words = t.work.endUsers;
  const [id, setId] = useState("");
  const [key, setKey] = useState(ALL_KEYS);
  const [span, setSpan] = useState<Span>(SPAN_FIRST);
  const keys = limits.requests.keys.map(({ id: value, name: label }) => ({ value, label }));
  const set = async (usd: string | null) => {
    const { applied } = await setEndUserBudget(account.id, {
      span,
      amount_usd: usd,
      ...(id === "" ? {} : { end_user: id }),
      ...(id !== "" || key === ALL_KEYS ? {} : { key }),
    });
    say(applied ? words.done : words.soon);
    await outdateAccount(account.id);
  };
  return (
    <AskAmount
      title={words.set}
      about={words.setAbout}
      label={words.amount}
      present={null}
      removal={words.remove}
      set={set}
      close={close}
    >
      <TextInput
        label={words.id}
        description={words.idAbout}
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
      />
      {id === "" && (
        <Select
          label={words.columns.key}
          data={[{ value: ALL_KEYS, label: words.allKeys }, ...keys]}
          value={key}
          allowDeselect={false}
          onChange={(value) => setKey(value ?? ALL_KEYS)}
        />
      )}
      <Select
        label={words.columns.span}
        data={END_USER_SPANS.map((one) => ({ value: one, label: t.work.spans[one] }))}
        value={span}
        allowDeselect={false}
        onChange={(value) => setSpan((value ?? SPAN_FIRST) as Span)}
      />
    </AskAmount>
  );
}

/** Shows the budgets of one end user, whom somebody names. */
function Find({ limits, account }: EndUsersProps) {
  const words = t.work.endUsers;
  const [id, setId] = useState("");
  const [found, setFound] = useState<EndUserReply>();
  const find = useChange(async () => setFound(await showEndUser(account.id, id)));
  const columns: readonly Column<Use>[] = columnsOf(words.columns, {
    owner: ({ is_own: isOwn }) => (isOwn ? words.own : words.each),
    key: ({ key }) => keyNameOf(limits.requests.keys, key, words.allKeys),
    span: ({ span }) => t.work.spans[span],
    amount: "amount_usd",
    spent: "spent_usd",
    held: "held_usd",
    left: "left_usd",
    renews: "renews_at",
  });
  return (
    <>
      <Form submit={() => id !== "" && void find.start()}>
        <div className="row filters">
          <TextInput
            w={260}
            aria-label={words.find}
            placeholder={words.find}
            value={id}
            onChange={(event) => setId(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" size="xs" loading={find.busy}>
            {words.show}
          </Button>
        </div>
      </Form>
      <Problem error={find.error} />
      {found !== undefined && (
        <>
          <Table
            columns={columns}
            rows={found.budgets}
            keyOf={({ key, span, is_own: isOwn }) => `${key ?? ALL_KEYS} ${span} ${isOwn}`}
            none={words.noBudget}
          />
          <p className="small">
            <code>{found.id}</code>{" "}
            <Link
              to="/$account/requests"
              params={{ account: account.id }}
              search={{ end_user: found.id }}
            >
              {words.requests}
            </Link>
          </p>
        </>
      )}
    </>
  );
}
