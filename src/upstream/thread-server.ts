// Serves a ThreadClient from inside its worker thread.

import type { Log } from "../core/log.ts";
import type { FromThread, LogLevel, ToThread } from "./thread-messages.ts";

export interface ThreadContext<Event> {
  /** Writes to the log of the program. */
  readonly log: Log;
  readonly send: (event: Event) => void;
}

/**
 * Serves the ThreadClient that started this thread. `open` gets the client's `setup` and resolves
 * to the function that replies; requests wait for it. If `open` fails, the thread ends. Only the
 * name of a request's error is passed on, since its message may quote the request.
 */
export function serveThread<Setup, Request, Reply, Event = never>(
  open: (
    setup: Setup,
    context: ThreadContext<Event>,
  ) => Promise<(request: Request) => Reply> | ((request: Request) => Reply),
): void {
  const post = (message: FromThread<Reply, Event>) => postMessage(message);
  const logAt = (level: LogLevel) => (fields: object, message: string) =>
    post({ type: "log", level, fields, message });
  const log = { info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
  const { promise: handler, resolve } = Promise.withResolvers<(request: Request) => Reply>();

  const start = async (setup: Setup) => {
    resolve(await open(setup, { log, send: (event) => post({ type: "event", event }) }));
    post({ type: "ready" });
  };
  const reply = async (request: Request) => {
    const handle = await handler;
    try {
      post({ type: "reply", reply: handle(request) });
    } catch (error) {
      post({ type: "failed", reason: error instanceof Error ? error.name : "unknown" });
    }
  };

  addEventListener("message", ({ data }: MessageEvent<ToThread<Setup, Request>>) => {
    if (data.type === "request") void reply(data.request);
    // An error thrown outside the promise ends the thread, and the client receives the error.
    else start(data.setup).catch((error: unknown) => setTimeout(() => raise(error)));
  });
}

function raise(error: unknown): never {
  throw error;
}
