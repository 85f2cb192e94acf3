// Runs a thread that does as each request says, for the tests of ThreadClient.

import { serveThread } from "../../../src/upstream/thread-server.ts";

export type EchoRequest =
  | { readonly echo: string }
  | { readonly fail: string }
  | { readonly send: string }
  | { readonly log: string }
  /** Ends the thread. */
  | { readonly die: true }
  /** Never replies to this request or any later one. */
  | { readonly hang: true };

export interface EchoSetup {
  /** Fails to open. */
  readonly isBroken?: boolean;
  /** Precedes each echo. */
  readonly prefix?: string;
}

serveThread<EchoSetup, EchoRequest, string, string>(
  async ({ isBroken = false, prefix = "" }, { log, send }) => {
    if (isBroken) throw new Error("the thread of a test cannot open\nparams: a secret");
    return (request) => {
      if ("echo" in request) return prefix + request.echo;
      if ("fail" in request) throw new RangeError(request.fail);
      if ("send" in request) send(request.send);
      else if ("log" in request) log.warn({ text: request.log }, "A line of the thread");
      else if ("hang" in request) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      else process.exit(1);
      return "done";
    };
  },
);
