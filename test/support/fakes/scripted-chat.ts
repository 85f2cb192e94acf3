import type { CancelSignal } from "../../../src/core/cancellation.ts";
import { ApiError } from "../../../src/core/errors.ts";
import type { TokenUsage } from "../../../src/core/money/usage.ts";
import type { ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import type {
  ChatBatch,
  ChatOptions,
  ChatProvider,
  ChatReply,
  ChatRequest,
  OtherCall,
  ServedOther,
  ServedReply,
  ServedStream,
} from "../../../src/services/chat/protocols/provider.ts";
import { moderationOf, replyTo } from "./fake-vectors.ts";

/** The name of the server that serves everything. */
export const LANE = "scripted";

export const USAGE: TokenUsage = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };

/** Serves the test's batches, one by one, and remembers its requests. */
export class ScriptedChat implements ChatProvider {
  readonly requests: ChatRequest[] = [];
  /** The number of requests in progress. */
  open = 0;
  /** The number of aborted requests. */
  aborted = 0;
  /** The number of pulls after the first batch: each means that the batch before was taken. */
  pulls = 0;
  reply: (request: ChatRequest, options: ChatOptions) => Promise<ChatReply> = helloReply;
  batches: (request: ChatRequest, options: ChatOptions) => AsyncIterable<ChatBatch> = helloBatches;

  /** The models asked, in order. */
  readonly asked: string[] = [];
  /** Models whose servers are known to be away. */
  readonly away = new Set<string>();
  /** Models of which no route answers. */
  readonly mute = new Set<string>();

  /** Resets the script to its start. Requests in progress go on. */
  reset(): void {
    this.requests.length = 0;
    this.asked.length = 0;
    this.aborted = 0;
    this.pulls = 0;
    this.reply = helloReply;
    this.batches = helloBatches;
    this.away.clear();
    this.mute.clear();
  }

  isHealthy(model: ModelEntry): boolean {
    return !this.away.has(model.id);
  }

  async complete(
    model: ModelEntry,
    request: ChatRequest,
    options: ChatOptions,
  ): Promise<ServedReply> {
    options.watch?.begin();
    this.#note(model, request, options);
    this.open++;
    try {
      return { ...(await this.reply(request, options)), lane: LANE };
    } finally {
      this.open--;
      options.watch?.end();
    }
  }

  async stream(
    model: ModelEntry,
    request: ChatRequest,
    options: ChatOptions,
  ): Promise<ServedStream> {
    this.#note(model, request, options);
    const iterator = this.batches(request, options)[Symbol.asyncIterator]();
    this.open++;
    try {
      const first = await iterator.next();
      if (first.done) throw new ApiError("upstream_unreachable", "The model sent nothing");
      return Object.assign(this.#all(first.value, iterator), { lane: LANE });
    } catch (error) {
      this.open--;
      throw error;
    }
  }

  async serve<Reply>(
    { id }: ModelEntry,
    { use, body, read }: OtherCall<Reply>,
  ): Promise<ServedOther<Reply>> {
    this.asked.push(id);
    return { reply: read(use === "moderation" ? moderationOf() : replyTo(body)), lane: LANE };
  }

  async *#all(
    first: ChatBatch,
    rest: AsyncIterator<ChatBatch>,
  ): AsyncGenerator<ChatBatch, void, undefined> {
    try {
      yield first;
      for (;;) {
        this.pulls++;
        const { done, value } = await rest.next();
        if (done) return;
        yield value;
      }
    } finally {
      this.open--;
    }
  }

  #note({ id }: ModelEntry, request: ChatRequest, { signal }: ChatOptions): void {
    this.asked.push(id);
    if (this.mute.has(id)) throw new ApiError("upstream_unreachable", `No route of ${id} answers`);
    this.requests.push(request);
    signal.addEventListener("abort", () => this.aborted++);
  }
}

const helloReply = async () => wholeReply("Hello");
const helloBatches = () => batchesOf([textBatch("Hello"), endBatch(USAGE)]);

export function wholeReply(content: string, usage: TokenUsage | null = USAGE): ChatReply {
  return {
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage,
  };
}

export function textBatch(content: string): ChatBatch {
  return { deltas: [{ index: 0, delta: { content }, finish_reason: null }], usage: null };
}

export function endBatch(usage: TokenUsage | null, reason = "stop"): ChatBatch {
  return { deltas: [{ index: 0, delta: {}, finish_reason: reason }], usage };
}

export async function* batchesOf(batches: readonly ChatBatch[]): AsyncGenerator<ChatBatch> {
  yield* batches;
}

/** Waits until the signal aborts, as a request to a silent server does. */
export function silence(signal: CancelSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail);
  });
}
