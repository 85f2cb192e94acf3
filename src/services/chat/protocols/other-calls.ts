// Sends the call of a model that serves no chat. All servers that serve such models have the same
// addresses, headers and errors (D-682).

import { OK } from "../../../core/errors.ts";
import { isObject } from "../../../core/text/json.ts";
import { RouteFailure } from "../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../upstream/time-limit.ts";
import { exchange, parseJson, readText } from "../../../upstream/upstream-http.ts";
import type { OtherUse } from "../models/catalogue.ts";
import type { RefusedFields } from "../refused-fields.ts";
import { refuse, replyFailure } from "./openai/refuse-call.ts";
import { readError } from "./openai/reply-error.ts";
import type { UpstreamCall } from "./protocol.ts";
import type { OtherCall } from "./provider.ts";

/** 2,048 vectors in base64 have 33 MB at 3,072 dimensions, the most of any known model. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

const ADDRESSES: Readonly<
  Record<OtherUse, { readonly path: string; readonly prompt: RefusedFields["prompt"] }>
> = {
  embedding: { path: "/embeddings", prompt: "input" },
  rerank: { path: "/rerank", prompt: "documents" },
  moderation: { path: "/moderations", prompt: "input" },
};

/** The route of such a call. */
type OtherRoute = Pick<
  UpstreamCall,
  "provider" | "model" | "publicId" | "account" | "signal" | "fetch"
>;

/**
 * Sends a call to its server once, without retries. Throws an ApiError if the request is invalid,
 * or a RouteFailure if the next route may serve it.
 */
export async function askOther<Reply>(
  route: OtherRoute,
  { use, body, read }: OtherCall<Reply>,
): Promise<Reply> {
  const { provider, model, account, signal, fetch } = route;
  const { apiKey } = provider;
  const { path, prompt } = ADDRESSES[use];
  const request = {
    fetch,
    account,
    url: provider.baseUrl + path,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      "accept-encoding": "identity",
      ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ ...body, model }),
    limit: new TimeLimit(provider.replyTimeoutMs, signal),
  } as const;
  const call = { ...route, fields: { prompt } };
  const text = await exchange(request, (response) =>
    response.status === OK ? readText(response, REPLY_BYTES_MAX) : refuse(response, call),
  );
  const reply = parseJson(text);
  const error = readError(reply);
  if (error !== null) throw replyFailure(error, call);
  if (!isObject(reply)) throw new RouteFailure("The server sent something that is no object");
  return read(reply);
}
