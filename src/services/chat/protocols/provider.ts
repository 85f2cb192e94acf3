// The interface between calls and the providers of chat completions.

import type { CancelSignal } from "../../../core/cancellation.ts";
import type { Prices } from "../../../core/money/call-cost.ts";
import type { NanoUsd } from "../../../core/money/money.ts";
import type { FeeCounts, Served, TokenUsage } from "../../../core/money/usage.ts";
import type { Json } from "../../../core/text/json.ts";
import type { RequestWatch } from "../../../upstream/fallback.ts";
import type { Content, MediaPart } from "../media/media-part.ts";
import type { GivenImage } from "../media/model-images.ts";
import type { ModelEntry, OtherUse } from "../models/catalogue.ts";
import type { RefusedFields } from "../refused-fields.ts";
import type { ReplyPiece } from "../usage/reply-usage.ts";
import type { GivenIdentifiers } from "./caller-identifiers.ts";

/** A checked message, ready to be forwarded, with known fields only. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Only messages of the user have parts. */
  readonly content: Content | null;
  readonly name?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly ToolCall[];
  /** The reasoning of the model, for models that show it. */
  readonly reasoning_content?: string;
}

export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  /** Data that the model's server needs again, such as a thought signature; not checked. */
  readonly extra_content?: Readonly<Record<string, unknown>>;
  /** Such data in a history of another form, which servers of chat's form do not get. */
  readonly hidden_extra?: Readonly<Record<string, unknown>>;
}

/** The forms of requests that a caller and an upstream may both speak, besides chat. */
export type OwnForm = "responses" | "messages" | "compaction";

/** A kind of thought in a history. */
export interface OwnThought {
  /** The name of its parts in `svc.ignored`. */
  readonly name: string;
  /** True if models that show their thoughts read its words, whatever server they are at. */
  readonly hasWords: boolean;
  /** True if models of the provider that sealed it read it at servers of other forms, too. */
  readonly isSealed: boolean;
}

/** A body as the caller sent it, with only the top-level fields that its door forwards. */
export interface OwnBody {
  readonly form: OwnForm;
  readonly body: Readonly<Record<string, unknown>>;
  /** The names of fields that have no effect with a server of another form. */
  readonly lost: readonly string[];
  /** The thoughts of the history, of which servers of other forms get only some; default: none. */
  readonly thoughts?: readonly OwnThought[];
  /** The names of parts that a server of this form does not get either; left out: none. */
  readonly unsent?: readonly string[];
  /** The names of fields that a server of another form cannot do without; it is not asked. */
  readonly only: readonly string[];
  /** Names of features that a server of this form switches on; left out: none. */
  readonly betas?: readonly string[];
  /** The most tokens of parts that only a server of this form can read; none by default. */
  readonly hiddenTokensMax?: number;
  /** True if no field of it tells a server an output limit, so that none can be lowered. */
  readonly hasNoLimit?: boolean;
  /** True if the request can write to a cache for an hour; false by default. */
  readonly hasLongWrites?: boolean;
}

export interface ChatRequest {
  /** For servers that speak the caller's form; others get the request itself (D-685). */
  readonly own?: OwnBody;
  readonly messages: readonly ChatMessage[];
  readonly maxTokens: number;
  /** True if the caller did not set `maxTokens`; then the model's context can reduce it. */
  readonly hasDefaultLimit?: boolean;
  /** Checked OpenAI parameters that are forwarded unchanged: temperature, tools, stop and so on. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Extra parameters, which are forwarded only to models that accept them. */
  readonly extras?: ReadonlyMap<string, unknown>;
  /** The caller's own identifiers, which no server gets as they are; left out: none. */
  readonly identifiers?: GivenIdentifiers;
  /** All images and PDFs of the messages; left out if they have none. */
  readonly media?: readonly MediaPart[];
  /** The caller's name for the conversation, from a header that the operator configured. */
  readonly session?: string;
  /** The fields of the caller's form that refusals name; left out: those of chat completions. */
  readonly fields?: RefusedFields;
}

/** Token counts, and the upstream's details about them. */
export interface ChatUsage extends TokenUsage {
  /** Parts of the output tokens, by OpenAI's names. */
  readonly outputDetails?: Readonly<Record<string, number>>;
  /** The way in which the upstream served the call; left out in a usage that we counted. */
  readonly served?: Served;
  /** The calls of the upstream's tools. */
  readonly fees?: FeeCounts;
  /** The price of the call by the upstream's own word. */
  readonly reportedCost?: NanoUsd;
  /** The billed pieces of the call, each with its own prices; left out: it is one plain piece. */
  readonly pieces?: readonly ReplyPiece[];
}

/** True if the last usage of a reply contradicts itself. Then the reply has none. */
export interface UsageFault {
  readonly hasWrongUsage?: boolean;
}

export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  /** The UTF-8 bytes of the token. */
  readonly bytes: readonly number[] | null;
}

/** The log probabilities of the tokens of a choice, and of their alternatives. */
export interface Logprobs {
  readonly content: LogprobTokens | null;
  readonly refusal: LogprobTokens | null;
}

type LogprobTokens = readonly (TokenLogprob & { readonly top_logprobs: readonly TokenLogprob[] })[];

export interface ChatChoice {
  readonly index: number;
  readonly message: {
    readonly role: "assistant";
    readonly content: string | null;
    /** The text of the reasoning, if the model shows it. */
    readonly reasoning_content?: string;
    /** The text with which the model refuses to answer. */
    readonly refusal?: string;
    /** The images of a model that gives them. */
    readonly images?: readonly GivenImage[];
    readonly tool_calls?: readonly ToolCall[];
  };
  readonly finish_reason: string;
  readonly logprobs?: Logprobs;
}

export interface ChatReply extends UsageFault {
  readonly choices: readonly ChatChoice[];
  /** Null if the upstream sent none, or an invalid one. */
  readonly usage: ChatUsage | null;
  /** The reply in the caller's form, if the server spoke it. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The configuration of the server that answered; null if it is not known. */
  readonly fingerprint?: string | null;
  /** The names of parameters that this server cannot serve, and did without. */
  readonly ignored?: readonly string[] | undefined;
}

/** The route that served a call. */
export interface ServedRoute {
  /** The name of its provider. */
  readonly lane: string;
  /** The operator's cost there; undefined if it is not configured. */
  readonly buying?: Prices | undefined;
  /** The names of parameters that it cannot serve, and did without. */
  readonly ignored?: readonly string[] | undefined;
}

/** A reply, and the route that served it. */
export interface ServedReply extends ChatReply, ServedRoute {}

export interface ChatDelta {
  readonly index: number;
  /**
   * `content`, `refusal`, `tool_calls`, `role` of the OpenAI chunk format, `reasoning_content` of a
   * model that shows it, and `images` of a model that gives them; nothing else.
   */
  readonly delta: Readonly<Record<string, unknown>>;
  readonly finish_reason: string | null;
  readonly logprobs?: Logprobs;
  /** The event in the caller's form, if the server speaks it; `delta` has only its text. */
  readonly event?: Readonly<Record<string, unknown>>;
  /** True for an event without text that shows that the reply has begun. */
  readonly begins?: boolean;
}

/**
 * The content of one read from the upstream: deltas in order, and the usage if it was sent. Empty
 * if there was only hidden reasoning: the upstream is alive.
 */
export interface ChatBatch extends UsageFault {
  readonly deltas: readonly ChatDelta[];
  readonly usage: ChatUsage | null;
  /** The configuration of the server that answers; null or undefined if this read has none. */
  readonly fingerprint?: string | null;
  /** The names of parameters that this server cannot serve, and does without. */
  readonly ignored?: readonly string[] | undefined;
}

/** A call of a model that serves no chat. */
export interface OtherCall<Reply> {
  readonly use: OtherUse;
  /** The body for its server, without the name of the model. */
  readonly body: Json;
  /** Reads the reply of the server. Throws a RouteFailure if it does not answer the body. */
  readonly read: (reply: Json) => Reply;
}

/** The reply to such a call, and the route that served it. */
export interface ServedOther<Reply> extends ServedRoute {
  readonly reply: Reply;
}

/** A started stream, and the route that serves it. */
export interface ServedStream extends AsyncIterable<ChatBatch>, ServedRoute {}

export interface ChatOptions {
  /** The caller's account: servers are shared fairly between accounts. */
  readonly account: string;
  /** Aborted when the caller is gone or a time limit is reached; ends the upstream request. */
  readonly signal: CancelSignal;
  /** Called before every request to a server; it may refuse the request. */
  readonly watch?: RequestWatch;
}

/**
 * Serves a model by its routes in order. All three functions throw an ApiError:
 * `upstream_unreachable` if no route answered, `invalid_parameter` if the request is invalid.
 */
export interface ChatProvider {
  complete(model: ModelEntry, request: ChatRequest, options: ChatOptions): Promise<ServedReply>;

  /**
   * Resolves once the first batch with a delta has arrived, so that an earlier failure is a plain
   * error. The iterator throws `upstream_unreachable` if the upstream breaks off later.
   */
  stream(model: ModelEntry, request: ChatRequest, options: ChatOptions): Promise<ServedStream>;

  /** Serves the calls of models that serve no chat. */
  serve<Reply>(
    model: ModelEntry,
    call: OtherCall<Reply>,
    options: ChatOptions,
  ): Promise<ServedOther<Reply>>;

  /** True if at least one route of the model would be tried now. */
  isHealthy(model: ModelEntry, account: string): boolean;
}
