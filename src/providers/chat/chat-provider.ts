// Serves a model by its routes in order: the first that answers does, and one that is known to be down
// is passed over.

import type { Catalogue, ModelEntry, ProviderEntry } from "../../core/catalogue.ts";
import { ApiError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { Breaker } from "./breaker.ts";
import type { Guide } from "./guide.ts";
import {
  completeUpstream,
  type Fetch,
  streamUpstream,
  type UpstreamCall,
} from "./openai-provider.ts";
import type { ChatBatch, ChatOptions, ChatProvider, ChatReply, ChatRequest } from "./provider.ts";

export interface ChatProviderDeps {
  readonly catalogue: () => Catalogue;
  readonly guide: Guide;
  readonly fetch: Fetch;
  readonly monotonicMs: () => number;
  readonly log: Log;
}

type Leaving = "ok" | "failed" | "neither";
type Leave = (result: Leaving) => void;
type Attempt<Result> = (provider: ProviderEntry, upstreamModel: string) => Promise<Result>;

export function createChatProvider(deps: ChatProviderDeps): ChatProvider {
  const breakers = new Map<string, Breaker>();

  function breakerOf(provider: ProviderEntry): Breaker {
    const name = `${provider.name} ${provider.baseUrl}`;
    const breaker = breakers.get(name) ?? new Breaker(deps.monotonicMs);
    breakers.set(name, breaker);
    return breaker;
  }

  /** Tries the routes in order. What holds a place gives it back through `leave`. */
  async function firstRoute<Result>(
    model: ModelEntry,
    signal: AbortSignal,
    attempt: Attempt<Result>,
  ): Promise<{ result: Result; leave: Leave }> {
    let cause: unknown;
    for (const route of model.routes) {
      const provider = deps.catalogue().providers.get(route.provider);
      const place = provider && breakerOf(provider).enter(provider.concurrencyMax);
      if (!provider || !place) continue;
      try {
        return { result: await attempt(provider, route.model), leave: place.leave };
      } catch (error) {
        const isCallers = signal.aborted || error instanceof ApiError;
        place.leave(isCallers ? "neither" : "failed");
        if (isCallers) throw error;
        deps.log.warn({ provider: provider.name, model: model.id, err: error }, "A route failed");
        cause = error;
      }
    }
    throw new ApiError(
      "upstream_unreachable",
      `The model '${model.id}' does not answer right now`,
      {
        cause,
      },
    );
  }

  async function complete(
    model: ModelEntry,
    request: ChatRequest,
    { signal }: ChatOptions,
  ): Promise<ChatReply> {
    const { result, leave } = await firstRoute<ChatReply>(
      model,
      signal,
      (provider, upstreamModel) =>
        provider.kind === "guide"
          ? deps.guide.complete(request, { signal })
          : completeUpstream(callOf(deps, { provider, model: upstreamModel, request, signal })),
    );
    leave("ok");
    return plausible(result, model);
  }

  async function stream(
    model: ModelEntry,
    request: ChatRequest,
    { signal }: ChatOptions,
  ): Promise<AsyncIterable<ChatBatch>> {
    const { result, leave } = await firstRoute(model, signal, async (provider, upstreamModel) => {
      const batches =
        provider.kind === "guide"
          ? deps.guide.stream(request, { signal })
          : streamUpstream(callOf(deps, { provider, model: upstreamModel, request, signal }));
      return await withFirst(batches[Symbol.asyncIterator]());
    });
    return new Relay(result, { model, signal, leave });
  }

  return { complete, stream };
}

function callOf(deps: ChatProviderDeps, call: Omit<UpstreamCall, "fetch">): UpstreamCall {
  return { ...call, fetch: deps.fetch };
}

interface Started {
  readonly first: ChatBatch[];
  readonly rest: AsyncIterator<ChatBatch>;
}

/** Waits for the first batch with a delta, so that whatever fails before it is still this route's. */
async function withFirst(rest: AsyncIterator<ChatBatch>): Promise<Started> {
  const first: ChatBatch[] = [];
  for (;;) {
    const { done, value } = await rest.next();
    if (done) throw new Error("The stream ended before its first chunk");
    first.push(value);
    if (value.deltas.length > 0) return { first, rest };
  }
}

/** A started stream. Whichever way it ends, its place is given back, even if nobody ever reads it. */
class Relay implements AsyncIterableIterator<ChatBatch> {
  readonly #started: Started;
  readonly #model: ModelEntry;
  readonly #signal: AbortSignal;
  #leave: ((result: Leaving) => void) | null;

  constructor(started: Started, call: { model: ModelEntry; signal: AbortSignal; leave: Leave }) {
    this.#started = started;
    this.#model = call.model;
    this.#signal = call.signal;
    this.#leave = call.leave;
  }

  async next(): Promise<IteratorResult<ChatBatch>> {
    const first = this.#started.first.shift();
    if (first !== undefined) return { done: false, value: plausible(first, this.#model) };
    try {
      const { done, value } = await this.#started.rest.next();
      if (!done) return { done: false, value: plausible(value, this.#model) };
      this.#end("ok");
      return { done: true, value: undefined };
    } catch (error) {
      this.#end(this.#signal.aborted ? "neither" : "failed");
      throw new ApiError("upstream_unreachable", "The model stopped answering in the middle", {
        cause: error,
      });
    }
  }

  async return(): Promise<IteratorResult<ChatBatch>> {
    this.#end("neither");
    await this.#started.rest.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(result: Leaving): void {
    this.#leave?.(result);
    this.#leave = null;
  }
}

/** Drops a usage that no call of this model can have. */
function plausible<Reply extends { readonly usage: ChatBatch["usage"] }>(
  reply: Reply,
  model: ModelEntry,
): Reply {
  const { usage } = reply;
  if (usage === null) return reply;
  const isPossible =
    usage.promptTokens <= model.contextTokens && usage.completionTokens <= model.contextTokens;
  return isPossible ? reply : { ...reply, usage: null };
}
