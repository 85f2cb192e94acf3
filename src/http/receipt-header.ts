// The header by which a caller gets the signed receipt of a call with its reply (docs/receipts.md).

import { invalidHeader } from "./body/checks.ts";
import type { ParameterInfo } from "./endpoint-info.ts";
import { Type } from "./schema.ts";

export const RECEIPT_HEADER = "x-svc-receipt";

const INLINE = "inline";

/** For the documentation of every endpoint whose calls are final soon after the reply. */
export const RECEIPT_PARAMETER: ParameterInfo = {
  name: RECEIPT_HEADER,
  in: "header",
  required: false,
  description:
    "Puts the signed receipt of the call into `svc.receipt` of the reply; of a stream, into its " +
    "last frame. That takes about a second longer. A batch and a picture have none",
  schema: Type.Literal(INLINE),
};

/**
 * True if a request asks for its receipt in the reply.
 * @throws ApiError `invalid_parameter`
 */
export function wantsReceiptIn(headers: Headers): boolean {
  const value = headers.get(RECEIPT_HEADER);
  if (value === null) return false;
  if (value === INLINE) return true;
  throw invalidHeader(RECEIPT_HEADER, `must be ${INLINE}`);
}
