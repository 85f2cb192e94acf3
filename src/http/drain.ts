// Ends a process without losing a call: it announces that it is leaving, takes no more calls, waits
// for the open ones, and interrupts those that last too long.

import { ApiError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { BunServer } from "./server.ts";

/** The process is leaving: load balancers should send requests elsewhere. */
export class Draining extends Error {
  override readonly name = "Draining";

  constructor() {
    super("This process is being stopped");
  }
}

/** The part of the server that stopping uses. */
type StoppedServer = Pick<BunServer, "stop" | "pendingRequests">;

export interface DrainDeps {
  readonly server: StoppedServer | null;
  /** Requests are still taken for this time while /readyz answers 503. */
  readonly noticeMs: number;
  /** Open calls may continue for this time after `noticeMs`. */
  readonly callsMs: number;
  /** Ends the open streams with this error; each is charged for the part that was sent. */
  readonly interrupt: (reason: ApiError) => void;
  readonly log: Log;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Interrupted streams end at once; a client that does not read is cut off after this time. */
const CUT_MS = 5_000;
/**
 * The time between two looks at the open calls. Requests already on their way have this time to
 * come.
 */
const LOOK_MS = 500;
const ENDED = "ended";

export class Drain {
  #isDraining = false;

  /** Rejects once the process is leaving. */
  async check(): Promise<void> {
    if (this.#isDraining) throw new Draining();
  }

  /** Resolves when no request is open. */
  async run({ server, noticeMs, callsMs, interrupt, log, sleep }: DrainDeps): Promise<void> {
    this.#isDraining = true;
    if (noticeMs > 0) await sleep(noticeMs);
    if (server === null) return;
    const ended = stopServer(server, sleep);
    if ((await Promise.race([ended, sleep(callsMs)])) === ENDED) return;
    log.warn({}, "Calls are interrupted: they lasted longer than DRAIN_SECONDS");
    interrupt(stopped());
    if ((await Promise.race([ended, sleep(CUT_MS)])) === ENDED) return;
    await server.stop(true);
  }
}

/**
 * Takes no more connections; resolves when no request is open. Bun alone would also wait for
 * connections on which no request ever came.
 */
async function stopServer(server: StoppedServer, sleep: DrainDeps["sleep"]): Promise<typeof ENDED> {
  const closed = server.stop().then(() => ENDED);
  do {
    if ((await Promise.race([closed, sleep(LOOK_MS)])) === ENDED) return ENDED;
  } while (server.pendingRequests > 0);
  await server.stop(true);
  return ENDED;
}

function stopped(): ApiError {
  const message = "This server is being stopped; what was sent until now is charged";
  return new ApiError("service_unavailable", message, { retryAfterSeconds: 1 });
}
