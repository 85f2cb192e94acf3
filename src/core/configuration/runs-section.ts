// Defines and reads the rules of runs in the configuration file.

import { type Static, Type } from "@sinclair/typebox";
import { DEFAULT_RUN_RULES, RUN_SECONDS, type RunRules } from "../access/runs.ts";
import { type NanoUsd, WRITTEN_USD, writtenUsdAboveZero } from "../money/money.ts";
import { closed, whole } from "./fields.ts";
import type { Refuse } from "./section.ts";

const RunsFile = Type.Object(
  {
    by_session: Type.Optional(
      Type.Boolean({
        description:
          "True: the session of a request without `x-svc-run`, by the first of `session_headers` " +
          "that it has, is its run",
        errorMessage: "must be true or false",
      }),
    ),
    max_usd: Type.Optional(
      Type.String({
        pattern: WRITTEN_USD,
        description: "The amount of a run whose first call names none; left out: it must name one",
        errorMessage: 'must be an amount of USD, such as "5"',
      }),
    ),
    ttl_seconds: Type.Optional(
      whole(
        RUN_SECONDS.min,
        RUN_SECONDS.max,
        `The time of a run whose first call names none (${RUN_SECONDS.default})`,
      ),
    ),
  },
  { ...closed, description: "Budgets that callers name in their requests (docs/runs.md)" },
);

/** The section's part of the file's schema. */
export const RUNS_SECTION = { runs: Type.Optional(RunsFile) };

/** Reads the section; `headers` are those by which clients name their sessions. */
export function readRuns(
  file: Static<typeof RunsFile> | undefined,
  headers: readonly string[],
  refuse: Refuse,
): RunRules {
  if (file === undefined) return DEFAULT_RUN_RULES;
  const max = file.max_usd === undefined ? null : amountOf(file.max_usd, refuse);
  const isBySession = file.by_session === true;
  if (isBySession && headers.length === 0) {
    return refuse("/runs/by_session", "needs session_headers at the top of the file");
  }
  if (isBySession && max === null) {
    return refuse("/runs/by_session", "needs max_usd: a client's session names no amount");
  }
  const { ttl_seconds: seconds = DEFAULT_RUN_RULES.seconds } = file;
  return { sessionHeaders: isBySession ? headers : [], max, seconds };
}

function amountOf(text: string, refuse: Refuse): NanoUsd {
  return writtenUsdAboveZero(text, (rule) => refuse("/runs/max_usd", rule));
}
