// Passes a request through to a server that speaks the caller's own form, and its events back. Only
// the text and the usage are read on the way, for the bill (D-685).

import type { CancelSignal } from "../../../../core/cancellation.ts";
import { OK } from "../../../../core/errors.ts";
import { isObject, type Json, jsonOrNull } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../../upstream/time-limit.ts";
import {
  exchange,
  parseJson,
  readText,
  type UpstreamRequest,
} from "../../../../upstream/upstream-http.ts";
import { reading, refuse } from "../openai/refuse-call.ts";
import { reportedFailure } from "../openai/reply-error.ts";
import { streamBytesMax } from "../openai/streamed-reply.ts";
import type { OwnProtocol, UpstreamCall } from "../protocol.ts";
import type { ChatReply } from "../provider.ts";
import { UpstreamStream } from "../upstream-stream.ts";
import type { PassedReply, PassThroughForm } from "./pass-through-form.ts";
import { PassedStream, usageOf } from "./passed-stream.ts";

/** Replies of these forms repeat the request's instructions and tools. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024;

/** The protocol of servers that speak this form. */
export function passThrough<Last>(form: PassThroughForm<Last>): OwnProtocol {
  return {
    form: form.form,
    complete: (call) => complete(form, call),
    stream: (call) => {
      const bytesMax = streamBytesMax(call.request.maxTokens);
      const reply = new PassedStream(form, { sent: form.sent(call), bytesMax });
      const requestOf = (_: UpstreamCall, signal: CancelSignal) =>
        requestTo(form, call, { stream: true, signal });
      return new UpstreamStream(call, { reply, requestOf, streamOf: refuseWhole });
    },
  };
}

async function complete<Last>(form: PassThroughForm<Last>, call: UpstreamCall): Promise<ChatReply> {
  const limit = new TimeLimit(call.provider.replyTimeoutMs, call.signal);
  const request = requestTo(form, call, { stream: false, limit });
  const text = await exchange(request, (response) =>
    response.status === OK ? readText(response, REPLY_BYTES_MAX) : refuse(response, call),
  );
  const { choice, hasThought, body } = reading(call, () => readReply(form, parseJson(text)));
  const { content, refusal, tool_calls: calls } = choice.message;
  const hasOutput = (content ?? "") !== "" || refusal !== undefined || calls !== undefined;
  const last = form.usage.fold(form.usage.none, body);
  const read = form.usage.read(last, form.sent(call));
  return { choices: [choice], ...usageOf(read, { hasOutput, hasThought }), body };
}

/** The text of a whole reply. Throws if it is an error, or no reply. */
function readReply<Last>(
  form: PassThroughForm<Last>,
  body: unknown,
): PassedReply & { readonly body: Json } {
  const reply = isObject(body) ? form.whole(body) : null;
  if (isObject(body) && reply !== null) return { ...reply, body };
  throw reportedFailure(body) ?? new RouteFailure("The server sent something that is no reply");
}

interface SentRequest extends Pick<UpstreamRequest, "limit" | "signal"> {
  readonly stream: boolean;
}

function requestTo<Last>(
  form: PassThroughForm<Last>,
  call: UpstreamCall,
  { stream, limit, signal }: SentRequest,
): UpstreamRequest {
  const { account, fetch, provider } = call;
  const headers = {
    "content-type": "application/json",
    accept: stream ? "text/event-stream" : "application/json",
    // Packing would hold a stream back, and a reply is short.
    "accept-encoding": "identity",
    ...form.headers(call),
  };
  const url = form.url(provider);
  const body = JSON.stringify(form.body(call, stream));
  return { account, fetch, url, method: "POST", headers, body, limit, signal };
}

function refuseWhole(text: string): never {
  const failure = reportedFailure(jsonOrNull(text));
  throw failure ?? new RouteFailure("The server answered with JSON instead of a stream");
}
