// Reads the parts of a package's reply by the reader of OpenAI-compatible replies, so that both
// paths have one vocabulary, one way of counting and one way of hiding thoughts.

import type {
  LanguageModelV4Content,
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from "@ai-sdk/provider";
import type { ApiError } from "../../../../core/errors.ts";
import { isObject, type Json, jsonOrNull } from "../../../../core/text/json.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import { type RequestTier, TIER_FIELD, tierOf } from "../../request-tier.ts";
import { objectIn } from "../../usage/reply-usage.ts";
import type { RefusedCall } from "../openai/caller-fault.ts";
import { readFinish } from "../openai/finish-reason.ts";
import { replyFailure } from "../openai/refuse-call.ts";
import { readError } from "../openai/reply-error.ts";
import { type ReadChunk, type ReplyParts, ReplyReader } from "../openai/reply-reader.ts";
import type { UpstreamCall } from "../protocol.ts";
import type { ChatDelta, ChatUsage, UsageFault } from "../provider.ts";
import { ignoredBy } from "./call-options.ts";
import type { SdkForm } from "./sdk-form.ts";
import { extraOf, type Thought } from "./thoughts.ts";

/** A chunk that only says that the model is at work. */
const ALIVE: ReadChunk = {
  delta: null,
  fingerprint: null,
  hasChoice: true,
  isThought: true,
  onlyText: null,
};

type FinishPart = Extract<LanguageModelV4StreamPart, { readonly type: "finish" }>;

interface OpenCall {
  readonly index: number;
  hasInput: boolean;
}

/** The state of one reply, part by part. */
export class SdkReply {
  readonly #form: SdkForm;
  readonly #refused: RefusedCall;
  readonly #askedTier: RequestTier;
  readonly #parts: ReplyParts;
  readonly #reader: ReplyReader;
  readonly #calls = new Map<string, OpenCall>();
  readonly #openThoughts = new Map<string, Thought>();
  /** The thoughts since the last tool call. */
  #thoughts: Thought[] = [];
  /** The names of parameters that had no effect. */
  readonly ignored: string[];
  #model: string | null = null;
  /** True once the part that ends the reply has come. */
  isFinished = false;

  constructor(form: SdkForm, call: UpstreamCall, ignored: readonly string[]) {
    const { provider, model, publicId, fields, request } = call;
    const { showsReasoning, givesImages = false } = call;
    const parts = { logprobs: false, reasoning: showsReasoning, images: givesImages };
    this.#form = form;
    // An open stream keeps nothing else of the call.
    this.#refused = { provider, model, publicId, ...(fields !== undefined && { fields }) };
    this.#askedTier = tierOf(request);
    this.#parts = parts;
    this.#reader = new ReplyReader(parts);
    this.ignored = [...ignored];
  }

  /** The usage, which is null if the reply has none, or an invalid one. */
  get counted(): { readonly usage: ChatUsage | null } & UsageFault {
    const { usage, hasWrongUsage } = this.#reader;
    return hasWrongUsage ? { usage, hasWrongUsage } : { usage };
  }

  /** The last delta, with the finish_reason. */
  end(): ChatDelta {
    return this.#reader.end();
  }

  /** Null for a part without meaning here. Throws a RouteFailure for one that is an error. */
  read(part: LanguageModelV4StreamPart): ReadChunk | null {
    switch (part.type) {
      case "stream-start":
        this.#note(part.warnings.map(ignoredBy));
        return null;
      case "response-metadata":
        this.noteModel(part.modelId, null);
        return null;
      case "raw":
        this.noteModel(undefined, part.rawValue);
        return null;
      case "text-delta":
        return this.#delta({ content: part.delta });
      case "reasoning-start":
        this.#openThoughts.set(part.id, { text: "", metadata: part.providerMetadata });
        return null;
      case "reasoning-delta":
        return this.#think(part.id, part.delta, part.providerMetadata);
      case "reasoning-end":
        this.#closeThought(part.id, part.providerMetadata);
        return null;
      case "tool-input-start":
        return part.providerExecuted === true ? null : this.#beginCall(part.id, part.toolName);
      case "tool-input-delta":
        return this.#continueCall(part.id, part.delta);
      case "tool-call":
        return part.providerExecuted === true ? null : this.#endCall(part);
      case "file":
        return this.#delta({ images: [imageOf(part)] });
      case "finish":
        return this.#finish(part);
      case "ping":
        return ALIVE;
      case "error":
        throw failureIn(part.error, this.#refused);
      default:
        return null;
    }
  }

  /** Notes the model that served, by the package's word or in a raw body (D-968). */
  noteModel(model: string | undefined, body: unknown): void {
    this.#model = (isObject(body) ? this.#form.servedModel?.(body) : null) ?? model ?? this.#model;
  }

  #finish({ finishReason, usage: { raw }, providerMetadata }: FinishPart): ReadChunk {
    this.isFinished = true;
    const chunk = this.#reader.read({
      choices: [{ index: 0, delta: {}, finish_reason: finishReasonOf(finishReason) }],
    });
    const { hasOutput } = this.#reader;
    const metadata = objectIn(providerMetadata, this.#form.optionsName);
    const ended = { finishReason, hasOutput, tier: this.#tier, metadata, model: this.#model };
    const usage = raw === undefined ? null : this.#form.usage(raw, ended);
    if (usage !== null) this.#reader.takeUsage(usage);
    return chunk;
  }

  /** Converts a part of a whole reply into the parts of a stream with the same content. */
  readContent(content: LanguageModelV4Content, at: number): readonly (ReadChunk | null)[] {
    const id = String(at);
    switch (content.type) {
      case "text":
        return [this.#delta({ content: content.text })];
      case "reasoning": {
        const { text: delta, providerMetadata } = content;
        const chunk = this.#think(id, delta, providerMetadata);
        this.#closeThought(id, undefined);
        return [chunk];
      }
      case "tool-call":
      case "file":
        return [this.read(content)];
      default:
        return [];
    }
  }

  #note(names: readonly string[]): void {
    for (const name of names) if (!this.ignored.includes(name)) this.ignored.push(name);
  }

  /** The tier that the provider was asked for, which some packages leave out. */
  get #tier(): RequestTier {
    return this.ignored.includes(TIER_FIELD) ? "standard" : this.#askedTier;
  }

  #delta(delta: Json): ReadChunk {
    return this.#reader.read({ choices: [{ index: 0, delta }] });
  }

  #think(id: string, text: string, metadata: unknown): ReadChunk {
    const thought = this.#openThoughts.get(id) ?? { text: "", metadata };
    this.#openThoughts.set(id, thought);
    thought.metadata = metadata ?? thought.metadata;
    // The signature alone brings the thought back: callers must not get a hidden text in it.
    if (this.#parts.reasoning) thought.text += text;
    return text === "" ? ALIVE : this.#delta({ reasoning_content: text });
  }

  #closeThought(id: string, metadata: unknown): void {
    const thought = this.#openThoughts.get(id);
    if (thought === undefined) return;
    this.#openThoughts.delete(id);
    this.#thoughts.push({ ...thought, metadata: metadata ?? thought.metadata });
  }

  #beginCall(id: string, name: string): ReadChunk {
    const index = this.#calls.size;
    this.#calls.set(id, { index, hasInput: false });
    return this.#call({ index, id, function: { name, arguments: "" } });
  }

  #continueCall(id: string, input: string): ReadChunk | null {
    const call = this.#calls.get(id);
    if (call === undefined || input === "") return null;
    call.hasInput = true;
    return this.#call({ index: call.index, function: { arguments: input } });
  }

  /** The whole call. Of a call that was streamed, only its missing parts are new. */
  #endCall({ toolCallId, toolName, input, providerMetadata }: LanguageModelV4ToolCall): ReadChunk {
    const extra = extraOf(providerMetadata, this.#thoughts, this.#form);
    this.#thoughts = [];
    const open = this.#calls.get(toolCallId);
    const more = extra === null ? {} : { extra_content: extra };
    if (open !== undefined) {
      const rest = open.hasInput ? "" : input;
      return this.#call({ index: open.index, function: { arguments: rest }, ...more });
    }
    const index = this.#calls.size;
    this.#calls.set(toolCallId, { index, hasInput: true });
    return this.#call({
      index,
      id: toolCallId,
      function: { name: toolName, arguments: input },
      ...more,
    });
  }

  #call(call: Json): ReadChunk {
    return this.#delta({ tool_calls: [call] });
  }
}

/** A file of a reply; a reader takes those that are whole images. */
function imageOf({ mediaType, data }: LanguageModelV4File): Json {
  if (data.type !== "data") return {};
  const base64 =
    typeof data.data === "string" ? data.data : Buffer.from(data.data).toString("base64");
  return { type: "image_url", image_url: { url: `data:${mediaType};base64,${base64}` } };
}

const ENDS: Readonly<Partial<Record<LanguageModelV4FinishReason["unified"], string>>> = {
  stop: "stop",
  "tool-calls": "stop",
  length: "length",
  "content-filter": "content_filter",
  error: "error",
};

/** The end in OpenAI's words. Throws a RouteFailure if the provider named none. */
function finishReasonOf({ unified, raw }: LanguageModelV4FinishReason): string {
  const end = ENDS[unified] ?? readFinish(raw);
  if (end === null || unified === "interrupted") {
    throw new RouteFailure("The stream ended before the reply did");
  }
  return end;
}

/** The meaning of an error part, in any of the forms in which packages hand it on. */
function failureIn(error: unknown, call: RefusedCall): ApiError | RouteFailure {
  const name = error instanceof Error ? ` (${error.name})` : "";
  return reportedIn(error, call) ?? new RouteFailure(`The reply is an error${name}`);
}

/** The meaning of the error that a package read in a reply; null if it read none. */
export function reportedIn(error: unknown, call: RefusedCall): ApiError | RouteFailure | null {
  const known = isObject(error) ? errorIn(error) : null;
  return known === null ? null : replyFailure(known, call);
}

function errorIn(error: Json) {
  const { data, value, responseBody } = error;
  // The value is an event that the package does not know.
  const body = [data, value].find(isObject) ?? jsonOrNull(String(responseBody ?? ""));
  return readError(body) ?? (error instanceof Error ? null : readError({ error }));
}
