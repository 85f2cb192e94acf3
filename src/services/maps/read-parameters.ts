// Reads the parameters of a maps call by the table. A refusal names the parameter, and never
// repeats its value, which may be a coordinate.

import { ApiError } from "../../core/errors.ts";
import { ACTIONS, type MapsAction, type ParametersOf, type Together } from "./actions.ts";
import type { Parameter } from "./parameters.ts";

/** The parameters of a call as text, each name once. */
export type RawParameters = ReadonlyMap<string, string>;

/** The checked parameters. Throws `invalid_parameter` with the name and the rule. */
export function readParameters<A extends MapsAction>(
  action: A,
  raw: RawParameters,
): ParametersOf<A> {
  const { parameters, together } = tableRow(action);
  for (const name of raw.keys()) {
    if (Object.hasOwn(parameters, name)) continue;
    const known = Object.keys(parameters).join(", ");
    throw invalid(named(name), `is no parameter of ${action}, which takes ${known}`);
  }
  if (together !== undefined) checkTogether(together, raw);
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    values[name] = readOne(name, parameter, raw.get(name));
  }
  return values as ParametersOf<A>;
}

function tableRow(action: MapsAction): {
  readonly parameters: Readonly<Record<string, Parameter<unknown>>>;
  readonly together?: Together;
} {
  return ACTIONS[action];
}

function readOne(name: string, parameter: Parameter<unknown>, text: string | undefined): unknown {
  if (text === undefined) {
    if (parameter.required) throw invalid(name, `is missing: it ${parameter.kind.rule}`);
    return parameter.fallback;
  }
  const value = parameter.kind.read(text);
  if (value === undefined) throw invalid(name, parameter.kind.rule);
  return value;
}

function checkTogether(together: Together, raw: RawParameters): void {
  if (together.rule === "all_or_none") {
    checkAllOrNone(together.names, raw);
    return;
  }
  const circle = ["lat", "lon", "radius"].filter((name) => raw.has(name));
  if (raw.has("bbox")) {
    const [name] = circle;
    if (name !== undefined) throw invalid(name, "cannot stand beside bbox");
    return;
  }
  if (circle.length === 0) throw invalid("bbox", "is missing; lat and lon can stand for it");
  checkAllOrNone(["lat", "lon"], raw);
  if (!raw.has("lat")) throw invalid("lat", "is missing beside radius");
}

function checkAllOrNone(names: readonly string[], raw: RawParameters): void {
  const missing = names.filter((name) => !raw.has(name));
  const [first] = missing;
  if (first === undefined || missing.length === names.length) return;
  const beside = names.filter((name) => raw.has(name)).join(" and ");
  throw invalid(first, `is missing beside ${beside}`);
}

/** A made-up name is repeated only if it looks like a name: anything else may be a value. */
function named(name: string): string {
  return /^[a-z][a-z_]{0,30}$/.test(name) ? name : "What was sent";
}

function invalid(name: string, problem: string): ApiError {
  return new ApiError("invalid_parameter", `${name} ${problem}`);
}
