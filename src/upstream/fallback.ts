// Tries equivalent servers in order: the first that answers serves. Skips a server that is full or
// known to be down. If all are full, waits for a slot.

import { LRUCache } from "lru-cache";
import { type CancelSignal, throwIfCancelled } from "../core/cancellation.ts";
import type { Clock } from "../core/clock.ts";
import { ApiError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { UpstreamMeter, UpstreamResult } from "../core/upstream-meter.ts";
import { type Attempt, type AttemptResult, Breaker } from "./breaker.ts";
import { RouteFailure, UnableFailure } from "./route-failure.ts";
import { Slots } from "./slots.ts";
import type { BoardMember, ServerView } from "./upstream-board.ts";

/** The part of a server that matters for choosing one. */
export interface Server {
  readonly name: string;
  /** Distinguishes servers of the same name after the configuration has changed. */
  readonly baseUrl: string;
  /** The maximum of simultaneous requests; further ones go to the next server. */
  readonly concurrencyMax: number;
}

/** A server that answered. The reader of the answer must end its use of the server. */
export interface Served<Candidate, Result> {
  readonly candidate: Candidate;
  readonly result: Result;
  readonly use: ServerUse;
}

/** The use of a server for one answer. Of the request it keeps nothing else. */
export class ServerUse {
  #hasEnded = false;

  constructor(
    readonly attempt: Attempt,
    readonly slots: Slots,
  ) {}

  /** Reports how the answer ended, and frees the slot. Only the first call counts. */
  end(outcome: AttemptResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.attempt.end(outcome);
    this.slots.giveBack(this.attempt.account);
  }
}

export interface FallbackDeps {
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly log: Log;
  /** Counts requests to servers. */
  readonly meter?: UpstreamMeter | undefined;
}

/** Is told of each request to a server. */
export interface RequestWatch {
  /** A request is about to be sent. Throws if none may be sent any more. */
  begin(): void;
  /** It is over. */
  end(): void;
}

/** What is requested, and from which servers, in order. */
export interface Question<Candidate extends { readonly server: Server }, Result> {
  readonly candidates: Iterable<Candidate>;
  readonly attempt: (candidate: Candidate) => Promise<Result>;
  readonly watch?: RequestWatch | undefined;
  /** The account of the call: servers are shared fairly between accounts. */
  readonly account: string;
  /** The caller's signal; after it is aborted, no further server is tried. */
  readonly signal: CancelSignal;
  /** How the log names what is requested: a model, or an action; never a caller's words. */
  readonly subject: string;
  /** The caller's error message if no server answers. */
  readonly message: string;
}

interface KnownBreaker {
  readonly server: string;
  readonly subject: string;
  readonly breaker: Breaker;
}

/** A server with what is known of it for one subject. */
interface Choice<Candidate> {
  readonly candidate: Candidate;
  readonly slots: Slots;
  readonly breaker: Breaker;
}

interface Failure {
  readonly attempt: Attempt;
  readonly outcome: "failed" | "unreachable";
}

/** How long a request waits for a slot if every server is full. */
const WAIT_MS = 2_000;

/**
 * Servers, and subjects on them, that are remembered. A configuration has fewer; those of earlier
 * configurations go first, and one that was forgotten begins anew.
 */
export const SERVERS_MAX = 1_024;
export const BREAKERS_MAX = 4_096;

/** Slots are of a server, whatever is requested. */
const ALL_SUBJECTS = "";

/** Finds a server that answers. Keeps track of which are full, and which are given up for now. */
export class Fallback implements BoardMember {
  readonly #deps: FallbackDeps;
  readonly #breakers = new LRUCache<string, KnownBreaker>({ max: BREAKERS_MAX });
  readonly #slots = new LRUCache<string, Slots>({ max: SERVERS_MAX });
  /** The names of breakers by subject: finding one by a new text costs several times as much. */
  readonly #names = new WeakMap<Server, Map<string, string>>();

  constructor(deps: FallbackDeps) {
    this.#deps = deps;
  }

  /**
   * Throws an ApiError: `upstream_unreachable` if no server answered, or the error of an attempt
   * that blames the request itself, or of an UnableFailure if every server had one.
   */
  async first<Candidate extends { readonly server: Server }, Result>(
    question: Question<Candidate, Result>,
  ): Promise<Served<Candidate, Result>> {
    const { candidates, account, signal, subject, message } = question;
    const failures: Failure[] = [];
    const errors: unknown[] = [];
    let full: Choice<Candidate> | null = null;
    let servers = 0;
    try {
      for (const candidate of candidates) {
        servers += 1;
        const breaker = this.#breakerOf(candidate.server, subject);
        if (!breaker.isPassable) continue;
        const choice = { candidate, breaker, slots: this.#slotsOf(candidate.server) };
        if (!choice.slots.take(account)) full ??= choice;
        else {
          const served = await this.#ask(question, choice, failures, errors);
          if (served !== null) return served;
        }
      }
      if (full !== null) {
        const { clock } = this.#deps;
        if (await full.slots.wait(account, { clock, forMs: WAIT_MS, signal })) {
          const served = await this.#ask(question, full, failures, errors);
          if (served !== null) return served;
        }
      }
      throwIfCancelled(signal);
      // If several servers answer with a failure, the request is most likely at fault.
      const isRequests =
        failures.length > 1 && failures.every(({ outcome }) => outcome === "failed");
      if (isRequests) for (const { attempt } of failures) attempt.end("ignored");
    } finally {
      for (const { attempt, outcome } of failures) attempt.end(outcome);
    }
    const [refusal, ...others] = errors.flatMap((error) =>
      error instanceof UnableFailure ? [error.refusal] : [],
    );
    if (refusal !== undefined && others.length + 1 === servers) throw refusal;
    const retryAfterSeconds = soonest(errors);
    throw new ApiError("upstream_unreachable", message, {
      cause: errors.at(-1),
      ...(retryAfterSeconds !== null && { retryAfterSeconds }),
    });
  }

  /** True if the server would be tried now for this account: it is neither full nor given up. */
  wouldAsk(server: Server, { subject, account }: { subject: string; account: string }): boolean {
    return this.#breakerOf(server, subject).isPassable && this.#slotsOf(server).isFreeFor(account);
  }

  /** How each server does that was asked something. */
  views(): ServerView[] {
    return [...this.#breakers.values()].map(({ server, subject, breaker }) => {
      const { isPassable, failures } = breaker;
      return { server, subject, isPassable, failures };
    });
  }

  /** Sends the request to a server with a slot already taken; null if another server may serve. */
  async #ask<Candidate extends { readonly server: Server }, Result>(
    question: Question<Candidate, Result>,
    { candidate, slots, breaker }: Choice<Candidate>,
    failures: Failure[],
    errors: unknown[],
  ): Promise<Served<Candidate, Result> | null> {
    const { account, signal, subject } = question;
    const { server } = candidate;
    // The server may have been given up while the request waited for the slot.
    const attempt = breaker.begin(account);
    if (attempt === null) {
      slots.giveBack(account);
      return null;
    }
    const startMs = this.#deps.clock.monotonicMs();
    try {
      question.watch?.begin();
      const result = await question.attempt(candidate);
      attempt.answered();
      this.#report(server, "ok", startMs);
      return { candidate, result, use: new ServerUse(attempt, slots) };
    } catch (error) {
      slots.giveBack(account);
      const outcome = signal.aborted || error instanceof ApiError ? "ignored" : resultOf(error);
      const kind = signal.aborted ? "aborted" : outcome === "ignored" ? "refused" : outcome;
      this.#report(server, kind, startMs);
      if (outcome === "ignored") attempt.end(outcome);
      else failures.push({ attempt, outcome });
      if (signal.aborted || error instanceof ApiError) throw error;
      this.#deps.log.warn({ provider: server.name, subject, err: error }, "A route failed");
      errors.push(error);
      return null;
    } finally {
      question.watch?.end();
    }
  }

  #report({ name }: Server, result: UpstreamResult, startMs: number): void {
    const { clock, meter } = this.#deps;
    meter?.attempted(name, result, (clock.monotonicMs() - startMs) / 1_000);
  }

  #breakerOf(server: Server, subject: string): Breaker {
    const { breaker } = entryOf(this.#breakers, this.#nameOf(server, subject), () => ({
      ...{ server: server.name, subject },
      breaker: new Breaker(() => this.#deps.clock.monotonicMs()),
    }));
    return breaker;
  }

  #slotsOf(server: Server): Slots {
    const name = this.#nameOf(server, ALL_SUBJECTS);
    const slots = entryOf(this.#slots, name, () => new Slots(server.concurrencyMax));
    slots.resize(server.concurrencyMax);
    return slots;
  }

  #nameOf(server: Server, subject: string): string {
    let names = this.#names.get(server);
    if (names === undefined) {
      names = new Map();
      this.#names.set(server, names);
    }
    let name = names.get(subject);
    if (name === undefined) {
      name = `${server.name} ${server.baseUrl} ${subject}`;
      names.set(subject, name);
    }
    return name;
  }
}

function entryOf<Value extends object>(
  cache: LRUCache<string, Value>,
  name: string,
  make: () => Value,
): Value {
  const known = cache.get(name);
  if (known !== undefined) return known;
  const made = make();
  cache.set(name, made);
  return made;
}

const RESULTS = { server: "failed", connection: "unreachable", nobody: "ignored" } as const;

function resultOf(error: unknown): "failed" | "unreachable" | "ignored" {
  // Any other error comes from reading the answer: it may be the fault of this one request.
  return error instanceof RouteFailure ? RESULTS[error.blames] : "failed";
}

/** The earliest time at which a failed server says that it can serve again. */
function soonest(errors: readonly unknown[]): number | null {
  const delaysSeconds = errors.flatMap((error) =>
    error instanceof RouteFailure ? (error.retryAfterSeconds ?? []) : [],
  );
  return delaysSeconds.length === 0 ? null : Math.min(...delaysSeconds);
}
