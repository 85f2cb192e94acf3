// Searches the embedded index for the thread that serves requests.

import type { Clock } from "../../../../core/clock.ts";
import type { Log } from "../../../../core/log.ts";
import { ThreadClient } from "../../../../upstream/thread-client.ts";
import { cleanHit } from "../clean-result.ts";
import type { SearchField, SearchRequest, SearchResult } from "../provider.ts";
import { used } from "../remote/kind.ts";
import { freshSince } from "../result-date.ts";
import type { EmbeddedLimits, EmbeddedSearch } from "../search-provider.ts";
import type { IndexEvent, IndexSetup } from "./index-setup.ts";
import type { IndexHit, IndexPage } from "./search-index.ts";

export interface EmbeddedIndexDeps extends IndexSetup {
  readonly clock: Clock;
  readonly log: Log;
}

/** A search takes some milliseconds. */
export const SEARCHES_PENDING_MAX = 256;
const SILENCE_MS = 30_000;
/** Building the index takes some seconds; it logs its progress. */
const OPEN_MS = 120_000;
const RESTART_MS = 10_000;

/** Starts its thread on first use, and ends this thread when it is closed. */
export class EmbeddedIndex implements EmbeddedSearch, Disposable {
  readonly #clock: Clock;
  readonly #thread: ThreadClient<IndexSetup, IndexPage, readonly IndexHit[], IndexEvent>;
  #hasDates = false;

  constructor({ directory, source, copy, clock, log }: EmbeddedIndexDeps) {
    this.#clock = clock;
    this.#thread = new ThreadClient({
      name: "The search thread",
      start: () => new Worker(new URL("./index-thread.ts", import.meta.url)),
      setup: { directory, source, copy },
      pendingMax: SEARCHES_PENDING_MAX,
      openMs: OPEN_MS,
      silenceMs: SILENCE_MS,
      restartMs: RESTART_MS,
      onEvent: ({ hasDates }) => {
        this.#hasDates = hasDates;
      },
      clock,
      log,
    });
  }

  isReady(): boolean {
    this.open();
    return this.#thread.isReady;
  }

  /** Starts to open the index; it is ready some time later. */
  open(): void {
    this.#thread.start();
  }

  lacks(request: SearchRequest): readonly SearchField[] {
    const fields: SearchField[] = used(request, "country");
    // Only an open index knows if it has dates to filter by.
    const isWithoutDates = this.#thread.isReady && !this.#hasDates;
    if (isWithoutDates) fields.push(...used(request, "freshness"));
    return fields;
  }

  async search(request: SearchRequest, limits: EmbeddedLimits): Promise<SearchResult[]> {
    const { page, maxResults, freshness } = request;
    const since =
      freshness === null ? null : freshSince(freshness, this.#clock.now()).toISOString();
    const query: IndexPage = {
      query: request.query,
      skip: (page - 1) * maxResults,
      limit: page * maxResults,
      language: request.language,
      since: since?.slice(0, 10) ?? null,
      includeDomains: request.includeDomains,
      excludeDomains: request.excludeDomains,
    };
    const hits = await this.#thread.request(query, limits, limits.account);
    return hits.map(cleanHit);
  }

  close(): void {
    this.#thread.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
