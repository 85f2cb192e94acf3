// The thread for large bodies as the API sees it.

import type { Clock } from "../core/clock.ts";
import { ApiError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { BodyParser, BodyToParse, ParsedBody } from "../http/body/parse-body.ts";
import { ThreadClient } from "../upstream/thread-client.ts";

/** The most bodies that may wait. The limits for senders bound the memory of these bodies. */
const PENDING_MAX = 1_000;
/** A thread that takes longer for one body is terminated. */
const ANSWER_MS = 10_000;
/** The time from the end of a thread to the start of another one. */
const RESTART_MS = 1_000;

/** Starts its thread with the first large body. */
export class BodyThread implements BodyParser, Disposable {
  readonly #thread: ThreadClient<null, BodyToParse, ParsedBody>;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#thread = new ThreadClient({
      name: "The thread for large bodies",
      start: () => new Worker(new URL("./body-thread.ts", import.meta.url)),
      setup: null,
      pendingMax: PENDING_MAX,
      openMs: ANSWER_MS,
      silenceMs: ANSWER_MS,
      restartMs: RESTART_MS,
      transfer: ({ body }) => (typeof body === "string" ? [] : [body.buffer as ArrayBuffer]),
      clock,
      log,
    });
  }

  async parse(sender: string, body: BodyToParse): Promise<ParsedBody> {
    try {
      return await this.#thread.request(body, undefined, sender);
    } catch (cause) {
      const message = "Large bodies cannot be read right now";
      throw new ApiError("service_unavailable", message, { retryAfterSeconds: 1, cause });
    }
  }

  close(): void {
    this.#thread.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
