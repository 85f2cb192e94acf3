// The signed receipt of a request for the people of its account.

import { integer, nullable, text, type WireOf } from "../../core/records.ts";
import type { SignedReceipts } from "./signed-receipts.ts";

/** A JWS for examples; its signature is not valid. */
export const JWS_SAMPLE =
  "eyJhbGciOiJFZERTQSIsImtpZCI6Ii4uLiJ9.eyJpc3MiOiJGYXJlYm94In0.c2lnbmF0dXJl";

export const IssuedReceipt = {
  request_id: text({ sample: "req_7n42DGM5Tflk9n8mt7Fhc7" }),
  number: integer({ minimum: 1, about: "1 for the first receipt of the request", sample: 1 }),
  corrects: nullable(
    integer({ minimum: 1, about: "The number of the receipt that it corrects", sample: 1 }),
    { sample: null },
  ),
  jws: text({
    about: "The receipt as a compact JWS by a key of /.well-known/jwks.json",
    sample: JWS_SAMPLE,
  }),
};
export type IssuedReceiptReply = WireOf<typeof IssuedReceipt>;

/**
 * The receipt of any request of an account.
 * @throws ApiError `receipt_pending`, `receipt_not_found` or `receipt_gone`
 */
export async function issuedReceiptReply(
  { receipts }: { readonly receipts: Pick<SignedReceipts, "of"> },
  account: string,
  request: string,
): Promise<IssuedReceiptReply> {
  const { number, jws, claims } = await receipts.of({ account, keyId: null, request });
  return { request_id: request, number, corrects: claims.receipt.corrects, jws };
}
