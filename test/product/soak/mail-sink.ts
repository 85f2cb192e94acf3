// Serves as a mail server that takes every message and keeps none.

import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface SoakMailSink extends AsyncDisposable {
  /** The address in the form of MAIL_SMTP_URL. */
  readonly url: string;
  /** Messages so far. */
  readonly taken: number;
}

/** Starts a sink on a free port of this machine. */
export async function startMailSink(): Promise<SoakMailSink> {
  let taken = 0;
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onData(stream, _, done) {
      stream.resume();
      stream.on("end", () => {
        taken += 1;
        done();
      });
    },
  });
  // A client that is stopped breaks its connections.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}?tls=none`,
    get taken() {
      return taken;
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
