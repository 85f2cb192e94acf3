// Serves GET /v1/receipts/{id}: the signed receipt of a call that this key has made.

import { withoutCost } from "../calls/account.ts";
import { type EndpointContext, endpoint, plainEndpoint } from "../http/endpoint.ts";
import type { FrameDeps } from "../http/frame.ts";
import { PlainCost } from "../http/reply-schema.ts";
import { anyObject, named, nullable, Type, text, whole } from "../http/schema.ts";
import { JWS_SAMPLE } from "../readings/signed/issued-receipt.ts";
import type { SignedReceipts } from "../readings/signed/signed-receipts.ts";
import { atBothSurfaces, freeSvc } from "./both-surfaces.ts";
import { CLAIMS_EXAMPLE, Claims } from "./receipt-claims.ts";

export interface ReceiptsDeps extends FrameDeps {
  readonly receipts: Pick<SignedReceipts, "of" | "keys" | "signStatement">;
}

type ReceiptsContext = EndpointContext<ReceiptsDeps>;

const ID = "req_0351Ki6Po6Ze8c7RSniYDy";

const Reply = named("Receipt", {
  object: Type.Literal("receipt"),
  request_id: text({ description: "The request that it is for" }),
  number: whole(1, 32_767, { description: "1 for the first receipt of the request" }),
  corrects: nullable(whole(1, 32_767, { description: "The number of the receipt it corrects" })),
  jws: text({
    description: "The receipt: a compact JWS (RFC 7515) by a key of /.well-known/jwks.json",
  }),
  claims: Claims,
  svc: PlainCost,
});

/** Shows a receipt of the key's own calls. */
const endpoints = atBothSurfaces<ReceiptsDeps>("/v1/receipts/{id}", (terms) =>
  endpoint({
    id: "getReceipt",
    ...terms,
    method: "GET",
    summary: "Show the signed receipt of a call",
    description: `A key reads the receipts of its own calls. A receipt is issued when its call is
final, some seconds after the reply, and has the same bytes from then on. If a call is corrected
later, as after the crash of a process, a further receipt names the one that it corrects. Costs
nothing and counts as a request.`,
    parameters: [
      {
        name: "id",
        in: "path",
        required: true,
        description: "The request: `svc.request_id`, or the header `x-request-id`",
        schema: text({ examples: [ID] }),
      },
    ],
    reply: Reply,
    errors: ["receipt_pending", "receipt_not_found", "receipt_gone"],
    examples: [
      {
        summary: "A chat",
        params: { id: ID },
        reply: {
          object: "receipt",
          request_id: ID,
          number: 1,
          corrects: null,
          jws: JWS_SAMPLE,
          claims: CLAIMS_EXAMPLE,
          svc: { request_id: "req_0351Ki6Po6Ze8c7RSniYDz", cost_usd: 0 },
        },
      },
    ],
    prepare: () => null,
    run: ({ deps, call, params }: ReceiptsContext) =>
      withoutCost(deps.calls, call, {
        service: "account",
        answer: () => {
          const { accountId: account, keyId } = call.identity;
          return deps.receipts.of({ account, keyId, request: params.id ?? "" });
        },
      }),
    answer: ({ call, params }, _, { number, jws, claims }) => ({
      json: JSON.stringify({
        object: "receipt",
        request_id: params.id,
        number,
        corrects: claims.receipt.corrects,
        jws,
        claims,
        svc: freeSvc(call),
      }),
    }),
  }),
);

export const { gateway: receipt, application: applicationReceipt } = endpoints;

/** For whoever verifies receipts; no key is needed. */
export const receiptKeys = plainEndpoint({
  id: "getReceiptKeys",
  method: "GET",
  path: "/.well-known/jwks.json",
  summary: "Show the public keys that verify receipts",
  description: `A key set (RFC 7517). A key is never removed: one that no longer signs has a
\`retired_at\`.`,
  reply: named("ReceiptKeys", { keys: Type.Array(anyObject()) }),
  examples: [
    {
      summary: "The keys",
      reply: {
        keys: [
          {
            kty: "OKP",
            crv: "Ed25519",
            x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
            kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
            use: "sig",
            alg: "EdDSA",
          },
        ],
      },
    },
  ],
  run: async ({ receipts }: Pick<ReceiptsDeps, "receipts">) =>
    Response.json(
      { keys: await receipts.keys() },
      { headers: { "cache-control": "public, max-age=300" } },
    ),
});
