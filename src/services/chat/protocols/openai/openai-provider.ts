// Sends the request of one route to an OpenAI-compatible server. Reads the reply itself: a client
// library costs 5 to 25 times as much for each chunk.

import type { CancelSignal } from "../../../../core/cancellation.ts";
import { OK } from "../../../../core/errors.ts";
import { TimeLimit } from "../../../../upstream/time-limit.ts";
import { exchange, readText, type UpstreamRequest } from "../../../../upstream/upstream-http.ts";
import type { ProviderEntry } from "../../models/catalogue.ts";
import { tierOf } from "../../request-tier.ts";
import { SENT_PLAINLY } from "../../usage/reply-usage.ts";
import type { Batches } from "../batches.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { ChatMessage, ChatReply, ChatRequest } from "../provider.ts";
import { IMAGES_BYTES_MAX, REPLY_BYTES_MAX, UpstreamStream } from "../upstream-stream.ts";
import { toWire } from "./media-message.ts";
import { fitted } from "./quirks.ts";
import { reading, refuse } from "./refuse-call.ts";
import type { ReplyParts } from "./reply-reader.ts";
import { StreamedReply, streamBytesMax } from "./streamed-reply.ts";
import { readWholeReply, streamOf } from "./whole-reply.ts";

/** With log probabilities, of which a whole reply has a limited number (D-173). */
const LOGPROBS_BYTES_MAX = 16 * 1024 * 1024;
/** Requests a whole reply. Throws a RouteFailure, or an ApiError if the request is invalid. */
export async function completeUpstream(given: UpstreamCall): Promise<ChatReply> {
  const call = fitted(given);
  const parts = replyPartsOf(call);
  const bytesMax = replyBytesMax(parts);
  const limit = new TimeLimit(call.provider.replyTimeoutMs, call.signal);
  const text = await exchange(requestOf(call, false, { limit }), (response) =>
    response.status === OK ? readText(response, bytesMax) : refuse(response, call),
  );
  const reply = reading(call, () => readWholeReply(text, parts));
  const { ignored } = call;
  return ignored === undefined ? reply : { ...reply, ignored };
}

function replyBytesMax({ logprobs, images }: ReplyParts): number {
  if (images === true) return IMAGES_BYTES_MAX;
  return logprobs ? LOGPROBS_BYTES_MAX : REPLY_BYTES_MAX;
}

function replyPartsOf({ request, showsReasoning, givesImages }: UpstreamCall): ReplyParts {
  const logprobs = request.parameters.logprobs === true;
  const texts = { logprobs, reasoning: showsReasoning };
  const parts = givesImages === true ? { ...texts, images: true } : texts;
  const tier = tierOf(request);
  return tier === "standard" ? parts : { ...parts, sent: { ...SENT_PLAINLY, tier } };
}

/** Requests a stream. Each read of its body that has content becomes a batch. */
export function streamUpstream(given: UpstreamCall): Batches {
  const call = fitted(given);
  const parts = replyPartsOf(call);
  const texts = streamBytesMax(call.request.maxTokens);
  const bytesMax = parts.images === true ? texts + IMAGES_BYTES_MAX : texts;
  const reply = new StreamedReply({ parts, bytesMax });
  return new UpstreamStream(call, { reply, requestOf: streamRequestOf, streamOf });
}

function streamRequestOf(call: UpstreamCall, signal: CancelSignal): UpstreamRequest {
  return requestOf(call, true, { signal });
}

function requestOf(
  call: UpstreamCall,
  stream: boolean,
  { limit, signal }: Pick<UpstreamRequest, "limit" | "signal">,
): UpstreamRequest {
  const { account, provider, fetch } = call;
  const { url, reply, events } = requestsTo(provider);
  const headers = stream ? events : reply;
  const body = bodyOf(call, stream);
  return { account, fetch, url, method: "POST", headers, body, limit, signal };
}

/** The common parts of all requests to a provider. */
interface ProviderRequests {
  readonly url: string;
  /** The headers for a whole reply, and for a stream. */
  readonly reply: Readonly<Record<string, string>>;
  readonly events: Readonly<Record<string, string>>;
}

const requests = new WeakMap<ProviderEntry, ProviderRequests>();

/**
 * The headers are made once for each provider, because the client keeps the text that it makes of
 * them.
 */
function requestsTo(provider: ProviderEntry): ProviderRequests {
  const known = requests.get(provider);
  if (known !== undefined) return known;
  const { baseUrl, apiKey } = provider;
  const headersFor = (accept: string) => ({
    "content-type": "application/json",
    accept,
    // Packing would hold a stream back, and a reply is short.
    "accept-encoding": "identity",
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
  });
  const made = {
    url: `${baseUrl}/chat/completions`,
    reply: headersFor("application/json"),
    events: headersFor("text/event-stream"),
  };
  requests.set(provider, made);
  return made;
}

function bodyOf({ provider, model, request, identifiers }: UpstreamCall, stream: boolean): string {
  const asksForUsage = stream && provider.quirks?.takesStreamOptions !== false;
  const extras = request.extras === undefined ? undefined : Object.fromEntries(request.extras);
  return JSON.stringify({
    ...extras,
    ...request.parameters,
    ...identifiers,
    model,
    messages: messagesOf(request),
    [provider.maxTokensField]: request.maxTokens,
    stream,
    stream_options: asksForUsage ? { include_usage: true } : undefined,
  });
}

function messagesOf({ messages, media, own }: ChatRequest): readonly object[] {
  const known = own?.form === "messages" ? messages.map(withoutHidden) : messages;
  return media === undefined ? known : known.map(toWire);
}

/** Some servers refuse a field that they do not know. */
function withoutHidden(message: ChatMessage): ChatMessage {
  const { tool_calls: calls } = message;
  if (calls?.some(({ hidden_extra }) => hidden_extra !== undefined) !== true) return message;
  return { ...message, tool_calls: calls.map(({ hidden_extra: _, ...call }) => call) };
}
