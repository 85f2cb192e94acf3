// GET …/trail: what operators did, newest first. The command line shows the same.

import { queryOf } from "../http/console/console-endpoint.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import type { Checked } from "../http/schema.ts";
import type { Accounts } from "../store/accounts/accounts.ts";
import { listActions } from "../store/operators/operator-actions.ts";
import { TRAIL_EXAMPLE, Trail, TrailQuery, type TrailReply } from "./action-schema.ts";
import { type Context, OPERATOR_PATH, pageOf, placeOf, ROWS_PER_PAGE } from "./deps.ts";
import { trailJson } from "./trail-json.ts";

/** No account has this number. */
const NO_ACCOUNT = 0;

const trail = operatorEndpoint({
  id: "listTrail",
  method: "GET",
  path: `${OPERATOR_PATH}/trail`,
  summary: "What operators did, newest first",
  query: queryOf(TrailQuery),
  reply: Trail,
  examples: [{ summary: "A credit", reply: TRAIL_EXAMPLE }],
  run: ({ deps }: Context, input) => trailReply(deps.administration.accounts, input),
});

/** Reads a page of the trail. @throws ApiError that names the field at fault */
export async function trailReply(
  accounts: Accounts,
  { account: id, before }: Checked<typeof TrailQuery>,
): Promise<TrailReply> {
  const account = id == null ? null : ((await accounts.find(id))?.number ?? NO_ACCOUNT);
  const { rows, next } = pageOf(
    await listActions(accounts.deps.database, {
      account,
      before: placeOf(before),
      count: ROWS_PER_PAGE + 1,
    }),
  );
  return { entries: rows.map(trailJson), next };
}

export const TRAIL_ENDPOINTS = [trail] as const;
