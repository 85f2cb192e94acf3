// The embedded index, for the thread that serves requests.

import type { Clock } from "../../../core/clock.ts";
import type { Log } from "../../../core/log.ts";
import { RouteFailure } from "../../../upstream/route-failure.ts";
import { cleanHit } from "./clean-result.ts";
import type { IndexMessage, IndexQuestion, IndexStart } from "./index-messages.ts";
import { used } from "./kind.ts";
import type { SearchField, SearchRequest, SearchResult } from "./provider.ts";
import { freshSince } from "./result-date.ts";
import type { IndexHit, IndexQuery } from "./search-index.ts";
import type { EmbeddedLimits, EmbeddedSearch } from "./search-provider.ts";

export interface EmbeddedIndexDeps extends Omit<IndexStart, "type"> {
  readonly clock: Clock;
  readonly log: Log;
}

/** After its thread ended, the next search starts it again, but not before this time. */
const RESTART_MS = 10_000;

interface Waiting {
  readonly resolve: (hits: readonly IndexHit[]) => void;
  readonly reject: (error: RouteFailure) => void;
}

/** Starts its thread on first use, and ends it when it is closed. */
export class EmbeddedIndex implements EmbeddedSearch, Disposable {
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | null = null;
  #isReady = false;
  #hasDates = false;
  #questions = 0;
  #restartAtMs = 0;

  constructor(readonly deps: EmbeddedIndexDeps) {}

  isReady(): boolean {
    this.open();
    return this.#isReady;
  }

  /** Starts to open the index; it is ready some time later. */
  open(): void {
    if (this.#thread !== null || this.deps.clock.monotonicMs() < this.#restartAtMs) return;
    const { directory, source } = this.deps;
    const thread = new Worker(new URL("./index-thread.ts", import.meta.url));
    this.#thread = thread;
    thread.onmessage = ({ data }: MessageEvent<IndexMessage>) => this.#hear(data);
    thread.onerror = ({ message }) => this.#lose(thread, message);
    thread.addEventListener("close", () => this.#lose(thread, "it ended"));
    const start: IndexStart = { type: "start", directory, source };
    thread.postMessage(start);
  }

  lacks(request: SearchRequest): readonly SearchField[] {
    const fields: SearchField[] = used(request, "country");
    // Whether there are dates to filter by is known only when the index is open.
    if (this.#isReady && !this.#hasDates) fields.push(...used(request, "freshness"));
    return fields;
  }

  async search(request: SearchRequest, limits: EmbeddedLimits): Promise<SearchResult[]> {
    const { page, maxResults, freshness } = request;
    const since =
      freshness === null ? null : freshSince(freshness, this.deps.clock.now()).toISOString();
    const hits = await this.#ask(
      {
        query: request.query,
        limit: page * maxResults,
        language: request.language,
        since: since?.slice(0, 10) ?? null,
        includeDomains: request.includeDomains,
        excludeDomains: request.excludeDomains,
      },
      limits,
    );
    return hits.slice((page - 1) * maxResults).map(cleanHit);
  }

  close(): void {
    const thread = this.#thread;
    this.#restartAtMs = Number.POSITIVE_INFINITY;
    if (thread !== null) this.#lose(thread, null);
    thread?.terminate();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #ask(query: IndexQuery, { signal, timeoutMs }: EmbeddedLimits): Promise<readonly IndexHit[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly IndexHit[]>();
    if (this.#thread === null) throw new RouteFailure("The index is not open");
    const id = ++this.#questions;
    const giveUp = () => reject(new RouteFailure("The index did not answer in time"));
    const callOff = this.deps.clock.after(timeoutMs, giveUp);
    signal.addEventListener("abort", giveUp, { once: true });
    this.#waiting.set(id, { resolve, reject });
    const question: IndexQuestion = { type: "question", id, query };
    this.#thread.postMessage(question);
    return promise.finally(() => {
      callOff();
      signal.removeEventListener("abort", giveUp);
      this.#waiting.delete(id);
    });
  }

  #hear(message: IndexMessage): void {
    const { log } = this.deps;
    switch (message.type) {
      case "log":
        log[message.level](message.fields, message.message);
        break;
      case "ready":
        this.#isReady = true;
        log.info({ documents: message.documents }, "The search index is open");
        break;
      case "dates":
        this.#hasDates = message.hasDates;
        break;
      case "hits":
        this.#waiting.get(message.id)?.resolve(message.hits);
        break;
      case "failed":
        this.#waiting
          .get(message.id)
          ?.reject(new RouteFailure(`The index failed (${message.reason})`));
        break;
    }
  }

  /** Forgets a thread that has ended; `reason` is null if we ended it. */
  #lose(thread: Worker, reason: string | null): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    this.#isReady = false;
    const failure = new RouteFailure("The index was closed");
    for (const { reject } of this.#waiting.values()) reject(failure);
    if (reason === null) return;
    this.#restartAtMs = this.deps.clock.monotonicMs() + RESTART_MS;
    this.deps.log.error({ reason }, "The search index is not open; it is tried again");
  }
}
