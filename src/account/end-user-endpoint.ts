// Serves GET /v1/end-user and GET /api/v1/end-user: the budgets of an end user that count calls of
// the key which asks. A header names the end user, because addresses are logged.

import { endUserUses } from "../accounts/end-users.ts";
import { withoutCost } from "../calls/account.ts";
import { END_USER_SPANS } from "../core/access/budgets.ts";
import { EndUser } from "../core/access/end-users.ts";
import { invalidHeader } from "../http/body/checks.ts";
import { END_USER_HEADER, END_USER_PARAMETER, endUserIn } from "../http/body/end-user.ts";
import { type EndpointContext, endpoint } from "../http/endpoint.ts";
import { PlainCost } from "../http/reply-schema.ts";
import { named, nullable, oneOf, Type, text } from "../http/schema.ts";
import { atBothSurfaces, freeSvc } from "./both-surfaces.ts";
import { BUDGET_USE_FIELDS, budgetUseJson } from "./budget-json.ts";
import { accountOf, type RunsDeps } from "./run-endpoint.ts";

const Reply = named("EndUser", {
  object: Type.Literal("end_user"),
  id: text({
    description: "The keyed hash by which webhooks and the CSV of the request log name it",
  }),
  budgets: Type.Array(
    Type.Object({
      is_own: Type.Boolean({ description: "False for a budget that every end user has" }),
      key: nullable(text({ description: "The key whose calls alone it counts" })),
      span: oneOf(END_USER_SPANS, {
        description: "`5h` begins with its first call; `week` on Monday, UTC",
      }),
      ...BUDGET_USE_FIELDS,
    }),
    { description: "The budgets that count calls of this key for the end user" },
  ),
  svc: PlainCost,
});

const EXAMPLE = {
  object: "end_user",
  id: "kPrK_qmxVWaYVA9wwBF6Iu",
  budgets: [
    {
      is_own: false,
      key: null,
      span: "day",
      amount_usd: 0.5,
      spent_usd: 0.12,
      held_usd: 0.03,
      left_usd: 0.35,
      started_at: "2026-11-28T00:00:00.000Z",
      renews_at: "2026-11-29T00:00:00.000Z",
    },
  ],
  svc: { request_id: "req_0351Ki6Po6Ze8c7RSniYDy", cost_usd: 0 },
};

/** Shows an end user of the key's account. */
const endpoints = atBothSurfaces<RunsDeps>("/v1/end-user", (terms) =>
  endpoint({
    id: "getEndUser",
    ...terms,
    method: "GET",
    summary: "Show the budgets of an end user of your application",
    description: `The figures are those of this moment. An end user that no call has named has spent
nothing. Costs nothing and counts as a request.`,
    parameters: [{ ...END_USER_PARAMETER, required: true, description: "The end user" }],
    reply: Reply,
    errors: [],
    examples: [
      {
        summary: "A budget of a day",
        headers: { [END_USER_HEADER]: "customer-4711" },
        reply: EXAMPLE,
      },
    ],
    prepare(_, { request, call, deps }: EndpointContext<RunsDeps>) {
      const id = endUserIn(request.headers);
      if (id === null) throw invalidHeader(END_USER_HEADER, "must name the end user");
      return new EndUser(id, { accountId: call.identity.accountId, secrets: deps.keyPeppers });
    },
    run: ({ deps, call }, asked) =>
      withoutCost(deps.calls, call, {
        service: "account",
        answer: async () => {
          const account = await accountOf({ deps, call });
          return await endUserUses(deps.runs, account, {
            endUser: asked,
            key: call.identity.keyId,
          });
        },
      }),
    answer: ({ call }, asked, uses) => {
      const budgets = uses.map((use) => {
        return { is_own: use.isOwn, key: use.key, ...budgetUseJson(use) };
      });
      const [id] = asked.digests;
      return { json: JSON.stringify({ object: "end_user", id, budgets, svc: freeSvc(call) }) };
    },
  }),
);

export const { gateway: endUser, application: applicationEndUser } = endpoints;
