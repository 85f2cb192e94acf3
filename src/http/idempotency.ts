// The header by which a caller makes a call that is charged at most once (docs/idempotency.md).

import type { Call } from "../calls/call.ts";
import { IDEMPOTENCY } from "../core/access/limits.ts";
import type { RunRules } from "../core/access/runs.ts";
import type { ApiError } from "../core/errors.ts";
import { markerOf } from "../core/journal/marker.ts";
import { invalidHeader } from "./body/checks.ts";
import { END_USER_HEADER, END_USER_PARAMETER } from "./body/end-user.ts";
import type { EndpointInfo, ParameterInfo } from "./endpoint-info.ts";
import type { FrameDeps } from "./frame.ts";
import type { KeyedRequest } from "./kept-answers.ts";
import { MAX_COST_HEADER, MAX_COST_PARAMETER } from "./max-cost.ts";
import { readKey } from "./read-key.ts";
import { RUN_PARAMETER, runHeaderOf } from "./run-header.ts";
import { shortText } from "./schema.ts";

export const IDEMPOTENCY_HEADER = "Idempotency-Key";

const PRINTABLE = /^[\x20-\x7e]+$/;

/** The rule for the header. Fetch removes spaces around a value. */
export const IdempotencyKey = shortText(IDEMPOTENCY.keyCharactersMax, {
  pattern: "^[!-~](?:[ -~]*[!-~])?$",
});

/** For the documentation of every endpoint whose calls can be repeated. */
export const IDEMPOTENCY_PARAMETER: ParameterInfo = {
  name: IDEMPOTENCY_HEADER,
  in: "header",
  required: false,
  description:
    `1 to ${IDEMPOTENCY.keyCharactersMax} printable ASCII characters. For 24 hours a call with ` +
    "the same key, path, body, run, end user and cap is not charged again: it gets the kept " +
    "answer of the first one, with `Idempotent-Replayed: true`, or is refused and told the " +
    "receipt of the first one. A call that was not charged frees its key",
  schema: IdempotencyKey,
};

/** For the documentation of every endpoint whose calls have the terms of `termsIn`. */
export const TERMS_PARAMETERS: readonly ParameterInfo[] = [
  MAX_COST_PARAMETER,
  RUN_PARAMETER,
  END_USER_PARAMETER,
];

/** The parameters of an endpoint that passes the headers on to `call`, such as "a tool's call". */
export function passedOn(call: string, parameters: readonly ParameterInfo[]): ParameterInfo[] {
  return parameters.map((one) => ({ ...one, description: `For ${call}. ${one.description}` }));
}

/**
 * The idempotency key of a request; null without one.
 * @throws ApiError `invalid_parameter`
 */
export function idempotencyKeyIn(headers: Headers): string | null {
  const key = headers.get(IDEMPOTENCY_HEADER);
  if (key === null) return null;
  return checkedIdempotencyKey(key, (rule) => invalidHeader(IDEMPOTENCY_HEADER, rule));
}

/**
 * The value of a header or field as an idempotency key; `refusalOf` makes the refusal by the rule.
 * @throws ApiError `invalid_parameter`
 */
export function checkedIdempotencyKey(
  value: unknown,
  refusalOf: (rule: string) => ApiError,
): string {
  const { keyCharactersMax } = IDEMPOTENCY;
  const isKey =
    typeof value === "string" && PRINTABLE.test(value) && value.length <= keyCharactersMax;
  if (isKey) return value;
  throw refusalOf(`must have 1 to ${keyCharactersMax} printable ASCII characters`);
}

/** True if the frame answers repeats of an endpoint's calls. */
export function isRepeatable({
  isBilled,
  handlesRepeats = false,
}: Pick<EndpointInfo, "handlesRepeats"> & { readonly isBilled: boolean }): boolean {
  return isBilled && !handlesRepeats;
}

/**
 * The headers that are terms of a call, as its body is: its run, its end user and the cap of its
 * cost. Empty without any of them, as the digests of most calls have always been (D-821).
 */
function termsIn(headers: Headers, rules: RunRules): string {
  const run = runHeaderOf(headers, rules);
  const [cap, endUser] = [headers.get(MAX_COST_HEADER), headers.get(END_USER_HEADER)];
  if (run === null && cap === null && endUser === null) return "";
  return ` ${JSON.stringify([run, cap, endUser])}`;
}

interface KnownRequest {
  readonly deps: Pick<FrameDeps, "keyPeppers" | "surface" | "runRules">;
  readonly call: Call;
  readonly request: Request;
}

/** The request of a call with this idempotency key, body and headers. */
export function keyedRequest(
  { deps, call, request }: KnownRequest,
  idempotencyKey: string,
  body: string | Uint8Array,
): KeyedRequest {
  const { accountId } = call.identity;
  const { pathname, search } = new URL(request.url, "http://relative");
  const terms = termsIn(request.headers, deps.runRules());
  const target = `${request.method} ${pathname}${search}${terms}`;
  const digest = new Bun.CryptoHasher("sha256").update(`${target}\n`).update(body).digest("hex");
  const markerBy = (secret: string) => markerOf(secret, { accountId, idempotencyKey, digest });
  const [current, ...earlier] = deps.keyPeppers;
  return {
    markers: [markerBy(current), ...earlier.map(markerBy)],
    sealedBy: [current, readKey(request.headers, deps.surface), idempotencyKey, digest],
  };
}
