// Reads the query string of GET /v1/maps strictly, because other programs on the way must not read
// it differently. A refusal never repeats a value, which may be a place or a coordinate.

import { ApiError } from "../../core/errors.ts";
import { invalid } from "../../http/body/checks.ts";
import { ACTIONS, isMapsAction, type MapsAction, SESSION_ACTIONS } from "./actions.ts";
import type { RawParameters } from "./read-parameters.ts";

export interface MapsQuery {
  readonly action: MapsAction;
  readonly parameters: RawParameters;
}

/** The names in a URL's query, each once, with their texts. Throws `invalid_parameter`. */
export function readQuery(url: string): Map<string, string> {
  const start = url.indexOf("?");
  const end = url.indexOf("#", start);
  const query = start < 0 ? "" : url.slice(start + 1, end < 0 ? undefined : end);
  const values = new Map<string, string>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), "A parameter's name");
    const label = /^[a-z_]{1,30}$/.test(name) ? name : "A parameter";
    if (values.has(name)) throw invalid(label, "stands more than once");
    values.set(name, decode(equals < 0 ? "" : pair.slice(equals + 1), label));
  }
  return values;
}

/** Separates the action from a query. Throws `invalid_action` with a list of the actions. */
export function readAction(query: ReadonlyMap<string, string>): MapsQuery {
  const action = query.get("action");
  if (action === undefined || action === "") throw invalidAction("action is missing");
  if (!isMapsAction(action)) {
    throw SESSION_ACTIONS.includes(action)
      ? new ApiError("invalid_action", `action ${action} is for sessions only, not for API keys`)
      : invalidAction("action is not known");
  }
  const parameters = new Map(query);
  parameters.delete("action");
  return { action, parameters };
}

function invalidAction(problem: string): ApiError {
  const known = Object.keys(ACTIONS).join(", ");
  return new ApiError("invalid_action", `${problem}: it must be one of ${known}`);
}

function decode(text: string, label: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw invalid(label, "is not percent-encoded UTF-8");
  }
}
