// Servers that can stand in for each other are tried in order: the first that answers serves, and
// one that is full or known to be down is passed over.

import { ApiError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { Breaker, type Leaving } from "./breaker.ts";
import { RouteFailure } from "./route-failure.ts";

/** A server as far as standing in for it goes. */
export interface Server {
  readonly name: string;
  /** Tells a server from another of its name, when the configuration has changed. */
  readonly baseUrl: string;
  /** Requests under way at once; more fall to the next server. */
  readonly concurrencyMax: number;
}

/** A server that answered. What holds its place gives it back through `leave`. */
export interface Served<Result> {
  readonly result: Result;
  readonly leave: (result: Leaving) => void;
}

export interface FallbackDeps {
  readonly monotonicMs: () => number;
  readonly log: Log;
}

/** What is asked, and of which servers, in order. */
export interface Question<Candidate extends { readonly server: Server }, Result> {
  readonly candidates: Iterable<Candidate>;
  readonly attempt: (candidate: Candidate) => Promise<Result>;
  /** The caller's; once it is aborted no other server is asked. */
  readonly signal: AbortSignal;
  /** What the log calls that which is asked for: a model, or an action; never a caller's words. */
  readonly subject: string;
  /** What the caller is told when nobody answers. */
  readonly message: string;
}

/** Finds a server that answers. It knows which are full, or were given up for now. */
export class Fallback {
  readonly #deps: FallbackDeps;
  readonly #breakers = new Map<string, Breaker>();

  constructor(deps: FallbackDeps) {
    this.#deps = deps;
  }

  /**
   * Throws an ApiError: `upstream_unreachable` when no server answered, or the one by which an
   * attempt blames the request itself.
   */
  async first<Candidate extends { readonly server: Server }, Result>(
    question: Question<Candidate, Result>,
  ): Promise<Served<Result>> {
    const { candidates, attempt, signal, subject, message } = question;
    let cause: unknown;
    let retryAfterSeconds: number | undefined;
    for (const candidate of candidates) {
      const { server } = candidate;
      const place = this.#breakerOf(server).enter(server.concurrencyMax);
      if (place === null) continue;
      try {
        const result = await attempt(candidate);
        place.answered();
        return { result, leave: place.leave };
      } catch (error) {
        const isCallers = signal.aborted || error instanceof ApiError;
        const isHealthy = error instanceof RouteFailure && !error.blamesServer;
        place.leave(isCallers || isHealthy ? "neither" : "failed");
        if (isCallers) throw error;
        this.#deps.log.warn({ provider: server.name, subject, err: error }, "A route failed");
        cause = error;
        retryAfterSeconds = sooner(retryAfterSeconds, error);
      }
    }
    throw new ApiError("upstream_unreachable", message, {
      cause,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }

  /** Whether the server would be asked now: it is neither full nor given up. */
  hasPlace(server: Server): boolean {
    return this.#breakerOf(server).hasPlace(server.concurrencyMax);
  }

  #breakerOf(server: Server): Breaker {
    const name = `${server.name} ${server.baseUrl}`;
    const breaker = this.#breakers.get(name) ?? new Breaker(this.#deps.monotonicMs);
    this.#breakers.set(name, breaker);
    return breaker;
  }
}

/** When the first of the servers that failed says that it can serve again. */
function sooner(before: number | undefined, error: unknown): number | undefined {
  const seconds = error instanceof RouteFailure ? error.retryAfterSeconds : null;
  if (seconds === null) return before;
  return Math.min(seconds, before ?? seconds);
}
