// Serves a model by the first of its routes that answers. Routes that are known to be down are
// skipped.

import type { CancelSignal } from "../../../core/cancellation.ts";
import { ApiError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import type { Taker } from "../../../core/taker.ts";
import type { UpstreamMeter } from "../../../core/upstream-meter.ts";
import type { AttemptResult } from "../../../upstream/breaker.ts";
import {
  Fallback,
  type FallbackDeps,
  failureResult,
  type Question,
  type Served,
  type ServerUse,
} from "../../../upstream/fallback.ts";
import { AccessFailure, RouteFailure } from "../../../upstream/route-failure.ts";
import type { UpstreamBoard } from "../../../upstream/upstream-board.ts";
import type { Fetch } from "../../../upstream/upstream-http.ts";
import { isAddress } from "../media/media-part.ts";
import type { ChatCatalogue, ModelEntry, ProviderEntry } from "../models/catalogue.ts";
import { hasTier } from "../request-tier.ts";
import { hasOutput, usageAfter } from "../tokens/token-meter.ts";
import { Batches, pullable } from "./batches.ts";
import type { CallerIdentifiers } from "./caller-identifiers.ts";
import { acceptedRequest, REASONING_FIELD } from "./chat-extras.ts";
import type { Guide } from "./guide/guide.ts";
import { askOther } from "./other-calls.ts";
import type { OwnProtocol, Protocol, UpstreamCall } from "./protocol.ts";
import { type ProtocolDeps, type Protocols, protocolsOf } from "./protocols.ts";
import type {
  ChatBatch,
  ChatDelta,
  ChatOptions,
  ChatProvider,
  ChatRequest,
  OtherCall,
  OwnBody,
  ServedOther,
  ServedReply,
  ServedRoute,
  ServedStream,
} from "./provider.ts";
import { type ReplyMode, type RouteToAsk, type StickyCall, StickyRoutes } from "./sticky-routes.ts";
import { unsupported } from "./unsupported.ts";

export interface ChatProviderDeps {
  readonly catalogue: () => ChatCatalogue;
  readonly guide: Guide;
  readonly identifiers: CallerIdentifiers;
  readonly fetch: Fetch;
  readonly clock: FallbackDeps["clock"] & ProtocolDeps["clock"];
  readonly log: Log;
  readonly meter?: FallbackDeps["meter"];
  /** Shows operators how the servers do. */
  readonly board?: UpstreamBoard;
}

/** A provider for all models of the catalogue. */
export function createChatProvider(deps: ChatProviderDeps): ChatProvider {
  const fallback = new Fallback(deps);
  const protocols = protocolsOf(deps);
  deps.board?.add("chat", fallback);
  const sticky = new StickyRoutes(deps.clock);
  const ask = <Result, Answer>(
    asked: AskedModel,
    mode: ReplyMode,
    exchange: {
      readonly attempt: (route: RouteToAsk) => Promise<Result>;
      readonly take: (served: Served<RouteToAsk, Result>) => Answer;
    },
  ) => {
    const routes = routesFor(asked, deps.catalogue());
    const candidates = asked.sticky?.order(routes, mode) ?? routes;
    return fallback.first({ candidates, ...exchange, ...questionOf(asked) });
  };

  const askedOf = (model: ModelEntry, request: ChatRequest, options: ChatOptions): AskedModel => {
    const call = sticky.callOf(model, request, options.account);
    return { deps, model, request, options, sticky: call };
  };

  function complete(
    model: ModelEntry,
    request: ChatRequest,
    options: ChatOptions,
  ): Promise<ServedReply> {
    const asked = askedOf(model, request, options);
    return ask(asked, "whole", {
      attempt: (route) => {
        asked.sticky?.begins();
        return spokenBy(protocols, route, request).complete(callTo(route, asked));
      },
      take: ({ candidate, result, use }) => {
        use.end("ok");
        asked.sticky?.answered(candidate, "whole", result.usage?.completionTokens);
        const { buying } = candidate.route;
        const ignored = ignoredAt(protocols, candidate, {
          model,
          request,
          reported: result.ignored,
        });
        return { ...plausible(result, model), lane: candidate.server.name, buying, ignored };
      },
    });
  }

  function stream(
    model: ModelEntry,
    request: ChatRequest,
    options: ChatOptions,
  ): Promise<ServedStream> {
    const asked = askedOf(model, request, options);
    return ask(asked, "stream", {
      attempt: (route) => {
        asked.sticky?.begins();
        return withFirst(
          pullable(spokenBy(protocols, route, request).stream(callTo(route, asked))),
        );
      },
      take: (served) => {
        asked.sticky?.answered(served.candidate, "stream");
        const { candidate, result } = served;
        const reported = result.first.ignored;
        const ignored = ignoredAt(protocols, candidate, { model, request, reported });
        const { signal } = options;
        const { sticky } = asked;
        return new Relay(served, { model, ignored, signal, sticky, meter: deps.meter });
      },
    });
  }

  const serve = <Reply>(model: ModelEntry, call: OtherCall<Reply>, options: ChatOptions) =>
    fallback.first(otherQuestion(deps, { model, options }, call));

  const isHealthy = (model: ModelEntry, account: string) =>
    routesOf(model, deps.catalogue()).some(({ server }) =>
      fallback.wouldAsk(server, { subject: model.id, account }),
    );

  return { complete, stream, serve, isHealthy };
}

/** The question of a call that is no chat to the routes of its model. */
function otherQuestion<Reply>(
  { catalogue, fetch }: Pick<ChatProviderDeps, "catalogue" | "fetch">,
  { model, options }: Pick<AskedModel, "model" | "options">,
  call: OtherCall<Reply>,
): Question<RouteToAsk, Reply, ServedOther<Reply>> {
  const { account, signal } = options;
  return {
    candidates: routesOf(model, catalogue()),
    attempt: ({ server: provider, route }) => {
      const named = { provider, model: route.model, publicId: model.id };
      return askOther({ ...named, account, signal, fetch }, call);
    },
    take: ({ candidate: { server, route }, result, use }) => {
      use.end("ok");
      return { reply: result, lane: server.name, buying: route.buying };
    },
    ...questionOf({ model, options }),
  };
}

/** The parts of a question to the routes that do not depend on its form. */
function questionOf({ model, options }: Pick<AskedModel, "model" | "options">) {
  const { account, signal, watch } = options;
  const message = `The model '${model.id}' does not answer right now`;
  return { watch, account, signal, subject: model.id, message };
}

/** The protocol of a route for this request. Throws if only the caller's own form can do it. */
function spokenBy(protocols: Protocols, { server }: RouteToAsk, { own }: ChatRequest) {
  const protocol = protocols[server.kind];
  if (own === undefined) return protocol;
  const passing = passingThrough(protocol, own);
  if (passing !== undefined) return passing;
  const [needed] = own.only;
  if (needed !== undefined) throw unsupported(needed);
  return protocol;
}

interface ServedRequest {
  readonly model: ModelEntry;
  readonly request: ChatRequest;
  /** The names of fields that the protocol of the route left out, in the words of chat. */
  readonly reported: ServedRoute["ignored"];
}

/** The names of parts without effect on this route, in the words of the caller's door (D-705). */
function ignoredAt(
  protocols: Protocols,
  { server, route }: RouteToAsk,
  { model, request, reported }: ServedRequest,
): ServedRoute["ignored"] {
  const { own } = request;
  if (own === undefined) return reported;
  const protocol = protocols[server.kind];
  if (passingThrough(protocol, own) !== undefined) return joined(reported, own.unsent);
  const { thoughts = [], lost } = own;
  const reads = protocol.sealsOf?.(route.model) === own.form;
  const shows = model.showsReasoning === true && reported?.includes(REASONING_FIELD) !== true;
  const unread = thoughts.filter(
    ({ hasWords, isSealed }) => !((shows && hasWords) || (reads && isSealed)),
  );
  if (unread.length === 0) return joined(reported, lost);
  const others = reported?.filter((name) => name !== REASONING_FIELD);
  return joined(others, [...lost, ...unread.map(({ name }) => name)]);
}

function joined(
  ignored: ServedRoute["ignored"],
  lost: ServedRoute["ignored"],
): ServedRoute["ignored"] {
  if (lost === undefined || lost.length === 0) return ignored;
  return ignored === undefined ? lost : [...ignored, ...lost];
}

/**
 * The protocol that passes the caller's own form through; undefined if the server does not speak
 * that form.
 */
function passingThrough(protocol: Protocol, { form }: OwnBody): OwnProtocol | undefined {
  return protocol.own?.find((one) => one.form === form);
}

/** The model's routes whose providers are in the catalogue. */
function routesOf(model: ModelEntry, { providers }: ChatCatalogue): RouteToAsk[] {
  const routes: RouteToAsk[] = [];
  for (const route of model.routes) {
    const server = providers.get(route.provider);
    if (server !== undefined) routes.push({ server, route });
  }
  return routes;
}

/** The routes that can serve a request: not each fetches an image from an address. */
function routesFor({ model, request }: AskedModel, catalogue: ChatCatalogue): RouteToAsk[] {
  const routes = routesOf(model, catalogue);
  if (request.media?.some(isAddress) !== true) return routes;
  return routes.filter(({ server }) => server.media?.fetchesAddresses === true);
}

/** A caller's request to a model. */
interface AskedModel {
  readonly deps: Pick<ChatProviderDeps, "fetch" | "identifiers">;
  readonly model: ModelEntry;
  readonly request: ChatRequest;
  readonly options: ChatOptions;
  /** Undefined for a model whose routes are tried in order. */
  readonly sticky: StickyCall | undefined;
}

/** The call to a route of a model. */
function callTo(
  { server: provider, route }: RouteToAsk,
  { deps, model, request, options }: AskedModel,
): UpstreamCall {
  const { account } = options;
  const call = {
    provider,
    model: route.model,
    publicId: model.id,
    request: acceptedRequest([model], request),
    ...(request.fields !== undefined && { fields: request.fields }),
    showsReasoning: model.showsReasoning ?? false,
    ...(model.imageTokens !== undefined && { givesImages: true as const }),
    ...(isSoldInTiers(model, provider) && { hasTiers: true as const }),
    account,
    signal: options.signal,
    fetch: deps.fetch,
  };
  const { identifiers: fields } = provider;
  if (fields === undefined && request.identifiers === undefined) return call;
  const { sent, ignored } = deps.identifiers.of(fields, account, request.identifiers);
  return ignored.length === 0
    ? { ...call, identifiers: sent }
    : { ...call, identifiers: sent, ignored };
}

function isSoldInTiers({ prices }: ModelEntry, { quirks }: ProviderEntry): boolean {
  // Most models have one row.
  return !prices.isPlain && quirks?.tiers.some((tier) => hasTier(prices, tier)) === true;
}

interface Started {
  readonly first: ChatBatch;
  readonly rest: Batches;
}

/**
 * Waits for the first batch with a part of the reply or its end. A role alone is no part of the
 * reply (D-573). If the stream fails before that batch, another route can be tried.
 */
function withFirst(rest: Batches): Promise<Started> {
  return new Promise((resolve, reject) => rest.pull(new FirstBatch(rest, resolve, reject)));
}

class FirstBatch implements Taker<ChatBatch> {
  readonly #deltas: ChatDelta[] = [];
  #usage: ChatBatch["usage"] = null;

  constructor(
    readonly rest: Batches,
    readonly resolve: (started: Started) => void,
    readonly fail: (error: unknown) => void,
  ) {}

  take(batch: ChatBatch): void {
    const { rest } = this;
    this.#usage = usageAfter(this.#usage, batch);
    // If the model thinks after the role, the caller must learn that the model is alive.
    const isThought = batch.deltas.length === 0 && batch.usage === null;
    const hasStarted = isThought ? this.#deltas.length > 0 : batch.deltas.some(hasBegun);
    for (const delta of batch.deltas) this.#deltas.push(delta);
    if (!hasStarted) rest.pull(this);
    else this.resolve({ first: { ...batch, deltas: this.#deltas, usage: this.#usage }, rest });
  }

  end(): void {
    this.fail(new RouteFailure("The stream ended before its first chunk"));
  }
}

function hasBegun(delta: ChatDelta): boolean {
  return delta.finish_reason !== null || delta.begins === true || hasOutput(delta);
}

interface RelayTerms {
  readonly model: ModelEntry;
  readonly ignored: ServedRoute["ignored"];
  readonly signal: CancelSignal;
  readonly sticky: StickyCall | undefined;
  readonly meter: UpstreamMeter | undefined;
}

/**
 * A started stream. The result is reported once, however the stream ends and whether it is read or
 * not.
 */
class Relay extends Batches implements Taker<ChatBatch>, ServedStream {
  readonly lane: string;
  readonly buying: ServedRoute["buying"];
  readonly ignored: ServedRoute["ignored"];
  readonly #rest: Batches;
  readonly #model: ModelEntry;
  readonly #signal: CancelSignal;
  #first: ChatBatch | null;
  #use: ServerUse | null;
  #taker: Taker<ChatBatch> | null = null;
  #wasAborted = false;
  readonly #sticky: StickyCall | undefined;
  readonly #meter: UpstreamMeter | undefined;
  readonly #candidate: RouteToAsk;

  constructor(
    { candidate, result, use }: Served<RouteToAsk, Started>,
    { model, ignored, signal, sticky, meter }: RelayTerms,
  ) {
    super();
    this.lane = candidate.server.name;
    this.buying = candidate.route.buying;
    this.ignored = ignored;
    this.#first = result.first;
    this.#rest = result.rest;
    this.#model = model;
    this.#signal = signal;
    this.#use = use;
    this.#sticky = sticky;
    this.#meter = meter;
    this.#candidate = candidate;
    signal.addEventListener("abort", this);
    if (signal.aborted) this.cancel();
  }

  override pull(taker: Taker<ChatBatch>): void {
    const first = this.#first;
    this.#taker = taker;
    this.#first = null;
    if (this.#wasAborted) taker.fail(brokenOff(this.#signal.reason));
    else if (first === null) this.#rest.pull(this);
    else this.take(first);
  }

  /** The caller is gone. */
  handleEvent(): void {
    this.cancel();
  }

  override cancel(): void {
    this.#report("ignored");
    this.#first = null;
    this.#rest.cancel();
  }

  take(batch: ChatBatch): void {
    this.#taker?.take(batch.usage === null ? batch : plausible(batch, this.#model));
  }

  end(): void {
    this.#report("ok");
    this.#taker?.end();
  }

  /**
   * A RouteFailure is the server's or the operator's fault, an ApiError the caller's. Any other
   * error is a fault of ours in the processing of batches.
   */
  fail(error: unknown): void {
    const isServers = error instanceof RouteFailure;
    const result = isServers || error instanceof ApiError ? failureResult(error) : "ignored";
    this.#report(result, error instanceof AccessFailure);
    if (isServers && !this.#wasAborted) this.#sticky?.brokeOff(this.#candidate);
    this.#taker?.fail(isServers || this.#wasAborted ? brokenOff(error) : error);
  }

  /** If the caller aborts, this runs before anything fails because of the abort. */
  #report(result: AttemptResult, isAccess = false): void {
    if (this.#use === null) return;
    this.#wasAborted = this.#signal.aborted;
    this.#signal.removeEventListener("abort", this);
    const known = this.#wasAborted ? "ignored" : result;
    this.#use.end(known);
    this.#use = null;
    if (known === "ok" || known === "ignored") return;
    this.#meter?.brokeOff(this.lane, isAccess ? "access" : known);
  }
}

function brokenOff(cause: unknown): ApiError {
  return new ApiError("upstream_unreachable", "The model stopped answering in the middle", {
    cause,
  });
}

/** Drops a usage that is impossible for this model. */
function plausible<Reply extends { readonly usage: ChatBatch["usage"] }>(
  reply: Reply,
  model: ModelEntry,
): Reply {
  const { usage } = reply;
  if (usage === null) return reply;
  const isPossible =
    usage.promptTokens <= model.contextTokens && usage.completionTokens <= model.contextTokens;
  return isPossible ? reply : { ...reply, usage: null, hasWrongUsage: true };
}
