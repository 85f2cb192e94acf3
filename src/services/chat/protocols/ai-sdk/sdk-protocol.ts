// The one adapter for protocols that are a package of the language-model specification V4 (D-674).

import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { ApiError } from "../../../../core/errors.ts";
import type { Taker } from "../../../../core/taker.ts";
import { isObject } from "../../../../core/text/json.ts";
import { RouteFailure, UnableFailure } from "../../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../../upstream/time-limit.ts";
import { Batches } from "../batches.ts";
import { IdleTimeout } from "../idle-timeout.ts";
import { replyFailure } from "../openai/refuse-call.ts";
import { readError, tellsError } from "../openai/reply-error.ts";
import { streamBytesMax } from "../openai/streamed-reply.ts";
import { choiceOf } from "../openai/whole-reply.ts";
import type { Protocol, UpstreamCall } from "../protocol.ts";
import type { ChatBatch, ChatReply } from "../provider.ts";
import { IMAGES_BYTES_MAX, REPLY_BYTES_MAX } from "../upstream-stream.ts";
import { toSdkRequest } from "./call-options.ts";
import type { SdkForm } from "./sdk-form.ts";
import { reportedIn, SdkReply } from "./sdk-reply.ts";
import { SdkTransport } from "./sdk-transport.ts";

/** The protocol of a form, or of several by the name of the model. */
export function sdkProtocol(form: SdkForm | ((model: string) => SdkForm)): Protocol {
  const formOf = typeof form === "function" ? form : () => form;
  return {
    complete: (call) => complete(formOf(call.model), call),
    stream: (call) => new SdkStream(formOf(call.model), call),
  };
}

async function complete(form: SdkForm, call: UpstreamCall): Promise<ChatReply> {
  const { options, ignored } = await toSdkRequest(call, form);
  const limit = new TimeLimit(call.provider.replyTimeoutMs, call.signal);
  const bytesMax = call.givesImages === true ? IMAGES_BYTES_MAX : REPLY_BYTES_MAX;
  const transport = new SdkTransport(call, form, { limit, bytesMax });
  try {
    const model = await form.open(call, transport.fetch);
    const { content, warnings, response, ...ended } = await model.doGenerate(options);
    throwIfError(response?.body, call);
    const reply = new SdkReply(form, call, ignored);
    reply.read({ type: "stream-start", warnings });
    const chunks = content.flatMap((part, at) => reply.readContent(part, at));
    reply.noteModel(response?.modelId, response?.body);
    reply.read({ type: "finish", ...ended });
    const deltas = chunks.flatMap((chunk) => chunk?.delta ?? []);
    const choices = [choiceOf([...deltas, reply.end()])];
    return { choices, ...reply.counted, ignored: reply.ignored };
  } catch (error) {
    throw transportFailureOf(error, transport, call);
  } finally {
    limit.end();
  }
}

/** Some packages take a body that has nothing but an error for an empty reply. */
function throwIfError(body: unknown, call: UpstreamCall): void {
  const error = isObject(body) && tellsError(body.error) ? readError(body) : null;
  if (error !== null) throw replyFailure(error, call);
}

/** The meaning of an error that a package throws. */
function transportFailureOf(
  error: unknown,
  { failure }: SdkTransport,
  call: UpstreamCall,
): unknown {
  if (failure !== null) return failure.reason;
  if (error instanceof RouteFailure || error instanceof ApiError) return error;
  const name = error instanceof Error ? error.name : "unknown";
  if (UNSUPPORTED.has(name)) {
    // The error of the package may quote the prompt, which no log may have.
    const message = "The model does not support a part of this request";
    return new UnableFailure(new ApiError("invalid_parameter", message));
  }
  return reportedIn(error, call) ?? new RouteFailure(`The reply cannot be read (${name})`);
}

/** The packages' errors about a request that they cannot convert. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  "AI_InvalidArgumentError",
  "AI_InvalidPromptError",
  "AI_UnsupportedFunctionalityError",
]);

/** The reader of a package's stream, whose types differ between the platforms. */
interface PartReader {
  read(): Promise<{ readonly value?: LanguageModelV4StreamPart | undefined }>;
  cancel(): Promise<void>;
}

/** Requests a stream. Each part with a delta becomes a batch. */
class SdkStream extends Batches {
  readonly #form: SdkForm;
  readonly #call: UpstreamCall;
  readonly #timeout: IdleTimeout;
  readonly #transport: SdkTransport;
  #reader: PartReader | null = null;
  #reply: SdkReply | null = null;
  #isOver = false;

  constructor(form: SdkForm, call: UpstreamCall) {
    super();
    this.#form = form;
    this.#call = call;
    this.#timeout = new IdleTimeout(call.signal, call.provider);
    this.#transport = new SdkTransport(call, form, {
      signal: this.#timeout.signal,
      bytesMax:
        streamBytesMax(call.request.maxTokens) + (call.givesImages === true ? IMAGES_BYTES_MAX : 0),
    });
  }

  override pull(taker: Taker<ChatBatch>): void {
    if (this.#isOver) taker.end();
    else void this.#next(taker);
  }

  override cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timeout.end();
    // The errors of a cancelled stream have no reader.
    this.#reader?.cancel().catch(() => {});
  }

  async #next(taker: Taker<ChatBatch>): Promise<void> {
    let batch: ChatBatch;
    try {
      this.#timeout.isWaiting = true;
      batch = await this.#batch();
      this.#timeout.isWaiting = false;
    } catch (error) {
      const { signal } = this.#timeout;
      const reason = signal.aborted
        ? signal.reason
        : transportFailureOf(error, this.#transport, this.#call);
      this.cancel();
      taker.fail(reason);
      return;
    }
    taker.take(batch);
  }

  async #batch(): Promise<ChatBatch> {
    this.#reply ??= await this.#open();
    const { ignored } = this.#reply;
    for (;;) {
      const part = await this.#part();
      const chunk = this.#reply.read(part);
      if (chunk?.hasChoice === true) this.#timeout.onData();
      if (this.#reply.isFinished) return this.#last(this.#reply);
      if (chunk === null) continue;
      const { delta, isThought } = chunk;
      if (delta !== null) return { deltas: [delta], usage: null, ignored };
      if (isThought) return { deltas: [], usage: null, ignored };
    }
  }

  async #open(): Promise<SdkReply> {
    const { options, ignored } = await toSdkRequest(this.#call, this.#form);
    const model = await this.#form.open(this.#call, this.#transport.fetch);
    const includeRawChunks = this.#form.servedModel !== undefined;
    const { stream } = await model.doStream({ ...options, includeRawChunks });
    this.#reader = stream.getReader();
    return new SdkReply(this.#form, this.#call, ignored);
  }

  async #part(): Promise<LanguageModelV4StreamPart> {
    const next = await this.#reader?.read();
    if (next?.value !== undefined) return next.value;
    throw new RouteFailure("The stream ended before the reply did");
  }

  #last(reply: SdkReply): ChatBatch {
    this.cancel();
    return { deltas: [reply.end()], ...reply.counted, ignored: reply.ignored };
  }
}
