// Keeps this machine's copy of the documents up to date: looks at one row every few seconds, and
// has a thread copy the changed documents.

import type { Clock } from "../../../../core/clock.ts";
import type { Log } from "../../../../core/log.ts";
import type { IndexedDocuments } from "../../../../store/documents/indexed-documents.ts";
import { ThreadClient } from "../../../../upstream/thread-client.ts";
import type { CopyEvent, CopySetup } from "./copy-setup.ts";

export interface DocumentCopyOptions {
  readonly documents: Pick<IndexedDocuments, "state">;
  readonly setup: CopySetup;
  /** False if no search uses the documents: then nothing is copied. */
  readonly isUsed: () => boolean;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** A thread that sends nothing for this long is ended. */
const SILENCE_MS = 120_000;

export class DocumentCopy implements Disposable {
  readonly #options: DocumentCopyOptions;
  #revision = "";
  #version = 0;
  #problem: string | null = null;
  #thread: Disposable | null = null;
  #closed = false;
  #looking: Promise<void> | null = null;
  #timer: Timer | null = null;

  constructor(options: DocumentCopyOptions) {
    this.#options = options;
  }

  /** The version of the documents that are searched here; 0 without a copy. */
  get version(): number {
    return this.#version;
  }

  /** The reason why the copy could not be brought up to date; null if it could. */
  get problem(): string | null {
    return this.#problem;
  }

  start(): void {
    void this.look();
    this.#timer = setInterval(() => void this.look(), this.#options.everyMs);
    this.#timer.unref();
  }

  /**
   * Looks now; the copy is up to date once this resolves, or `problem` has the reason why it is
   * not.
   */
  async look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#thread?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #look(): Promise<void> {
    const { documents, isUsed, log } = this.#options;
    if (!isUsed()) return;
    try {
      const { revision } = await documents.state();
      if (revision !== this.#revision) {
        this.#version = await this.#copy();
        this.#revision = revision;
        log.info({ version: this.#version }, "The documents of the index are up to date");
      }
      this.#problem = null;
    } catch (error) {
      if (this.#closed) return;
      // The documents of the last copy are searched meanwhile.
      if (this.#problem === null) log.warn({ err: error }, "The documents could not be copied");
      this.#problem = "its copy of the documents could not be brought up to date: see its log";
    }
  }

  async #copy(): Promise<number> {
    const { setup, clock, log } = this.#options;
    let version = 0;
    using thread = new ThreadClient<CopySetup, never, never, CopyEvent>({
      name: "The thread that copies documents",
      start: () => new Worker(new URL("./copy-thread.ts", import.meta.url)),
      setup,
      pendingMax: 0,
      openMs: SILENCE_MS,
      silenceMs: SILENCE_MS,
      restartMs: 0,
      onEvent: (event) => {
        version = event.version ?? version;
      },
      clock,
      log,
    });
    this.#thread = thread;
    await thread.open();
    return version;
  }
}
