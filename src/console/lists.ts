// The lists of an account, as its people see them.

import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../http/console/console-endpoint.ts";
import { ACTIVITY } from "../readings/activity.ts";
import { LEDGER } from "../readings/ledger.ts";
import type { Reading } from "../readings/reading.ts";

export interface ListDeps extends ConsoleFrameDeps {
  readonly reading: Reading;
}

type Context = AccountContext<ListDeps>;

const PATH = "/console/api/accounts/{account}";

const activity = accountEndpoint({
  id: "activity",
  path: `${PATH}/activity`,
  role: "owner",
  summary: "Who did what in the account",
  ...ACTIVITY.endpoint("A new key"),
  run: ({ deps, account }: Context, input) =>
    ACTIVITY.page({ database: deps.reading.database, account }, input),
});

const ledger = accountEndpoint({
  id: "listLedger",
  path: `${PATH}/ledger`,
  role: "viewer",
  summary: "List the ledger, newest first",
  ...LEDGER.endpoint("All entries", "kind=all"),
  run: ({ deps, account }: Context, input) =>
    LEDGER.page({ reading: deps.reading, account }, input),
});

export const LISTS = [activity, ledger] as const;
