// Accounts: found by any id, name or address that a customer gives, newest first.

import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { FoundAccountsReply } from "../../../src/readings/found-accounts.ts";
import { nameOf } from "../name-of.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { Empty } from "../parts/loaded.tsx";
import { PageHead, Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { t } from "../texts.ts";
import { Go } from "./go.tsx";
import { accountsQuery } from "./operator-queries.ts";
import { Paged } from "./paged.tsx";
import { StateTag } from "./state-tag.tsx";

type Found = FoundAccountsReply["accounts"][number];

const COLUMNS: readonly Column<Found>[] = columnsOf(ot.columns, {
  account: ({ id, name, email }) => (
    <>
      <Go to={`/${id}`}>{name ?? email ?? id}</Go>
      <div className="tiny dim">{email}</div>
      <div className="tiny dim mono">{id}</div>
    </>
  ),
  state: ({ state, state_reason: reason, surface }) => (
    <>
      <StateTag state={state} />{" "}
      <span className="tiny dim">{reason !== null && nameOf(ot.reasons, reason)}</span>
      <div className="tiny dim">{t.nav.surfaces[surface]}</div>
    </>
  ),
  since: "created_at",
  paid: "paid_usd",
  free: "free_usd",
  owed: "owed_usd",
});

export function AccountsPage() {
  const [fields, change] = useFields();
  const [text, setText] = useState(fields.text ?? "");
  const query = useQuery({
    ...accountsQuery({ text: fields.text, before: fields.before }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.accounts} />
      <Panel>
        <search>
          <form
            className="row table-foot"
            onSubmit={(event) => {
              event.preventDefault();
              change({ text: text.trim() === "" ? undefined : text.trim(), before: undefined });
            }}
          >
            <TextInput
              id="operator-search"
              label={ot.search}
              description={ot.searchAbout}
              value={text}
              autoComplete="off"
              className="grow"
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button type="submit">{ot.search}</Button>
          </form>
        </search>
        <Paged query={query}>
          {({ accounts }) =>
            accounts.length === 0 ? (
              <Empty title={ot.noAccounts}>
                <p className="small dim">{ot.noAccountsAbout}</p>
              </Empty>
            ) : (
              <Table
                rows={accounts}
                keyOf={({ id }) => id}
                columns={COLUMNS}
                label={ot.nav.pages.accounts}
              />
            )
          }
        </Paged>
      </Panel>
    </>
  );
}
