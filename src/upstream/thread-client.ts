// Sends requests to a worker thread, and receives its replies.

import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { CancelSignal } from "../core/cancellation.ts";
import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { RouteFailure } from "./route-failure.ts";
import type { FromThread, ToThread } from "./thread-messages.ts";
import { Turns } from "./turns.ts";

export interface ThreadOptions<Setup, Event, Request = never> {
  /** The name in logs and errors: "The search thread". */
  readonly name: string;
  /** Starts the thread, which calls `serveThread`. */
  readonly start: () => Worker;
  readonly setup: Setup;
  /** The most requests that may wait for a reply. */
  readonly pendingMax: number;
  /** A thread that is not ready after this time without any message is ended. */
  readonly openMs: number;
  /** A ready thread that has requests to reply to is ended after this time without any message. */
  readonly silenceMs: number;
  /** After a thread has ended or could not be started, no new thread is started for this time. */
  readonly restartMs: number;
  readonly onEvent?: (event: Event) => void;
  /** Returns the buffers of a request that move to the thread instead of being copied. */
  readonly transfer?: (request: Request) => ArrayBuffer[];
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly log: Log;
}

export interface RequestLimits {
  readonly timeoutMs: number;
  /** Aborted when the reply is not needed any more. */
  readonly signal: CancelSignal;
}

/**
 * A thread opens a few files before it runs any code; if too few are left, Bun ends the process.
 */
const FREE_FILES_MIN = 8;

interface Job<Request, Reply> {
  readonly request: Request;
  readonly reply: PromiseWithResolvers<Reply>;
}

interface Thread<Request, Reply> {
  readonly worker: Worker;
  readonly ready: PromiseWithResolvers<void>;
  readonly turns: Turns<Job<Request, Reply>>;
  /**
   * The request that the thread works on. The thread gets one request at a time: it would free the
   * memory of several only after the last. A request that was given up stays here, since the thread
   * goes on with it.
   */
  job: Job<Request, Reply> | null;
  isReady: boolean;
  /** Ends the thread if it is silent for too long. */
  stopWatch: () => void;
}

/**
 * Starts its thread when it is first needed, and again after it has ended. Every request gets a
 * reply or a RouteFailure: when the thread ends, all requests without a reply fail at once. Only
 * the request that the thread worked on can have ended the thread, so only the failure of that
 * request blames the server.
 */
export class ThreadClient<Setup, Request, Reply, Event = never> implements Disposable {
  readonly #options: ThreadOptions<Setup, Event, Request>;
  #thread: Thread<Request, Reply> | null = null;
  #restartAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ThreadOptions<Setup, Event, Request>) {
    this.#options = options;
  }

  /** True if the thread has opened its data. */
  get isReady(): boolean {
    return this.#thread?.isReady === true;
  }

  /** Starts the thread, unless it runs. False if the thread must not be started now. */
  start(): boolean {
    this.#thread ??= this.#open();
    return this.#thread !== null;
  }

  /** Resolves when the thread is ready. Throws a RouteFailure if the thread ends before. */
  async open(): Promise<void> {
    if (!this.start() || this.#thread === null) throw this.#ended();
    await this.#thread.ready.promise;
  }

  /**
   * Returns the thread's reply. Throws a RouteFailure. Accounts with waiting requests take turns.
   */
  async request(request: Request, limits?: RequestLimits, account = ""): Promise<Reply> {
    const { name, pendingMax } = this.#options;
    if (!this.start() || this.#thread === null) throw this.#ended();
    const thread = this.#thread;
    if (thread.turns.size + Number(thread.job !== null) >= pendingMax) {
      throw new RouteFailure(`${name} has more to do than it can in time`, "nobody");
    }
    const reply = Promise.withResolvers<Reply>();
    const job = { request, reply };
    thread.turns.add(account, job);
    this.#goOn(thread);
    const stopWaiting = this.#limit(reply, limits);
    try {
      return await reply.promise;
    } finally {
      stopWaiting();
      thread.turns.remove(account, job);
    }
  }

  /**
   * Ends a thread that has nothing to do, which gives back all its memory; the next request starts
   * a new thread.
   */
  endIfIdle(): void {
    if (this.#thread?.job === null) this.#lose(this.#thread, null);
  }

  /** Ends the thread, and starts no other one. */
  close(): void {
    this.#restartAtMs = Number.POSITIVE_INFINITY;
    if (this.#thread !== null) this.#lose(this.#thread, null);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): Thread<Request, Reply> | null {
    const { clock, log, name, setup, start, restartMs } = this.#options;
    if (clock.monotonicMs() < this.#restartAtMs) return null;
    if (!hasFreeFiles()) {
      this.#restartAtMs = clock.monotonicMs() + restartMs;
      log.error({}, `${name} was not started: too many files are open`);
      return null;
    }
    const worker = start();
    worker.unref();
    const thread: Thread<Request, Reply> = {
      worker,
      ready: Promise.withResolvers(),
      turns: new Turns(),
      job: null,
      isReady: false,
      stopWatch: () => {},
    };
    // `open` may wait for this promise and gets the error; often nothing waits.
    thread.ready.promise.catch(() => {});
    worker.onmessage = ({ data }: MessageEvent<FromThread<Reply, Event>>) =>
      this.#receive(thread, data);
    worker.onerror = ({ message }) => this.#lose(thread, headlineOf(message));
    worker.addEventListener("close", () => this.#lose(thread, "it closed"));
    post(worker, { type: "open", setup });
    this.#watch(thread);
    log.info({}, `${name} was started`);
    return thread;
  }

  #receive(thread: Thread<Request, Reply>, message: FromThread<Reply, Event>): void {
    if (this.#thread !== thread) return;
    switch (message.type) {
      case "ready":
        thread.isReady = true;
        thread.ready.resolve();
        break;
      case "reply":
        thread.job?.reply.resolve(message.reply);
        thread.job = null;
        break;
      case "failed":
        thread.job?.reply.reject(this.#failed(message.reason));
        thread.job = null;
        break;
      case "event":
        this.#options.onEvent?.(message.event);
        break;
      case "log":
        this.#options.log[message.level](message.fields, message.message);
        break;
    }
    this.#goOn(thread);
    this.#watch(thread);
  }

  /** Sends the thread its next request, unless it works on one. */
  #goOn(thread: Thread<Request, Reply>): void {
    if (thread.job !== null) return;
    thread.job = thread.turns.take() ?? null;
    if (thread.job === null) return;
    const { request } = thread.job;
    post(thread.worker, { type: "request", request }, this.#options.transfer?.(request));
    this.#watch(thread);
  }

  /** Restarts the thread's time limit, if the thread has anything to do. */
  #watch(thread: Thread<Request, Reply>): void {
    const { clock, openMs, silenceMs } = this.#options;
    thread.stopWatch();
    thread.stopWatch = () => {};
    if (thread.isReady && thread.job === null) return;
    const forMs = thread.isReady ? silenceMs : openMs;
    thread.stopWatch = clock.after(forMs, () => this.#lose(thread, `silent for ${forMs} ms`));
  }

  /** Limits the wait for a reply; call the returned function when the reply is there. */
  #limit({ reject }: PromiseWithResolvers<Reply>, limits?: RequestLimits): () => void {
    if (limits === undefined) return () => {};
    const { timeoutMs, signal } = limits;
    const { clock, name } = this.#options;
    const giveUp = () => reject(new RouteFailure(`${name} did not reply in time`));
    const cancel = clock.after(timeoutMs, giveUp);
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
    return () => {
      cancel();
      signal.removeEventListener("abort", giveUp);
    };
  }

  /** Forgets a thread that has ended or is about to end; `reason` is null if we ended it. */
  #lose(thread: Thread<Request, Reply>, reason: string | null): void {
    if (this.#thread !== thread) return;
    const { clock, log, name, restartMs } = this.#options;
    this.#thread = null;
    thread.stopWatch();
    thread.worker.terminate();
    thread.ready.reject(this.#ended());
    thread.job?.reply.reject(this.#ended("server"));
    for (let job = thread.turns.take(); job !== undefined; job = thread.turns.take()) {
      job.reply.reject(this.#ended());
    }
    if (reason === null) return;
    this.#restartAtMs = clock.monotonicMs() + restartMs;
    log.error({ reason }, `${name} ended; it is started again when it is needed`);
  }

  #ended(blames: "server" | "nobody" = "nobody"): RouteFailure {
    return new RouteFailure(`${this.#options.name} ended`, blames);
  }

  #failed(reason: string): RouteFailure {
    return new RouteFailure(`${this.#options.name} failed (${reason})`);
  }
}

function post<Setup, Request>(
  worker: Worker,
  message: ToThread<Setup, Request>,
  transfer: ArrayBuffer[] = [],
): void {
  worker.postMessage(message, transfer);
}

/** True if the process can open some more files. Takes some microseconds. */
function hasFreeFiles(): boolean {
  const files: number[] = [];
  try {
    while (files.length < FREE_FILES_MIN) files.push(openSync(devNull, "r"));
    return true;
  } catch {
    return false;
  } finally {
    for (const file of files) closeSync(file);
  }
}

/**
 * Returns the first line of the error that ended a thread. The platform also prints code, and an
 * error of Postgres lists the values of its statement, such as addresses of people.
 */
function headlineOf(printed: string): string {
  return /^\w*error: .*$/im.exec(printed)?.[0] ?? "an unknown error";
}
