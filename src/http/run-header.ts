// The header by which a caller gives several calls one budget (docs/runs.md). A session header of
// the caller's client can take its place (D-788).

import {
  type NamedRun,
  RUN_NAME,
  RUN_NAME_RULE,
  RUN_SECONDS,
  type RunRules,
} from "../core/access/runs.ts";
import { type NanoUsd, writtenUsdAboveZero } from "../core/money/money.ts";
import { invalidHeader } from "./body/checks.ts";
import type { ParameterInfo } from "./endpoint-info.ts";
import { text } from "./schema.ts";

export const RUN_HEADER = "x-svc-run";

const SECONDS = /^\d{1,9}$/;
const PARAMETERS = ["max-usd", "ttl", "step"] as const;

/** For the documentation of every endpoint that costs money. */
export const RUN_PARAMETER: ParameterInfo = {
  name: RUN_HEADER,
  in: "header",
  required: false,
  description:
    "The run that counts this call: `<id>; max-usd=2.00; ttl=3600; step=plan`. All calls of a " +
    "run, of any service, together never cost more than its amount. The first call fixes " +
    "`max-usd` and `ttl` (seconds); `step` is a label of this call. See `GET /v1/runs/{id}`",
  schema: text({ maxLength: 256, examples: ["nightly-7; max-usd=2.00; ttl=3600"] }),
};

/**
 * The run that a request names; null without one.
 * @throws ApiError `invalid_parameter`
 */
export function runIn(headers: Headers, rules: RunRules): NamedRun | null {
  const value = headers.get(RUN_HEADER);
  if (value !== null) return parseRun(value, rules);
  if (rules.sessionHeaders.length === 0) return null;
  const session = sessionIn(headers, rules);
  if (session === null) return null;
  const [name, id] = session;
  if (!RUN_NAME.test(id)) throw invalidHeader(name, RUN_NAME_RULE);
  return { id, step: null, max: rules.max, seconds: rules.seconds };
}

/**
 * The value of the header for a request that this process makes to itself on behalf of this one.
 */
export function runHeaderOf(headers: Headers, rules: RunRules): string | null {
  return headers.get(RUN_HEADER) ?? sessionIn(headers, rules)?.[1] ?? null;
}

function sessionIn(
  headers: Headers,
  { sessionHeaders }: RunRules,
): readonly [name: string, id: string] | null {
  for (const name of sessionHeaders) {
    const id = headers.get(name);
    if (id !== null && id !== "") return [name, id];
  }
  return null;
}

function parseRun(value: string, rules: RunRules): NamedRun {
  const [id = "", ...rest] = value.split(";").map((part) => part.trim());
  if (!RUN_NAME.test(id))
    throw invalidHeader(RUN_HEADER, `begins with the id of a run, which ${RUN_NAME_RULE}`);
  const given = new Map<string, string>();
  for (const part of rest) {
    const equals = part.indexOf("=");
    const name = equals < 0 ? part : part.slice(0, equals).trim();
    if (!PARAMETERS.some((known) => known === name)) {
      throw invalidHeader(
        RUN_HEADER,
        `has no '${name}': after the id it takes ${PARAMETERS.join(", ")}`,
      );
    }
    if (given.has(name)) throw invalidHeader(RUN_HEADER, `has ${name} twice`);
    given.set(name, equals < 0 ? "" : part.slice(equals + 1).trim());
  }
  const [max, ttl, step] = PARAMETERS.map((name) => given.get(name));
  return {
    id,
    step: step === undefined ? null : stepOf(step),
    max: max === undefined ? rules.max : amountOf(max),
    seconds: ttl === undefined ? rules.seconds : secondsOf(ttl),
  };
}

function stepOf(text: string): string {
  if (RUN_NAME.test(text)) return text;
  throw invalidHeader(RUN_HEADER, `step ${RUN_NAME_RULE}`);
}

function amountOf(text: string): NanoUsd {
  return writtenUsdAboveZero(text, (rule) => {
    throw invalidHeader(RUN_HEADER, `max-usd ${rule}`);
  });
}

function secondsOf(text: string): number {
  const seconds = SECONDS.test(text) ? Number(text) : 0;
  if (seconds >= RUN_SECONDS.min && seconds <= RUN_SECONDS.max) return seconds;
  throw invalidHeader(
    RUN_HEADER,
    `ttl must be a whole number of seconds, ${RUN_SECONDS.min} to ${RUN_SECONDS.max}`,
  );
}
