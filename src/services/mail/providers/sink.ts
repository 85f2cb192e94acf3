// Runs the mail server of an installation without a relay: it accepts every message and delivers
// nothing.

import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Log } from "../../../core/log.ts";

export interface MailSink {
  readonly port: number;
  close(): Promise<void>;
}

const BYTES_MAX = 4 * 1024 * 1024;

/** Starts the sink on a free port of this machine. The sink logs each message that it drops. */
export async function startSink(log: Pick<Log, "info">): Promise<MailSink> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    size: BYTES_MAX,
    banner: "Farebox sink: mail is taken and delivered nowhere",
    onData(stream, session, done) {
      let bytes = 0;
      stream.on("data", (piece: Buffer) => {
        bytes += piece.length;
      });
      stream.on("end", () => {
        const recipients = session.envelope.rcptTo.length;
        log.info({ recipients, bytes }, "The mail sink took a message; it is delivered NOWHERE");
        done(null, "Taken, and delivered nowhere");
      });
    },
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return { port, close: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}
