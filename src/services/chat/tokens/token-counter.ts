// Counts tokens in a separate thread. Accounts take turns, piece by piece, so that a large prompt
// of one account does not delay the others. Short texts that wait together go in one message,
// because a message costs more than counting them.

import type { Clock } from "../../../core/clock.ts";
import type { Log } from "../../../core/log.ts";
import { ThreadClient } from "../../../upstream/thread-client.ts";
import type { ChatRequest } from "../protocols/provider.ts";
import {
  countInPieces,
  piecesOf,
  promptPieces,
  promptTokensMax,
  templateTokens,
} from "./tokens.ts";

/** A prompt with a larger bound in bytes is not counted before its call is admitted (D-170). */
export const ESTIMATED_BYTES_MAX = 256 * 1024;
/** The most text in one message to the thread: 1.5 ms for prose, 190 ms for the worst text. */
const MESSAGE_LENGTH_MAX = 32 * 1024;
/** The most estimates that may wait, for one account and in total. */
export const WAITING_MAX = { account: 4, total: 64 };
/** Estimates of less text than this may always wait: 0.1 ms for prose, 6 ms for the worst text. */
const SHORT_LENGTH = 1024;
/** A thread that takes longer for one message is terminated. */
const ANSWER_MS = 10_000;
/** The thread is started this long after the process, unless a call needs it before. */
const WARM_UP_MS = 10_000;
/** The time between the end of a thread and the start of another. */
const RESTART_MS = 1_000;

export interface TokenCounterDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Starts the thread. Tests replace it. */
  readonly start?: () => Worker;
}

/** The texts of several jobs, for which the thread replies with as many counts. */
export type TextsToCount = readonly (readonly string[])[];

/** False once the caller of a count has no more use for it. */
export type IsWanted = () => boolean;

const ALWAYS: IsWanted = () => true;

interface Job {
  readonly account: string;
  /** True for the estimate of a long text: only some of these may wait. */
  readonly isLimited: boolean;
  readonly tokensMax: number;
  readonly isWanted: IsWanted;
  /** The text that is not counted yet. */
  readonly pieces: string[];
  tokens: number;
  /** Null if the thread ended. */
  readonly resolve: (tokens: number | null) => void;
}

/** The texts of a job that one message counts. */
interface Part {
  readonly job: Job;
  readonly texts: readonly string[];
}

/**
 * Counts tokens. Starts its thread when it is first needed, and again after it has ended. Only the
 * thread loads the tokenizer, unless it ends and there is something to charge (D-170).
 */
export class TokenCounter implements Disposable {
  readonly #clock: Clock;
  readonly #thread: ThreadClient<null, TextsToCount, readonly number[]>;
  /** The waiting jobs by account. The account whose turn is next comes first. */
  readonly #waiting = new Map<string, Job[]>();
  #limited = 0;
  #isAsking = false;
  /** Ends with the last count that the thread of the requests makes itself. */
  #withoutThread: Promise<unknown> = Promise.resolve();
  #stopWarmUp = () => {};

  constructor({ clock, log, start = startThread }: TokenCounterDeps) {
    this.#clock = clock;
    this.#thread = new ThreadClient({
      name: "The token thread",
      start,
      setup: null,
      pendingMax: 1,
      openMs: ANSWER_MS,
      silenceMs: ANSWER_MS,
      restartMs: RESTART_MS,
      clock,
      log,
    });
  }

  /** Starts the thread in a while, so that hardly any call waits for it. */
  warmUp(): void {
    this.#stopWarmUp = this.#clock.after(WARM_UP_MS, () => void this.#thread.start());
  }

  /**
   * The tokens of a prompt. Null if the prompt is too long, too many estimates wait, or the thread
   * ended; then the caller must use the bound in bytes. Once there are more than `tokensMax`,
   * returns the count so far.
   */
  async estimatePrompt(
    account: string,
    request: ChatRequest,
    tokensMax: number,
  ): Promise<number | null> {
    if (promptTokensMax(request) > ESTIMATED_BYTES_MAX) return null;
    const pieces = promptPieces(request);
    const job = { account, isEstimate: true, tokensMax, isWanted: ALWAYS, pieces };
    const counted = await this.#count(job);
    return counted === null ? null : counted + templateTokens(request);
  }

  /**
   * The tokens of texts of any length. Null if too many estimates wait, or the thread ended. Once
   * there are more than `tokensMax`, returns the count so far.
   */
  async estimateTexts(
    account: string,
    texts: readonly string[],
    tokensMax: number,
  ): Promise<number | null> {
    const pieces = texts.flatMap(piecesOf);
    return await this.#count({ account, isEstimate: true, tokensMax, isWanted: ALWAYS, pieces });
  }

  /**
   * The tokens of a prompt of any length, for a charge. Fewer if the count is given up, which is so
   * once it is not wanted.
   */
  async countPrompt(
    account: string,
    request: ChatRequest,
    isWanted: IsWanted = ALWAYS,
  ): Promise<number> {
    const counted = await this.#countAll(account, promptPieces(request), isWanted);
    return counted + templateTokens(request);
  }

  /** The tokens of texts of any length, for a charge. */
  async countTexts(account: string, texts: readonly string[]): Promise<number> {
    return await this.#countAll(account, texts.flatMap(piecesOf), ALWAYS);
  }

  /** Ends the thread. Waiting charges are counted without it. */
  close(): void {
    this.#stopWarmUp();
    this.#thread.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #countAll(account: string, pieces: readonly string[], isWanted: IsWanted): Promise<number> {
    const tokensMax = Number.POSITIVE_INFINITY;
    const counted = await this.#count({ account, isEstimate: false, tokensMax, isWanted, pieces });
    if (counted !== null) return counted;
    // One at a time: each pauses after a piece, but many pieces at once would be a long wait.
    const alone = this.#withoutThread.then(() =>
      isWanted() ? countInPieces(pieces, tokensMax) : 0,
    );
    this.#withoutThread = alone.catch(() => 0);
    return await alone;
  }

  async #count({
    isEstimate,
    pieces,
    ...job
  }: Pick<Job, "account" | "tokensMax" | "isWanted"> & {
    readonly isEstimate: boolean;
    readonly pieces: readonly string[];
  }): Promise<number | null> {
    const length = lengthOf(pieces);
    if (length === 0) return 0;
    const isLimited = isEstimate && length > SHORT_LENGTH;
    if (isLimited && this.#isFull(job.account)) return null;
    if (!this.#thread.start()) return null;
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.#enqueue({ ...job, isLimited, pieces: [...pieces], tokens: 0, resolve });
    if (isLimited) this.#limited += 1;
    void this.#work();
    try {
      return await promise;
    } finally {
      if (isLimited) this.#limited -= 1;
    }
  }

  #isFull(account: string): boolean {
    const waiting = this.#waiting.get(account)?.filter(({ isLimited }) => isLimited) ?? [];
    return waiting.length >= WAITING_MAX.account || this.#limited >= WAITING_MAX.total;
  }

  #enqueue(job: Job): void {
    const queue = this.#waiting.get(job.account);
    if (queue === undefined) this.#waiting.set(job.account, [job]);
    else queue.push(job);
  }

  /** Sends the jobs to the thread, one message at a time. */
  async #work(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    for (let parts = this.#takeParts(); parts.length > 0; parts = this.#takeParts()) {
      let counts: readonly number[];
      try {
        counts = await this.#thread.request(parts.map(({ texts }) => texts));
      } catch {
        // ThreadClient has logged the reason. If the thread has ended, the next jobs fail fast too.
        for (const { job } of parts) job.resolve(null);
        continue;
      }
      for (const [at, { job }] of parts.entries()) {
        job.tokens += counts[at] ?? 0;
        const isAll = job.pieces.length === 0 || job.tokens > job.tokensMax;
        if (isAll || !job.isWanted()) job.resolve(job.tokens);
        else this.#resume(job);
      }
    }
    this.#isAsking = false;
  }

  /** Takes the texts that fit into one message. The account of each job then goes last. */
  #takeParts(): Part[] {
    const parts: Part[] = [];
    let left = MESSAGE_LENGTH_MAX;
    /** Accounts whose last job did not fit: their later jobs wait for it. */
    const cut = new Set<string>();
    // A map goes on with the accounts that are set again behind those that wait.
    for (const [account, jobs] of this.#waiting) {
      const [job] = jobs;
      if (job === undefined || cut.has(account)) break;
      const texts = takeFirst(job.pieces, left, parts.length === 0);
      if (texts.length === 0) break;
      if (job.pieces.length > 0) cut.add(account);
      parts.push({ job, texts });
      left -= lengthOf(texts);
      jobs.shift();
      this.#waiting.delete(account);
      if (jobs.length > 0) this.#waiting.set(account, jobs);
    }
    return parts;
  }

  /** Puts a job that has begun before the other jobs of its account. */
  #resume(job: Job): void {
    const others = this.#waiting.get(job.account) ?? [];
    this.#waiting.delete(job.account);
    this.#waiting.set(job.account, [job, ...others]);
  }
}

function startThread(): Worker {
  return new Worker(new URL("./token-thread.ts", import.meta.url));
}

/** Removes and returns the pieces that fit into `lengthMax`; the first also if it is longer. */
function takeFirst(pieces: string[], lengthMax: number, needsOne: boolean): string[] {
  let length = 0;
  let count = 0;
  for (const piece of pieces) {
    length += piece.length;
    if (length > lengthMax && !(needsOne && count === 0)) break;
    count += 1;
  }
  return pieces.splice(0, count);
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
