// Accounts whose calls providers refused for their content.

import { useQuery } from "@tanstack/react-query";
import type { ContentRefusalsReply } from "../../../src/readings/content-refusals.ts";
import { type Column, columnsOf } from "../parts/columns.tsx";
import { PageHead, Panel } from "../parts/panel.tsx";
import { Table } from "../parts/table.tsx";
import { useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";
import { Go } from "./go.tsx";
import { refusalsQuery } from "./operator-queries.ts";
import { Paged } from "./paged.tsx";
import { StateTag } from "./state-tag.tsx";

type Refused = ContentRefusalsReply["accounts"][number];

const REFUSED: readonly Column<Refused>[] = columnsOf(ot.columns, {
  account: ({ account, account_name: name }) => <Go to={`/${account}`}>{name ?? account}</Go>,
  state: ({ state }) => <StateTag state={state} />,
  calls: { count: "refusals" },
  at: "last_at",
});

export function RefusalsPage() {
  const [fields] = useFields();
  const query = useQuery({
    ...refusalsQuery({ before: fields.before }),
    placeholderData: (last) => last,
  });
  return (
    <>
      <PageHead title={ot.nav.pages.refusals} about={ot.refusalsAbout} />
      <Panel>
        <Paged query={query}>
          {({ accounts }) => (
            <Table
              rows={accounts}
              keyOf={({ account }) => account}
              columns={REFUSED}
              label={ot.nav.pages.refusals}
            />
          )}
        </Paged>
      </Panel>
    </>
  );
}
