// The interface between a call and whatever serves chat completions.

import type { TokenUsage } from "../../../core/pricing.ts";
import type { ModelEntry } from "../catalogue.ts";

/** A checked message, ready to be forwarded: only fields that the gateway knows. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | null;
  readonly name?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly ToolCall[];
}

export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly maxTokens: number;
  /** Whether the caller did not say it; then it is at most what the model's context has left. */
  readonly hasDefaultLimit?: boolean;
  /**
   * Checked OpenAI parameters that are forwarded as they are: temperature, tools, stop and so on.
   */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Parameters of the body that only some models take; forwarded to those. */
  readonly extras?: ReadonlyMap<string, unknown>;
}

/** Token counts, and what the upstream says of them besides. */
export interface ChatUsage extends TokenUsage {
  /** What the output tokens were spent on, by OpenAI's names: parts of them. */
  readonly outputDetails?: Readonly<Record<string, number>>;
}

export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  /** The UTF-8 bytes of the token. */
  readonly bytes: readonly number[] | null;
}

/** How probable the tokens of a choice were, and others in their place. */
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
    /** The text of its reasoning, of a model that shows it. */
    readonly reasoning_content?: string;
    /** What the model says instead of an answer. */
    readonly refusal?: string;
    readonly tool_calls?: readonly ToolCall[];
  };
  readonly finish_reason: string;
  readonly logprobs?: Logprobs;
}

export interface ChatReply {
  readonly choices: readonly ChatChoice[];
  /**
   * Null when the upstream sent none that makes sense: integers, not negative, cached <= prompt.
   */
  readonly usage: ChatUsage | null;
  /** Which configuration of the server answered; null if it does not say. */
  readonly fingerprint?: string | null;
}

/** A reply, and the server that gave it. */
export interface ServedReply extends ChatReply {
  readonly lane: string;
}

export interface ChatDelta {
  readonly index: number;
  /**
   * `content`, `refusal`, `tool_calls`, `role` of the OpenAI chunk format, and `reasoning_content`
   * of a model that shows it; nothing else.
   */
  readonly delta: Readonly<Record<string, unknown>>;
  readonly finish_reason: string | null;
  readonly logprobs?: Logprobs;
}

/** What one read from the upstream brought: deltas in order, and the usage once it is known. */
export interface ChatBatch {
  readonly deltas: readonly ChatDelta[];
  readonly usage: ChatUsage | null;
  /** Which configuration of the server answers; null or left out if it did not say it here. */
  readonly fingerprint?: string | null;
}

/** A started stream, and the server that it comes from. */
export interface ServedStream extends AsyncIterable<ChatBatch> {
  readonly lane: string;
}

export interface ChatOptions {
  /** The caller's account: servers are shared fairly between accounts. */
  readonly account: string;
  /** Aborted when the caller is gone or a time limit struck; the upstream request ends with it. */
  readonly signal: AbortSignal;
  /** Runs every request to a server; it may refuse to. Left out, nothing is around them. */
  readonly around?: <Result>(ask: () => Promise<Result>) => Promise<Result>;
}

/**
 * Serves a model by its routes in order. Both verbs throw an ApiError: `upstream_unreachable` when
 * no route answered, `invalid_parameter` when the upstream blames the request.
 */
export interface ChatProvider {
  complete(model: ModelEntry, request: ChatRequest, options: ChatOptions): Promise<ServedReply>;

  /**
   * Resolves once the first batch with a delta has arrived, so that a failure before it is a plain
   * error. The iterator throws `upstream_unreachable` when the upstream breaks off later.
   */
  stream(model: ModelEntry, request: ChatRequest, options: ChatOptions): Promise<ServedStream>;

  /** Whether a route of the model would be tried now, by all that is known of its servers. */
  isHealthy(model: ModelEntry, account: string): boolean;
}
