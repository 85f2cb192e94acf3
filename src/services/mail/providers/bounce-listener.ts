// Receives bounces (VERP). The recipient address names the bounced message; of the content
// only a report of a failure is read, and nothing is stored.

import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import type { Log } from "../../../core/log.ts";
import type { SecretList } from "../../../core/secrets.ts";
import { bouncedMessage } from "../bounce-address.ts";
import { REPORT_BYTES_MAX, reportsFailure } from "./failure-report.ts";

export interface BounceListenerOptions {
  readonly domain: string;
  readonly host: string;
  readonly port: number;
  /** The secrets that the return paths were signed with; bounces come days later. */
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
 * Starts the listener; rejects if the port is taken. The listener accepts only return paths of ours
 * as recipients.
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
      const beginning = new Beginning();
      stream.on("data", (piece: Buffer) => beginning.add(piece));
      stream.on("end", () => {
        // A report has an empty sender (RFC 5321 4.5.5). Other mails that must not be answered have
        // an empty sender too, such as vacation notices (RFC 3834).
        const isReport = envelope.mailFrom === false || envelope.mailFrom.address === "";
        const isBounce = isReport && reportsFailure(beginning.bytes());
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

/** Keeps the beginning of a mail, up to the length that is read. */
class Beginning {
  readonly #pieces: Buffer[] = [];
  #left = REPORT_BYTES_MAX;

  add(piece: Buffer): void {
    if (this.#left > 0) this.#pieces.push(piece.subarray(0, this.#left));
    this.#left -= piece.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

function later(): Error {
  return refusal(451, "Try again later");
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
