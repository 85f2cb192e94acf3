// Lists the runs of an account, the newest first, and shows one with the costs of its calls.

import { type RunDeps, type RunUse, readRunDetails, runUses } from "../accounts/runs.ts";
import { RUN_STATES } from "../core/access/runs.ts";
import { serviceOfScope } from "../core/access/services.ts";
import { ApiError } from "../core/errors.ts";
import {
  integer,
  jsonFrom,
  listOf,
  nested,
  nullable,
  text,
  time,
  usdField,
  type WireOf,
  word,
} from "../core/records.ts";
import { byNumber, listReading, type PageOf } from "../readings/list-reading.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { listRuns } from "../store/accounts/runs.ts";
import type { RunSum } from "../store/usage/run-sums.ts";

export const RunLine = {
  id: text({ about: "The name that its caller chose", sample: "nightly-7" }),
  state: word(RUN_STATES, { about: "Only an active run takes calls", sample: "active" }),
  max_usd: usdField({ about: "What its calls may cost together", sample: "2" }),
  spent_usd: usdField({ about: "Charged", sample: "0.75" }),
  held_usd: usdField({ about: "Held by calls under way", sample: "0.05" }),
  left_usd: usdField({ about: "What is left", sample: "1.2" }),
  key: nested({
    id: text({ sample: "key_7n42DGM5Tflk9n8mt7Fhc7" }),
    name: text({ about: "The key of its first call", sample: "production" }),
  }),
  created_at: time({ about: "When its first call began it", sample: "2026-11-22T14:03:20.118Z" }),
  ends_at: time({ about: "From when on it takes no calls", sample: "2026-11-22T15:03:20.118Z" }),
  paused_at: nullable(time({ sample: "2026-11-22T14:30:00.000Z" }), { sample: null }),
};

const SUMS = {
  calls: integer({ about: "That were admitted", sample: 41 }),
  refused: integer({ about: "That were refused", sample: 2 }),
  cost_usd: usdField({ about: "Charged", sample: "0.7" }),
};
const Service = { service: text({ sample: "chat" }), ...SUMS };
const Model = {
  service: text({ sample: "chat" }),
  model: nullable(text({ about: "A model, or an action of maps", sample: "fast" })),
  ...SUMS,
};
const Step = { step: text({ sample: "plan" }), ...SUMS };

/** A run, and the sums of its calls as far as they are logged. */
export const RunDetails = {
  ...RunLine,
  services: listOf(nested(Service)),
  models: listOf(nested(Model)),
  steps: listOf(nested(Step)),
};
export type RunReply = WireOf<typeof RunDetails>;

const lineFrom = jsonFrom(RunLine);
const [serviceFrom, modelFrom, stepFrom] = [jsonFrom(Service), jsonFrom(Model), jsonFrom(Step)];

/** The account whose runs are read. */
export interface RunSource {
  readonly runs: RunDeps;
  readonly account: Pick<AccountRow, "number" | "id" | "bucket">;
}

export const RUNS = listReading({
  name: "runs",
  line: RunLine,
  filters: {},
  keyset: byNumber("number"),
  async read({ runs, account }: RunSource, _, page) {
    const rows = await listRuns(runs.database, account.number, page);
    return await runUses(runs, account, rows);
  },
  toLine: runLine,
});
export type RunsReply = PageOf<typeof RUNS>;

function runLine(run: RunUse): WireOf<typeof RunLine> {
  const key = { id: run.keyId, name: run.keyName };
  return lineFrom({ ...run, max: run.amount, key });
}

/** The JSON of a run with the sums of its calls. @throws ApiError `run_not_found` */
export async function runReply(source: RunSource, id: string): Promise<RunReply> {
  const found = await readRunDetails(source.runs, source.account, id);
  if (found === null) throw new ApiError("run_not_found", "There is no such run");
  const { use, sums } = found;
  return {
    ...runLine(use),
    services: sums.services.map((one) => serviceFrom({ ...one, service: serviceOf(one) })),
    models: sums.models.map((one) => modelFrom({ ...one, service: serviceOf(one) })),
    steps: sums.steps.map((one) => stepFrom({ ...one, step: one.step ?? "" })),
  };
}

function serviceOf({ service }: RunSum): string {
  return serviceOfScope(service ?? "");
}
