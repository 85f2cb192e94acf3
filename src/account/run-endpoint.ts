// Serves /v1/runs/{id} and /api/v1/runs/{id}: shows a run of the key's account, and changes it.

import { type ChangedRun, changeOwnRun, type RunDeps, readRunDetails } from "../accounts/runs.ts";
import { withoutCost } from "../calls/account.ts";
import { RUN_NAME, RUN_NAME_RULE, RUN_SECONDS, RUN_STATES } from "../core/access/runs.ts";
import { serviceOfScope } from "../core/access/services.ts";
import { AdministrationError, ApiError } from "../core/errors.ts";
import { type NanoUsd, nano, toJsonNumber, WRITTEN_USD, writtenUsd } from "../core/money/money.ts";
import { invalid } from "../http/body/checks.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { type EndpointContext, endpoint } from "../http/endpoint.ts";
import type { ParameterInfo } from "../http/endpoint-info.ts";
import type { FrameDeps } from "../http/frame.ts";
import { PlainCost } from "../http/reply-schema.ts";
import {
  type Checked,
  named,
  nullable,
  oneOf,
  Type,
  text,
  usdAmount,
  whole,
  wholeCount,
} from "../http/schema.ts";
import { accountNumber } from "../store/accounts/account-number.ts";
import { RUN_SUMS_MAX, type RunSum } from "../store/usage/run-sums.ts";
import { atBothSurfaces, freeSvc } from "./both-surfaces.ts";
import { time } from "./budget-json.ts";

export interface RunsDeps extends FrameDeps {
  readonly runs: RunDeps;
}

type RunsContext = EndpointContext<RunsDeps>;

const PATH = "/v1/runs/{id}";
const BODY_BYTES_MAX = 1_024;

const SUMS = {
  calls: wholeCount("Calls that were admitted"),
  refused: wholeCount("Calls that were refused"),
  cost_usd: usdAmount("What they were charged"),
};

const Run = named("Run", {
  id: text({ description: "The name that its caller chose" }),
  object: Type.Literal("run"),
  state: oneOf(RUN_STATES, { description: "Only an active run takes calls" }),
  max_usd: usdAmount("What its calls may cost together"),
  spent_usd: usdAmount("What they were charged"),
  held_usd: usdAmount("What calls under way have reserved"),
  left_usd: usdAmount("What is left"),
  created_at: time("When its first call began it"),
  ends_at: time("From when on it takes no calls"),
  paused_at: nullable(time("When it was paused; null while it is not")),
  services: Type.Array(Type.Object({ service: text(), ...SUMS })),
  models: Type.Array(
    Type.Object({
      service: text(),
      model: nullable(text({ description: "A model, or an action of maps" })),
      ...SUMS,
    }),
  ),
  steps: Type.Array(Type.Object({ step: text(), ...SUMS })),
  svc: PlainCost,
});

const EXAMPLE = {
  id: "nightly-7",
  object: "run",
  state: "active",
  max_usd: 2,
  spent_usd: 0.75,
  held_usd: 0.05,
  left_usd: 1.2,
  created_at: "2026-11-22T14:03:20.118Z",
  ends_at: "2026-11-22T15:03:20.118Z",
  paused_at: null,
  services: [
    { service: "chat", calls: 41, refused: 0, cost_usd: 0.7 },
    { service: "search", calls: 10, refused: 0, cost_usd: 0.05 },
  ],
  models: [
    { service: "chat", model: "fast", calls: 41, refused: 0, cost_usd: 0.7 },
    { service: "search", model: null, calls: 10, refused: 0, cost_usd: 0.05 },
  ],
  steps: [{ step: "plan", calls: 12, refused: 0, cost_usd: 0.3 }],
  svc: { request_id: "req_0351Ki6Po6Ze8c7RSniYDy", cost_usd: 0 },
};

const PARAMETERS: readonly ParameterInfo[] = [
  {
    name: "id",
    in: "path",
    required: true,
    description: "The id of the run, as its calls name it in `x-svc-run`",
    schema: text({ pattern: RUN_NAME.source, must: RUN_NAME_RULE, examples: ["nightly-7"] }),
  },
];

const ANY_KEY = `Any key of the account may ask. Costs nothing and counts as a request.`;

/** Shows a run of the key's account. */
const shown = atBothSurfaces<RunsDeps>(PATH, (terms) =>
  endpoint({
    id: "getRun",
    ...terms,
    method: "GET",
    summary: "Show a run: its budget, and what its calls cost",
    description: `\`spent_usd\`, \`held_usd\` and \`left_usd\` are those of this moment. The sums by
service, model and step come from the request log, some seconds later; of each the ${RUN_SUMS_MAX}
with the highest cost. ${ANY_KEY}`,
    parameters: PARAMETERS,
    reply: Run,
    errors: ["run_not_found"],
    examples: [{ summary: "A run of two services", params: { id: "nightly-7" }, reply: EXAMPLE }],
    prepare: () => null,
    run: (context: RunsContext) =>
      withoutCost(context.deps.calls, context.call, {
        service: "account",
        answer: async () => await runJson(await accountOf(context), context),
      }),
    answer: (_, __, reply) => ({ json: JSON.stringify(reply) }),
  }),
);

export const { gateway: run, application: applicationRun } = shown;

const Change = Type.Object(
  {
    paused: Type.Optional(
      Type.Boolean({ description: "True pauses the run: it refuses calls until it is resumed" }),
    ),
    max_usd: Type.Optional(
      text({
        pattern: WRITTEN_USD,
        must: 'must be an amount of USD as text, such as "5.00"',
        description: "What its calls may cost together, what they have cost included",
        examples: ["5.00"],
      }),
    ),
    ttl: Type.Optional(
      whole(RUN_SECONDS.min, RUN_SECONDS.max, {
        description: "Seconds from now until it ends; a run that has ended goes on",
      }),
    ),
  },
  { additionalProperties: false },
);
type Fields = Checked<typeof Change>;

/** Changes a run of the key's account. */
const updated = atBothSurfaces<RunsDeps>(PATH, (terms) =>
  endpoint({
    id: "updateRun",
    ...terms,
    method: "POST",
    summary: "Pause or resume a run, or give it another amount or more time",
    description: `What is missing stays as it is. The next call of every key counts by it; calls
under way go on. A call that the run refused can then be sent again. ${ANY_KEY}`,
    parameters: PARAMETERS,
    body: jsonBody(Change, { bytesMax: BODY_BYTES_MAX }),
    reply: Run,
    errors: ["run_not_found", "too_many_budgets"],
    examples: [
      {
        summary: "Raise a run",
        params: { id: "nightly-7" },
        body: { max_usd: "5.00" },
        reply: { ...EXAMPLE, max_usd: 5, left_usd: 4.2 },
      },
      {
        summary: "Pause it",
        params: { id: "nightly-7" },
        body: { paused: true },
        reply: { ...EXAMPLE, state: "paused", paused_at: "2026-11-22T14:30:00.000Z" },
      },
    ],
    prepare({ paused: isPaused, max_usd: max, ttl: seconds }: Fields): ChangedRun["change"] {
      if (isPaused === undefined && max === undefined && seconds === undefined) {
        throw invalid("body", "must have paused, max_usd or ttl");
      }
      return { isPaused, amount: max === undefined ? undefined : amountOf(max), seconds };
    },
    run: (context: RunsContext, change) =>
      withoutCost(context.deps.calls, context.call, {
        service: "account",
        answer: async () => {
          const account = await accountOf(context);
          const id = context.params.id ?? "";
          await changed(changeOwnRun(context.deps.runs, account, { run: id, change }));
          return await runJson(account, context);
        },
      }),
    answer: (_, __, reply) => ({ json: JSON.stringify(reply) }),
  }),
);

export const { gateway: updateRun, application: updateApplicationRun } = updated;

function amountOf(text: string): NanoUsd {
  return writtenUsd(text, (rule) => {
    throw invalid("max_usd", rule);
  });
}

async function changed(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof AdministrationError)) throw error;
    if (error.code === "not_found") throw noRun();
    if (error.code === "wrong_state") throw new ApiError("too_many_budgets", error.message);
    throw new ApiError("account_inactive", error.message);
  }
}

/** The account of the key that asks. */
export async function accountOf({ deps, call }: Pick<RunsContext, "deps" | "call">) {
  const { accountId: id, bucket } = call.identity;
  return { id, bucket, number: await accountNumber(deps.runs.database.db, id) };
}

async function runJson(
  account: Awaited<ReturnType<typeof accountOf>>,
  { deps, call, params: { id = "" } }: RunsContext,
): Promise<object> {
  const found = await readRunDetails(deps.runs, account, id);
  if (found === null) throw noRun();
  const { use, sums } = found;
  return {
    id: use.id,
    object: "run",
    state: use.state,
    max_usd: toJsonNumber(use.amount),
    spent_usd: toJsonNumber(use.spent),
    held_usd: toJsonNumber(use.held),
    left_usd: toJsonNumber(use.left),
    created_at: use.createdAt.toISOString(),
    ends_at: use.endsAt.toISOString(),
    paused_at: use.pausedAt?.toISOString() ?? null,
    services: sums.services.map((one) => ({ service: serviceOf(one), ...sumsJson(one) })),
    models: sums.models.map((one) => {
      return { service: serviceOf(one), model: one.model, ...sumsJson(one) };
    }),
    steps: sums.steps.map((one) => ({ step: one.step, ...sumsJson(one) })),
    svc: freeSvc(call),
  };
}

function noRun(): ApiError {
  return new ApiError("run_not_found", "There is no such run");
}

function serviceOf({ service }: RunSum): string {
  return serviceOfScope(service ?? "");
}

function sumsJson({ calls, refused, cost }: RunSum) {
  return { calls, refused, cost_usd: toJsonNumber(nano(cost)) };
}
