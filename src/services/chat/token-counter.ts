// Counts tokens in a thread of its own. Accounts take turns, piece by piece, so that no account
// waits for all that another one sent.

import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { ChatRequest } from "./providers/provider.ts";
import type { TokenAnswer, TokenQuestion } from "./token-messages.ts";
import {
  countInPieces,
  countTokens,
  piecesOf,
  promptPieces,
  promptTokensMax,
  templateTokens,
} from "./tokens.ts";

/** A prompt with a larger bound in bytes is not counted before its call is admitted (D-170). */
export const ESTIMATED_BYTES_MAX = 256 * 1024;
/**
 * Text that is counted at once where it is needed: 0.1 ms of prose, 6 ms of the worst text, where
 * the way to the thread and back takes 0.1 ms (D-171).
 */
const AT_ONCE_LENGTH_MAX = 1024;
/** What the thread is sent in one message: 1.5 ms of prose, 190 ms of the worst text. */
const MESSAGE_LENGTH_MAX = 32 * 1024;
/** Estimates of one account, and of all, that may wait. */
export const WAITING_MAX = { account: 4, total: 64 };
/** A thread that takes so long for one message is ended. */
const ANSWER_MS = 10_000;
/** After a thread has ended, no other is started for so long. */
const RESTART_MS = 1_000;

export interface TokenCounterDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Starts the thread; tests start others. */
  readonly start?: () => Worker;
}

interface Job {
  readonly account: string;
  readonly isEstimate: boolean;
  readonly tokensMax: number;
  /** What is left to be counted. */
  readonly pieces: string[];
  tokens: number;
  /** Null if the thread ended. */
  readonly resolve: (tokens: number | null) => void;
}

interface Question {
  readonly id: number;
  readonly job: Job;
  readonly callOff: () => void;
}

/** Starts its thread when it is first needed, and again after it has ended. */
export class TokenCounter implements Disposable {
  readonly #deps: TokenCounterDeps;
  /** What waits, by account; the account whose turn is next comes first. */
  readonly #waiting = new Map<string, Job[]>();
  #estimates = 0;
  #thread: Worker | null = null;
  #question: Question | null = null;
  #questions = 0;
  #restartAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: TokenCounterDeps) {
    this.#deps = deps;
  }

  /**
   * The tokens of a prompt, or null where the bound in bytes has to do: the prompt is long, too
   * much waits, or the thread ended. Counting ends early, with what was counted so far, once there
   * are more than `tokensMax`.
   */
  async estimatePrompt(
    account: string,
    request: ChatRequest,
    tokensMax: number,
  ): Promise<number | null> {
    if (promptTokensMax(request) > ESTIMATED_BYTES_MAX) return null;
    const pieces = promptPieces(request);
    const counted = await this.#count({ account, isEstimate: true, tokensMax, pieces });
    return counted === null ? null : counted + templateTokens(request);
  }

  /** The tokens of a prompt that is to be charged, however long. */
  async countPrompt(account: string, request: ChatRequest): Promise<number> {
    return (await this.#countAll(account, promptPieces(request))) + templateTokens(request);
  }

  /** The tokens of texts that are to be charged, however long. */
  async countTexts(account: string, texts: readonly string[]): Promise<number> {
    return await this.#countAll(account, texts.flatMap(piecesOf));
  }

  /** Ends the thread. What waits is counted without it. */
  close(): void {
    this.#restartAtMs = Number.POSITIVE_INFINITY;
    if (this.#thread !== null) this.#lose(this.#thread, null);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #countAll(account: string, pieces: readonly string[]): Promise<number> {
    const tokensMax = Number.POSITIVE_INFINITY;
    const counted = await this.#count({ account, isEstimate: false, tokensMax, pieces });
    return counted ?? (await countInPieces(pieces, tokensMax));
  }

  async #count({
    pieces,
    ...job
  }: Pick<Job, "account" | "isEstimate" | "tokensMax"> & {
    readonly pieces: readonly string[];
  }): Promise<number | null> {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (length <= AT_ONCE_LENGTH_MAX) {
      return pieces.reduce((tokens, piece) => tokens + countTokens(piece), 0);
    }
    if (job.isEstimate && this.#isFull(job.account)) return null;
    if (this.#thread === null && !this.#open()) return null;
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.#enqueue({ ...job, pieces: [...pieces], tokens: 0, resolve });
    if (job.isEstimate) this.#estimates += 1;
    this.#askNext();
    try {
      return await promise;
    } finally {
      if (job.isEstimate) this.#estimates -= 1;
    }
  }

  #isFull(account: string): boolean {
    const waiting = this.#waiting.get(account)?.filter(({ isEstimate }) => isEstimate) ?? [];
    return waiting.length >= WAITING_MAX.account || this.#estimates >= WAITING_MAX.total;
  }

  #enqueue(job: Job): void {
    const queue = this.#waiting.get(job.account);
    if (queue === undefined) this.#waiting.set(job.account, [job]);
    else queue.push(job);
  }

  /** Whether there is a thread now. */
  #open(): boolean {
    const { clock, log, start = startThread } = this.#deps;
    if (clock.monotonicMs() < this.#restartAtMs) return false;
    const thread = start();
    thread.unref();
    thread.onmessage = ({ data }: MessageEvent<TokenAnswer>) => this.#onAnswer(data);
    thread.onerror = ({ message }) => this.#lose(thread, message);
    thread.addEventListener("close", () => this.#lose(thread, "it ended"));
    this.#thread = thread;
    log.info({}, "The thread that counts tokens was started");
    return true;
  }

  /** Sends the thread a part of the job whose turn it is; the account's next turn comes last. */
  #askNext(): void {
    const [turn] = this.#waiting;
    if (this.#thread === null || this.#question !== null || turn === undefined) return;
    const [account, [job, ...others]] = turn;
    if (job === undefined) throw new Error("An account without work has a turn");
    this.#waiting.delete(account);
    if (others.length > 0) this.#waiting.set(account, others);
    const thread = this.#thread;
    const id = ++this.#questions;
    const giveUp = () => this.#lose(thread, `no answer within ${ANSWER_MS} ms`);
    this.#question = { id, job, callOff: this.#deps.clock.after(ANSWER_MS, giveUp) };
    const question: TokenQuestion = { id, texts: takeFirst(job.pieces) };
    thread.postMessage(question);
  }

  #onAnswer({ id, tokens }: TokenAnswer): void {
    if (this.#question?.id !== id) return;
    const { job, callOff } = this.#question;
    callOff();
    this.#question = null;
    job.tokens += tokens;
    if (job.pieces.length === 0 || job.tokens > job.tokensMax) job.resolve(job.tokens);
    else this.#resume(job);
    this.#askNext();
  }

  /** A job that has begun goes before the other jobs of its account. */
  #resume(job: Job): void {
    const others = this.#waiting.get(job.account) ?? [];
    this.#waiting.delete(job.account);
    this.#waiting.set(job.account, [job, ...others]);
  }

  /** Forgets a thread that is gone, and lets nobody wait for it; no reason if we ended it. */
  #lose(thread: Worker, reason: string | null): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    thread.terminate();
    const jobs = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    if (this.#question !== null) {
      this.#question.callOff();
      jobs.push(this.#question.job);
      this.#question = null;
    }
    for (const { resolve } of jobs) resolve(null);
    if (reason === null) return;
    this.#restartAtMs = this.#deps.clock.monotonicMs() + RESTART_MS;
    this.#deps.log.error({ reason }, "The thread that counts tokens ended; it is started again");
  }
}

function startThread(): Worker {
  return new Worker(new URL("./token-thread.ts", import.meta.url));
}

/** Takes what one message may carry, at least one piece. */
function takeFirst(pieces: string[]): string[] {
  let length = 0;
  let count = 0;
  for (const piece of pieces) {
    if (count > 0 && length + piece.length > MESSAGE_LENGTH_MAX) break;
    length += piece.length;
    count += 1;
  }
  return pieces.splice(0, count);
}
