// Orders the routes of a model for a conversation. A conversation stays at one route while the
// cache of its provider keeps the prompt, because no other provider has that cache. The first route
// of a conversation follows from a hash, so all processes agree without a shared state (D-654).

import { LRUCache } from "lru-cache";
import type { Clock } from "../../../core/clock.ts";
import { MINUTE_MS } from "../../../core/durations.ts";
import { upperBound } from "../../../core/money/call-cost.ts";
import type { Content } from "../media/media-part.ts";
import type { ModelEntry, ProviderEntry, Route, Spread } from "../models/catalogue.ts";
import type { ChatRequest } from "./provider.ts";

/** The most conversations whose route is remembered. */
export const PINS_MAX = 16_384;
/** The minutes for which a conversation stays at a route after a cache write that lasts an hour. */
const LONG_WRITE_MINUTES = 60;
/** The call by whose cost the prices of routes are compared. */
const TYPICAL_CALL = { promptTokens: 3_000, outputTokens: 1_000 };
/** The part of the last measurement in the speed of a route. */
const LAST_MEASURED = 0.2;
/** Times below it, which may be zero, count as equal. */
const FASTEST_MS = 0.1;
/** A longer text is hashed by its beginning: a cache is for beginnings too. */
const HASHED_LENGTH_MAX = 64 * 1_024;
const MEDIA_END_LENGTH = 256;

/** A route, and the server that it leads to. */
export interface RouteToAsk {
  readonly server: ProviderEntry;
  readonly route: Route;
}

/** The identity of a conversation of an account with a model. */
export type Conversation = bigint;

/** The route that a conversation stays at. */
interface Pin {
  readonly route: string;
  readonly untilMs: number;
}

/** Whole replies are measured by the time for a token, streams by the time to the first part. */
export type ReplyMode = "whole" | "stream";
/** The average times of a route, in milliseconds. */
type Speed = Partial<Record<ReplyMode, number>>;

/** The routes that conversations stay at, and the speeds of routes, as this process knows them. */
export class StickyRoutes {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly #pins = new LRUCache<Conversation, Pin>({ max: PINS_MAX });
  readonly #speeds = new WeakMap<Route, Speed>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.clock = clock;
  }

  /** A call of a model that divides conversations among its routes; undefined for other models. */
  callOf(model: ModelEntry, request: ChatRequest, account: string): StickyCall | undefined {
    if (model.spread === undefined) return undefined;
    return new StickyCall(this, {
      spread: model.spread,
      conversation: conversationOf(model, request, account),
      hasLongWrites: request.own?.hasLongWrites === true,
    });
  }

  /** The name of the route that the conversation stays at; null if it stays at none. */
  pinOf(conversation: Conversation): string | null {
    const pin = this.#pins.get(conversation);
    return pin !== undefined && pin.untilMs > this.clock.monotonicMs() ? pin.route : null;
  }

  pin(conversation: Conversation, route: Route, minutes: number): void {
    const untilMs = this.clock.monotonicMs() + minutes * MINUTE_MS;
    this.#pins.set(conversation, { route: nameOf(route), untilMs });
  }

  /** The average time of a route in this mode, in milliseconds; null before the first one. */
  msOf(route: Route, mode: ReplyMode): number | null {
    return this.#speeds.get(route)?.[mode] ?? null;
  }

  measured(route: Route, mode: ReplyMode, ms: number): void {
    const speed = this.#speeds.get(route) ?? {};
    const before = speed[mode] ?? ms;
    speed[mode] = before + (ms - before) * LAST_MEASURED;
    this.#speeds.set(route, speed);
  }
}

interface StickyTerms {
  readonly spread: Spread;
  readonly conversation: Conversation;
  /** True if the provider keeps the call's cache entries for an hour. */
  readonly hasLongWrites: boolean;
}

/** One call on its way through the routes of its model. */
export class StickyCall {
  readonly #routes: StickyRoutes;
  readonly #terms: StickyTerms;
  #candidates: readonly RouteToAsk[] = [];
  #startMs = 0;

  constructor(routes: StickyRoutes, terms: StickyTerms) {
    this.#routes = routes;
    this.#terms = terms;
  }

  /**
   * The candidates in the order in which they are tried: the route that the conversation stays at,
   * then the cheapest if the model says so, then by a hash in which each has its share.
   */
  order(candidates: readonly RouteToAsk[], mode: ReplyMode): readonly RouteToAsk[] {
    const { spread, conversation } = this.#terms;
    const pinned = this.#routes.pinOf(conversation);
    const shareOf = spread === "latency" ? this.#sharesBySpeed(candidates, mode) : weightOf;
    const placed = candidates.map((candidate) => {
      const { route } = candidate;
      const name = nameOf(route);
      const isPinned = name === pinned && route.weight !== 0;
      const rank = isPinned ? FIRST : rankOf(route, spread);
      return { candidate, rank, distance: distanceOf(conversation, name) / shareOf(route) };
    });
    placed.sort((one, other) => {
      if (one.rank === other.rank) return one.distance - other.distance;
      return one.rank < other.rank ? -1 : 1;
    });
    this.#candidates = placed.map(({ candidate }) => candidate);
    return this.#candidates;
  }

  /** A route is about to be asked. */
  begins(): void {
    this.#startMs = this.#routes.clock.monotonicMs();
  }

  /** The route has answered, whole with so many tokens: the conversation stays there. */
  answered(candidate: RouteToAsk, mode: ReplyMode, tokens = 1): void {
    this.#stayAt(candidate);
    if (this.#terms.spread !== "latency") return;
    const ms = this.#routes.clock.monotonicMs() - this.#startMs;
    this.#routes.measured(candidate.route, mode, ms / Math.max(1, tokens));
  }

  /** The reply of this route broke off: the conversation goes on at the next one. */
  brokeOff(failed: RouteToAsk): void {
    const next = this.#candidates.find(({ route }) => route !== failed.route);
    if (next !== undefined) this.#stayAt(next);
  }

  #stayAt({ server, route }: RouteToAsk): void {
    const { conversation, hasLongWrites } = this.#terms;
    const minutes = Math.max(server.cacheMinutes, hasLongWrites ? LONG_WRITE_MINUTES : 0);
    this.#routes.pin(conversation, route, minutes);
  }

  /** A route that was never measured counts as fast, so that it is tried. */
  #sharesBySpeed(candidates: readonly RouteToAsk[], mode: ReplyMode): (route: Route) => number {
    const msOf = (route: Route) => this.#routes.msOf(route, mode);
    const fastestMs = Math.min(...candidates.map(({ route }) => msOf(route) ?? Infinity));
    return (route) => {
      const ms = msOf(route) ?? fastestMs;
      const slowness = ms <= fastestMs ? 1 : ms / Math.max(FASTEST_MS, fastestMs);
      return weightOf(route) / Math.max(1, slowness) ** 2;
    };
  }
}

function nameOf({ provider, model }: Route): string {
  return `${provider} ${model}`;
}

function weightOf({ weight = 1 }: Route): number {
  return weight === 0 ? 1 : weight;
}

const FIRST = -1n;
/** A route of weight 0 comes after all others. */
const LAST = 1n << 62n;

function rankOf({ weight, buying }: Route, spread: Spread): bigint {
  if (weight === 0) return LAST;
  return spread !== "price" || buying === undefined ? 0n : upperBound(buying, TYPICAL_CALL);
}

/**
 * A number above zero that a hash draws for a route, exponentially distributed. If each route's
 * number is divided by its weight, a route has the smallest result in proportion to its weight
 * (rendezvous hashing).
 */
function distanceOf(conversation: Conversation, route: string): number {
  const drawn = Number(hash(route, conversation) >> 11n);
  return -Math.log((drawn + 1) / (2 ** 53 + 1));
}

/**
 * The conversation of a request: by the caller's key for its cache, else by the session that the
 * caller names, else by the system's text and the first message of the user. Two accounts never
 * have the same one but by chance.
 */
export function conversationOf(
  { id }: Pick<ModelEntry, "id">,
  { identifiers, session, messages }: ChatRequest,
  account: string,
): Conversation {
  const salt = hash(`${account} ${id}`, 0n);
  const key = identifiers?.prompt_cache_key;
  if (key !== undefined) return hash(`key ${key}`, salt);
  if (session !== undefined) return hash(`session ${session}`, salt);
  let conversation = hash("text", salt);
  for (const { role, content } of messages) {
    const text = identityOf(content).slice(0, HASHED_LENGTH_MAX);
    if (role === "system" || role === "user") conversation = hash(`${role} ${text}`, conversation);
    if (role === "user") break;
  }
  return conversation;
}

/** The text of a content; of media, which have similar beginnings, the length and the end. */
function identityOf(content: Content | null): string {
  if (content === null || typeof content === "string") return content ?? "";
  const texts = content.map((part) =>
    part.type === "text" ? part.text : `${part.url.length} ${part.url.slice(-MEDIA_END_LENGTH)}`,
  );
  return texts.join(" ");
}

/** The same in every process, whatever its version. */
function hash(text: string, seed: bigint): bigint {
  return Bun.hash.xxHash64(text, seed);
}
