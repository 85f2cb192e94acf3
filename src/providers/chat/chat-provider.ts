// Serves a model by its routes in order: the first that answers does, and one that is known to be
// down is passed over.

import type { Catalogue, ModelEntry, ProviderEntry } from "../../core/catalogue.ts";
import { ApiError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { Breaker, type Leaving } from "./breaker.ts";
import type { Guide } from "./guide.ts";
import {
  completeUpstream,
  type Fetch,
  streamUpstream,
  type UpstreamCall,
} from "./openai-provider.ts";
import type { ChatBatch, ChatOptions, ChatProvider, ChatReply, ChatRequest } from "./provider.ts";
import { RouteFailure } from "./route-failure.ts";

export interface ChatProviderDeps {
  readonly catalogue: () => Catalogue;
  readonly guide: Guide;
  readonly fetch: Fetch;
  readonly monotonicMs: () => number;
  readonly log: Log;
}

type Leave = (result: Leaving) => void;
type Attempt<Result> = (provider: ProviderEntry, upstreamModel: string) => Promise<Result>;

export function createChatProvider(deps: ChatProviderDeps): ChatProvider {
  const routes = new Routes(deps);

  async function complete(
    model: ModelEntry,
    request: ChatRequest,
    { signal }: ChatOptions,
  ): Promise<ChatReply> {
    const { result, leave } = await routes.first<ChatReply>(
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
    const { result, leave } = await routes.first(model, signal, async (provider, upstreamModel) => {
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

/** Finds a route that answers. It knows which providers are full, or were given up for now. */
class Routes {
  readonly #deps: ChatProviderDeps;
  readonly #breakers = new Map<string, Breaker>();

  constructor(deps: ChatProviderDeps) {
    this.#deps = deps;
  }

  /** Tries the routes in order. What holds a place gives it back through `leave`. */
  async first<Result>(
    model: ModelEntry,
    signal: AbortSignal,
    attempt: Attempt<Result>,
  ): Promise<{ result: Result; leave: Leave }> {
    const { catalogue, log } = this.#deps;
    let cause: unknown;
    for (const route of model.routes) {
      const provider = catalogue().providers.get(route.provider);
      const place = provider && this.#breakerOf(provider).enter(provider.concurrencyMax);
      if (!provider || !place) continue;
      try {
        const result = await attempt(provider, route.model);
        place.answered();
        return { result, leave: place.leave };
      } catch (error) {
        const isCallers = signal.aborted || error instanceof ApiError;
        const isWell = error instanceof RouteFailure && !error.blamesServer;
        place.leave(isCallers || isWell ? "neither" : "failed");
        if (isCallers) throw error;
        log.warn({ provider: provider.name, model: model.id, err: error }, "A route failed");
        cause = error;
      }
    }
    const message = `The model '${model.id}' does not answer right now`;
    throw new ApiError("upstream_unreachable", message, { cause });
  }

  #breakerOf(provider: ProviderEntry): Breaker {
    const name = `${provider.name} ${provider.baseUrl}`;
    const breaker = this.#breakers.get(name) ?? new Breaker(this.#deps.monotonicMs);
    this.#breakers.set(name, breaker);
    return breaker;
  }
}

function callOf(deps: ChatProviderDeps, call: Omit<UpstreamCall, "fetch">): UpstreamCall {
  return { ...call, fetch: deps.fetch };
}

interface Started {
  readonly first: ChatBatch;
  readonly rest: AsyncIterator<ChatBatch>;
}

/** Waits for the first batch with a delta: whatever fails before it is still this route's. */
async function withFirst(rest: AsyncIterator<ChatBatch>): Promise<Started> {
  let usage: ChatBatch["usage"] = null;
  for (;;) {
    const { done, value } = await rest.next();
    if (done) throw new RouteFailure("The stream ended before its first chunk");
    usage = value.usage ?? usage;
    if (value.deltas.length > 0) return { first: { ...value, usage }, rest };
  }
}

/** A started stream. Whichever way it ends, its place is given back, even if nobody reads it. */
class Relay implements AsyncIterableIterator<ChatBatch> {
  readonly #rest: AsyncIterator<ChatBatch>;
  readonly #model: ModelEntry;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => void this.return().catch(() => {});
  #first: ChatBatch | null;
  #leave: ((result: Leaving) => void) | null;
  #wasAborted = false;

  constructor(started: Started, call: { model: ModelEntry; signal: AbortSignal; leave: Leave }) {
    this.#first = started.first;
    this.#rest = started.rest;
    this.#model = call.model;
    this.#signal = call.signal;
    this.#leave = call.leave;
    call.signal.addEventListener("abort", this.#onAbort);
    if (call.signal.aborted) this.#onAbort();
  }

  async next(): Promise<IteratorResult<ChatBatch>> {
    if (this.#wasAborted) throw brokenOff(this.#signal.reason);
    const first = this.#first;
    if (first !== null) {
      this.#first = null;
      return { done: false, value: plausible(first, this.#model) };
    }
    try {
      const { done, value } = await this.#rest.next();
      if (!done) return { done: false, value: plausible(value, this.#model) };
      this.#end("ok");
      return { done: true, value: undefined };
    } catch (error) {
      this.#end("failed");
      throw brokenOff(error);
    }
  }

  async return(): Promise<IteratorResult<ChatBatch>> {
    this.#end("neither");
    this.#first = null;
    await this.#rest.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** An abort, which is the caller's, is heard here before anything fails of it. */
  #end(result: Leaving): void {
    if (this.#leave === null) return;
    this.#wasAborted = this.#signal.aborted;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#leave(this.#wasAborted ? "neither" : result);
    this.#leave = null;
  }
}

function brokenOff(cause: unknown): ApiError {
  return new ApiError("upstream_unreachable", "The model stopped answering in the middle", {
    cause,
  });
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
