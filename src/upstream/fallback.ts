// Tries equivalent servers in order: the first that answers serves. Skips a server that is full or
// known to be down. If all are full, waits for a slot.

import { type CancelSignal, throwIfCancelled } from "../core/cancellation.ts";
import type { Clock } from "../core/clock.ts";
import { ApiError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { UpstreamMeter, UpstreamResult } from "../core/upstream-meter.ts";
import type { Attempt, AttemptResult, Breaker } from "./breaker.ts";
import { KnownServers, type Server } from "./known-servers.ts";
import { AccessFailure, RouteFailure, UnableFailure } from "./route-failure.ts";
import type { Slots } from "./slots.ts";
import type { BoardMember, ServerView } from "./upstream-board.ts";

/** A server that answered. The reader of the answer must end its use of the server. */
export interface Served<Candidate, Result> {
  readonly candidate: Candidate;
  readonly result: Result;
  readonly use: ServerUse;
}

/** The use of a server for one answer. The use keeps nothing else of the request. */
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

/** Watches each request to a server. */
export interface RequestWatch {
  /** A request is about to be sent. Throws if none may be sent any more. */
  begin(): void;
  /** The request is over. */
  end(): void;
}

/** The candidates for a request, in order, and the account that it is made for. */
interface Asked<Candidate> {
  readonly candidates: readonly Candidate[];
  /** The account of the call: servers are shared fairly between accounts. */
  readonly account: string;
  /** The caller's signal; after it is aborted, no further server is tried. */
  readonly signal: CancelSignal;
  /** The name of the request in the log: a model, or an action; never a caller's words. */
  readonly subject: string;
  /** The caller's error message if no server answers. */
  readonly message: string;
}

/** A request, and the functions that make it and take its answer. */
export interface Question<Candidate extends { readonly server: Server }, Result, Answer>
  extends Asked<Candidate> {
  readonly attempt: (candidate: Candidate) => Promise<Result>;
  /** Makes the answer. The function must end the use of the server, or hand it on. */
  readonly take: (served: Served<Candidate, Result>) => Answer;
  readonly watch?: RequestWatch | undefined;
}

/** A server with its state for one subject. */
interface Choice<Candidate> {
  readonly candidate: Candidate;
  readonly slots: Slots;
  readonly breaker: Breaker;
}

interface Failure {
  readonly attempt: Attempt;
  readonly outcome: "failed" | "unreachable";
}

/** The progress of a question through its candidates. */
interface Tries<Candidate> {
  /** The candidate to look at next. */
  next: number;
  /** The first server that was full, to wait for. */
  full: Choice<Candidate> | null;
  readonly failures: Failure[];
  readonly errors: unknown[];
}

/** If every server is full, a request waits this long for a slot. */
const WAIT_MS = 2_000;

/**
 * Finds a server that answers. Remembers which servers are full, and which are given up for now.
 */
export class Fallback implements BoardMember {
  readonly #deps: FallbackDeps;
  readonly #known: KnownServers;

  constructor(deps: FallbackDeps) {
    this.#deps = deps;
    this.#known = new KnownServers(deps.clock);
  }

  /**
   * Returns the answer of the first server that has one. Throws an ApiError: `upstream_unreachable`
   * if no server answers, or the error of an attempt that blames the request itself, or of an
   * UnableFailure if every server threw one.
   */
  async first<Candidate extends { readonly server: Server }, Result, Answer>(
    question: Question<Candidate, Result, Answer>,
  ): Promise<Answer> {
    const tries: Tries<Candidate> = { next: 0, full: null, failures: [], errors: [] };
    let served: Served<Candidate, Result> | null = null;
    try {
      while (served === null) {
        const choice = this.#free(question, tries) ?? (await this.#freed(question, tries));
        if (choice === null) break;
        const { candidate, breaker, slots } = choice;
        // The server may have been given up while the request waited for the slot.
        const attempt = breaker.begin(question.account);
        if (attempt === null) {
          slots.giveBack(question.account);
          continue;
        }
        const startMs = this.#deps.clock.monotonicMs();
        try {
          question.watch?.begin();
          const result = await question.attempt(candidate);
          attempt.answered();
          this.#report(candidate.server, "ok", startMs);
          served = { candidate, result, use: new ServerUse(attempt, slots) };
        } catch (error) {
          slots.giveBack(question.account);
          this.#fail(question, tries, { server: candidate.server, attempt, startMs, error });
        } finally {
          question.watch?.end();
        }
      }
      if (served === null) blameRequest(question, tries);
    } finally {
      for (const { attempt, outcome } of tries.failures) attempt.end(outcome);
    }
    if (served === null) throw unanswered(question, tries);
    return question.take(served);
  }

  /** True if the server would be tried now for this account: it is neither full nor given up. */
  wouldAsk(server: Server, { subject, account }: { subject: string; account: string }): boolean {
    return (
      this.#known.breakerOf(server, subject).isPassableFor(account) &&
      this.#known.slotsOf(server).isFreeFor(account)
    );
  }

  /** The state of each server that received a request. */
  views(): ServerView[] {
    return this.#known.views();
  }

  /** The next server with a free slot, which is taken. */
  #free<Candidate extends { readonly server: Server }>(
    { candidates, account, subject }: Asked<Candidate>,
    tries: Tries<Candidate>,
  ): Choice<Candidate> | null {
    for (;;) {
      const candidate = candidates[tries.next];
      if (candidate === undefined) return null;
      tries.next += 1;
      const breaker = this.#known.breakerOf(candidate.server, subject);
      if (!breaker.isPassableFor(account)) continue;
      const choice = { candidate, breaker, slots: this.#known.slotsOf(candidate.server) };
      if (choice.slots.take(account)) return choice;
      tries.full ??= choice;
    }
  }

  /**
   * Returns the first server that was full, after waiting for a slot; a request waits only once.
   */
  async #freed<Candidate>(
    { account, signal }: Asked<unknown>,
    tries: Tries<Candidate>,
  ): Promise<Choice<Candidate> | null> {
    const { full } = tries;
    tries.full = null;
    if (full === null) return null;
    const { clock } = this.#deps;
    return (await full.slots.wait(account, { clock, forMs: WAIT_MS, signal })) ? full : null;
  }

  /** Notes a failed attempt. Throws its error if no other server can help. */
  #fail(
    { signal, subject }: Asked<unknown>,
    { failures, errors }: Tries<unknown>,
    failed: {
      readonly server: Server;
      readonly attempt: Attempt;
      readonly startMs: number;
      readonly error: unknown;
    },
  ): void {
    const { server, attempt, startMs, error } = failed;
    const outcome = signal.aborted ? "ignored" : failureResult(error);
    const isOurs = error instanceof AccessFailure;
    this.#report(server, isOurs ? "access" : outcome === "ignored" ? "aborted" : outcome, startMs);
    if (outcome === "failed" || outcome === "unreachable") failures.push({ attempt, outcome });
    else attempt.end(outcome);
    if (signal.aborted || error instanceof ApiError) throw error;
    this.#deps.log.warn({ provider: server.name, subject, err: error }, "A route failed");
    errors.push(error);
  }

  #report({ name }: Server, result: UpstreamResult, startMs: number): void {
    const { clock, meter } = this.#deps;
    meter?.attempted(name, result, (clock.monotonicMs() - startMs) / 1_000);
  }
}

const RESULTS = { server: "failed", connection: "unreachable", nobody: "refused" } as const;

/** The result of an attempt that ended with this error. */
export function failureResult(error: unknown): "failed" | "unreachable" | "refused" {
  if (error instanceof ApiError) return "refused";
  // Any other error comes from reading the answer; this one request may cause it.
  return error instanceof RouteFailure ? RESULTS[error.blames] : "failed";
}

/** If several servers answered with a failure, the request is most likely at fault. */
function blameRequest({ signal }: Asked<unknown>, { failures }: Tries<unknown>): void {
  throwIfCancelled(signal);
  const isRequests = failures.length > 1 && failures.every(({ outcome }) => outcome === "failed");
  if (isRequests) for (const { attempt } of failures) attempt.end("ignored");
}

function unanswered({ candidates, message }: Asked<unknown>, { errors }: Tries<unknown>): ApiError {
  const [refusal, ...others] = errors.flatMap((error) =>
    error instanceof UnableFailure ? [error.refusal] : [],
  );
  if (refusal !== undefined && others.length + 1 === candidates.length) return refusal;
  const retryAfterSeconds = soonest(errors);
  return new ApiError("upstream_unreachable", message, {
    cause: errors.at(-1),
    ...(retryAfterSeconds !== null && { retryAfterSeconds }),
  });
}

/** The earliest time at which a failed server says that it can serve again. */
function soonest(errors: readonly unknown[]): number | null {
  const delaysSeconds = errors.flatMap((error) =>
    error instanceof RouteFailure ? (error.retryAfterSeconds ?? []) : [],
  );
  return delaysSeconds.length === 0 ? null : Math.min(...delaysSeconds);
}
