// The header by which a caller makes a call that is charged at most once (docs/idempotency.md).

import type { Call } from "../calls/call.ts";
import { IDEMPOTENCY } from "../core/access/limits.ts";
import { markerOf } from "../core/journal/marker.ts";
import { invalid } from "./body/checks.ts";
import type { EndpointInfo, ParameterInfo } from "./endpoint-info.ts";
import type { FrameDeps } from "./frame.ts";
import type { KeyedRequest } from "./kept-answers.ts";
import { readKey } from "./read-key.ts";
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
    "the same key, path and body is not charged again: it gets the kept answer of the first one, " +
    "with `Idempotent-Replayed: true`, or is refused and told the receipt of the first one. A " +
    "call that was not charged frees its key",
  schema: IdempotencyKey,
};

/**
 * The idempotency key of a request; null without one.
 * @throws ApiError `invalid_parameter`
 */
export function idempotencyKeyIn(headers: Headers): string | null {
  const key = headers.get(IDEMPOTENCY_HEADER);
  if (key === null) return null;
  if (PRINTABLE.test(key) && key.length <= IDEMPOTENCY.keyCharactersMax) return key;
  throw invalid(
    `The header ${IDEMPOTENCY_HEADER}`,
    `must have 1 to ${IDEMPOTENCY.keyCharactersMax} printable ASCII characters`,
  );
}

/** True if the frame answers repeats of an endpoint's calls. */
export function isRepeatable({
  isBilled,
  handlesRepeats = false,
}: Pick<EndpointInfo, "handlesRepeats"> & { readonly isBilled: boolean }): boolean {
  return isBilled && !handlesRepeats;
}

interface KnownRequest {
  readonly deps: Pick<FrameDeps, "keyPeppers" | "surface">;
  readonly call: Call;
  readonly request: Request;
}

/** The request of a call with this idempotency key and body. */
export function keyedRequest(
  { deps, call, request }: KnownRequest,
  idempotencyKey: string,
  body: string | Uint8Array,
): KeyedRequest {
  const { accountId } = call.identity;
  const { pathname, search } = new URL(request.url, "http://relative");
  const target = `${request.method} ${pathname}${search}`;
  const digest = new Bun.CryptoHasher("sha256").update(`${target}\n`).update(body).digest("hex");
  const markerBy = (secret: string) => markerOf(secret, { accountId, idempotencyKey, digest });
  const [current, ...earlier] = deps.keyPeppers;
  return {
    markers: [markerBy(current), ...earlier.map(markerBy)],
    sealedBy: [current, readKey(request.headers, deps.surface), idempotencyKey, digest],
  };
}
