// Receives bounces (VERP). The recipient address names the bounced message; the content of the
// bounce is neither read nor stored.

import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Log } from "../../../core/log.ts";
import type { SecretList } from "../../../core/secrets.ts";
import { bouncedMessage } from "../bounce-address.ts";

export interface BounceListenerOptions {
  readonly domain: string;
  readonly host: string;
  readonly port: number;
  /** What the return paths were signed with; bounces come days later. */
  readonly secrets: SecretList;
  /** `bounce` resolves to false if the bounce must come again. */
  readonly messages: { bounce(messageId: string): Promise<boolean> };
  readonly log: Pick<Log, "info" | "warn">;
}

export interface BounceListener {
  readonly port: number;
  close(): Promise<void>;
}

/** A bounce quotes one message at most. */
const BYTES_MAX = 4 * 1024 * 1024;
const CLIENTS_MAX = 100;
const QUIET_MS = 30_000;

/**
 * Starts the listener; rejects if the port is taken. It accepts only return paths of ours as
 * recipients.
 */
export async function startBounceListener(options: BounceListenerOptions): Promise<BounceListener> {
  const { domain, secrets, messages, log } = options;
  const messageOf = (address: string) => bouncedMessage(address, secrets, domain);
  const server = new SMTPServer({
    name: domain,
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    size: BYTES_MAX,
    rejectOversized: true,
    maxClients: CLIENTS_MAX,
    socketTimeout: QUIET_MS,
    onRcptTo({ address }, _session, done) {
      if (messageOf(address) !== null) done();
      else done(refusal(550, "No such return path"));
    },
    onData(stream, { envelope }, done) {
      stream.resume();
      stream.on("end", () => {
        // A bounce has an empty sender (RFC 5321 4.5.5). Anything else is a reply from a person or
        // a machine, and does not mean that the message was not delivered.
        const isBounce = envelope.mailFrom === false || envelope.mailFrom.address === "";
        const ids = envelope.rcptTo.flatMap(({ address }) => messageOf(address) ?? []);
        const noted = Promise.all(isBounce ? ids.map((id) => messages.bounce(id)) : []);
        noted.then(
          (results) => {
            // A bounce can overtake the record that its message was sent.
            if (results.includes(false)) return done(later());
            if (isBounce) log.info({ messages: ids }, "Messages came back");
            done(null, "Noted");
          },
          (error) => {
            log.warn({ err: error }, "A bounce could not be noted; it will come again");
            done(later());
          },
        );
      });
    },
  });
  server.on("error", (err) => log.warn({ err }, "A client of the bounce listener failed"));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.server.once("error", reject);
  server.listen(options.port, options.host, resolve);
  await promise;
  const { port } = server.server.address() as AddressInfo;
  return { port, close: () => new Promise<void>((closed) => server.close(() => closed())) };
}

function later(): Error {
  return refusal(451, "Try again later");
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
