// The runs of an account: a list, one run with its sums, and changes.

import { changeOwnRun, type RunDeps } from "../accounts/runs.ts";
import { RUN_SECONDS } from "../core/access/runs.ts";
import { amountFrom } from "../core/text/field-rules.ts";
import { readField } from "../http/body/checks.ts";
import { jsonBody } from "../http/body/json-body.ts";
import {
  type AccountContext,
  accountEndpoint,
  type ConsoleFrameDeps,
} from "../http/console/console-endpoint.ts";
import { usdSchema } from "../http/console/fields.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { type Checked, Type, whole } from "../http/schema.ts";
import { noted } from "./noted.ts";
import { RUNS, RunDetails, type RunSource, runReply } from "./run-lists.ts";

export interface ConsoleRunsDeps extends ConsoleFrameDeps {
  readonly runs: RunDeps;
}

type RunsContext = AccountContext<ConsoleRunsDeps>;

const PATH = "/console/api/accounts/{account}/runs";
const BODY_BYTES_MAX = 1_024;

const list = accountEndpoint({
  id: "listRuns",
  path: PATH,
  role: "viewer",
  summary: "List the runs of an account, newest first",
  ...RUNS.endpoint("One run"),
  run: (context: RunsContext, input) => RUNS.page(sourceOf(context), input),
});

const show = accountEndpoint({
  id: "getConsoleRun",
  method: "GET",
  path: `${PATH}/{run}`,
  role: "viewer",
  summary: "Show a run, and what its calls cost by service, model and step",
  ...replyWith(RunDetails, { summary: "A run" }),
  run: (context: RunsContext) => runReply(sourceOf(context), context.params.run ?? ""),
});

const Change = Type.Object(
  {
    paused: Type.Optional(Type.Boolean({ description: "True: it refuses calls" })),
    max_usd: Type.Optional(usdSchema("What its calls may cost together")),
    ttl: Type.Optional(
      whole(RUN_SECONDS.min, RUN_SECONDS.max, { description: "Seconds from now until it ends" }),
    ),
  },
  { additionalProperties: false },
);
export type RunFields = Checked<typeof Change>;

const change = accountEndpoint({
  id: "changeRun",
  method: "POST",
  path: `${PATH}/{run}`,
  role: "admin",
  summary: "Pause or resume a run, or give it another amount or more time",
  body: jsonBody(Change, { bytesMax: BODY_BYTES_MAX }),
  ...replyWith(RunDetails, { summary: "Raised", body: { max_usd: "2" } }),
  async run(context: RunsContext, fields: RunFields) {
    const run = context.params.run ?? "";
    const { paused: isPaused, max_usd: max, ttl: seconds } = fields;
    const amount = max === undefined ? undefined : readField("max_usd", () => amountFrom(max));
    const also = noted(context, "run_changed", `run ${run}: ${changeText(fields)}`);
    const source = sourceOf(context);
    const changed = { run, change: { isPaused, amount, seconds }, also };
    await changeOwnRun(source.runs, source.account, changed);
    return await runReply(source, run);
  },
});

function changeText({ paused, max_usd: max, ttl }: RunFields): string {
  const words: string[] = [];
  if (paused !== undefined) words.push(paused ? "paused" : "resumed");
  if (max !== undefined) words.push(`$${max}`);
  if (ttl !== undefined) words.push(`${ttl} s from now`);
  return words.join(", ");
}

function sourceOf({ deps: { runs }, account }: RunsContext): RunSource {
  return { runs, account };
}

export const RUN_ENDPOINTS = [list, show, change] as const;
