// Servers that can stand in for each other are tried in order: the first that answers serves, and
// one that is full or known to be down is passed over. Where all are full, one is waited for.

import type { Clock } from "../core/clock.ts";
import { ApiError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { type Attempt, type AttemptResult, Breaker } from "./breaker.ts";
import { RouteFailure } from "./route-failure.ts";
import { Slots } from "./slots.ts";

/** A server as far as standing in for it goes. */
export interface Server {
  readonly name: string;
  /** Tells a server from another of its name, when the configuration has changed. */
  readonly baseUrl: string;
  /** Requests under way at once; more fall to the next server. */
  readonly concurrencyMax: number;
}

/** A server that answered. Whoever reads the answer says how it ended, which frees the slot. */
export interface Served<Result> {
  readonly result: Result;
  readonly end: (outcome: AttemptResult) => void;
}

export interface FallbackDeps {
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly log: Log;
}

/** What is asked, and of which servers, in order. */
export interface Question<Candidate extends { readonly server: Server }, Result> {
  readonly candidates: Iterable<Candidate>;
  readonly attempt: (candidate: Candidate) => Promise<Result>;
  /** For whom: servers are shared fairly between accounts. */
  readonly account: string;
  /** The caller's; once it is aborted no other server is asked. */
  readonly signal: AbortSignal;
  /** What the log calls that which is asked for: a model, or an action; never a caller's words. */
  readonly subject: string;
  /** What the caller is told when nobody answers. */
  readonly message: string;
}

interface Failure {
  readonly attempt: Attempt;
  readonly outcome: "failed" | "unreachable";
}

/** How long a request waits for a slot where every server is full. */
const WAIT_MS = 2_000;

/** Finds a server that answers. It knows which are full, or were given up for now. */
export class Fallback {
  readonly #deps: FallbackDeps;
  readonly #breakers = new Map<string, Breaker>();
  readonly #slots = new Map<string, Slots>();

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
    const { candidates, account, signal, subject, message } = question;
    const failures: Failure[] = [];
    const errors: unknown[] = [];
    const full: Candidate[] = [];
    try {
      for (const candidate of candidates) {
        const { server } = candidate;
        if (!this.#breakerOf(server, subject).isPassable) continue;
        if (!this.#slotsOf(server).take(account)) full.push(candidate);
        else {
          const served = await this.#ask(question, candidate, failures, errors);
          if (served !== null) return served;
        }
      }
      const [waited] = full;
      if (waited !== undefined) {
        const { clock } = this.#deps;
        const slots = this.#slotsOf(waited.server);
        if (await slots.wait(account, { clock, forMs: WAIT_MS, signal })) {
          const served = await this.#ask(question, waited, failures, errors);
          if (served !== null) return served;
        }
      }
      signal.throwIfAborted();
      // What several servers answer with a failure is the request's fault, as far as one can tell.
      const isRequests =
        failures.length > 1 && failures.every(({ outcome }) => outcome === "failed");
      if (isRequests) for (const { attempt } of failures) attempt.end("ignored");
    } finally {
      for (const { attempt, outcome } of failures) attempt.end(outcome);
    }
    const retryAfterSeconds = soonest(errors);
    throw new ApiError("upstream_unreachable", message, {
      cause: errors.at(-1),
      ...(retryAfterSeconds !== null && { retryAfterSeconds }),
    });
  }

  /** Whether the server would be asked now for this account: it is neither full nor given up. */
  wouldAsk(server: Server, { subject, account }: { subject: string; account: string }): boolean {
    return this.#breakerOf(server, subject).isPassable && this.#slotsOf(server).isFreeFor(account);
  }

  /** Asks a server of which a slot was taken; null where another one may serve. */
  async #ask<Candidate extends { readonly server: Server }, Result>(
    question: Question<Candidate, Result>,
    candidate: Candidate,
    failures: Failure[],
    errors: unknown[],
  ): Promise<Served<Result> | null> {
    const { account, signal, subject } = question;
    const { server } = candidate;
    const slots = this.#slotsOf(server);
    // While a slot was waited for, the server may have been given up.
    const attempt = this.#breakerOf(server, subject).begin(account);
    if (attempt === null) {
      slots.giveBack(account);
      return null;
    }
    try {
      const result = await question.attempt(candidate);
      attempt.answered();
      let hasEnded = false;
      const end = (outcome: AttemptResult) => {
        if (hasEnded) return;
        hasEnded = true;
        attempt.end(outcome);
        slots.giveBack(account);
      };
      return { result, end };
    } catch (error) {
      slots.giveBack(account);
      const outcome = signal.aborted || error instanceof ApiError ? "ignored" : resultOf(error);
      if (outcome === "ignored") attempt.end(outcome);
      else failures.push({ attempt, outcome });
      if (signal.aborted || error instanceof ApiError) throw error;
      this.#deps.log.warn({ provider: server.name, subject, err: error }, "A route failed");
      errors.push(error);
      return null;
    }
  }

  #breakerOf(server: Server, subject: string): Breaker {
    const name = `${server.name} ${server.baseUrl} ${subject}`;
    return entryOf(this.#breakers, name, () => new Breaker(() => this.#deps.clock.monotonicMs()));
  }

  #slotsOf(server: Server): Slots {
    const name = `${server.name} ${server.baseUrl}`;
    const slots = entryOf(this.#slots, name, () => new Slots(server.concurrencyMax));
    slots.resize(server.concurrencyMax);
    return slots;
  }
}

function entryOf<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const known = map.get(name);
  if (known !== undefined) return known;
  const made = make();
  map.set(name, made);
  return made;
}

const RESULTS = { server: "failed", connection: "unreachable", nobody: "ignored" } as const;

function resultOf(error: unknown): "failed" | "unreachable" | "ignored" {
  if (error instanceof RouteFailure) {
    return RESULTS[error.blames];
  }
  // The platform's own errors are those of connections, but for a time limit: the request may have
  // been more than the server can do in it.
  return error instanceof Error && error.name === "TimeoutError" ? "failed" : "unreachable";
}

/** When the first of the servers that failed says that it can serve again. */
function soonest(errors: readonly unknown[]): number | null {
  const told = errors.flatMap((error) =>
    error instanceof RouteFailure ? (error.retryAfterSeconds ?? []) : [],
  );
  return told.length === 0 ? null : Math.min(...told);
}
