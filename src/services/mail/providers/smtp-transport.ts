// Sends messages to a mail server over a pool of connections. Each attempt sends a message once.
// Before a second attempt, the caller must have recorded the first.

import { Readable } from "node:stream";
import type { NodemailerError } from "nodemailer";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Clock } from "../../../core/clock.ts";
import type { SmtpRelay } from "../smtp-relay.ts";
import { connectSmtp } from "./smtp-connect.ts";
import { codesOf, deliveryOf } from "./smtp-failure.ts";
import type { Delivery, MailTransport, NotAccepted, OutgoingMail } from "./transport.ts";

/** A connection is closed after this many messages: servers count them, and load balancers move. */
const MESSAGES_A_CONNECTION = 100;
/** Below the idle timeout of common servers. */
const IDLE_MS = 20_000;
/**
 * A conversation, with the steps that make the connection ready for the next one, may wait for the
 * time limit at every step, but in total for at most this many limits.
 */
const STEPS = 3;

export interface SmtpTransportOptions {
  readonly relay: SmtpRelay;
  readonly connectionsMax: number;
  readonly clock: Pick<Clock, "after">;
}

/** The longest that a message can take on a connection that is open. */
export function sendMsMax(relay: Pick<SmtpRelay, "timeoutMs">): number {
  return relay.timeoutMs * STEPS;
}

/** The bytes that a stream buffers before it asks for no more. */
const SLICE_BYTES = 16 * 1024;

const BROKEN = { kind: "deferred", why: "ECONNECTION", answered: false } as const;

/** Replies from here on are permanent (RFC 5321 4.2.1). */
const PERMANENT_FROM = 500;
/** Asks for reports of failures only, and without a copy of the mail (RFC 3461). */
const REPORTS = { notify: "FAILURE", ret: "HDRS" } as const;

/** The errors of a connection that the server closed while it was idle. */
const STALE = /^(?:ECONNECTION|ESOCKET)| 421$/;

/** The result of a transaction. The server refused the recipients in `later` for now. */
type Sent =
  | NotAccepted
  | { readonly kind: "accepted"; readonly accepted: number; readonly later: readonly string[] };

interface Line {
  readonly connection: SMTPConnection;
  used: number;
  endIdle: () => void;
}

export class SmtpTransport implements MailTransport {
  readonly #idle: Line[] = [];
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  #closed = false;

  constructor(readonly options: SmtpTransportOptions) {}

  async send(mail: OutgoingMail, commit: () => Promise<boolean>): Promise<Delivery> {
    await this.#takeTurn();
    try {
      const first = await this.#deliver(mail, commit);
      if (first.kind !== "accepted") return first;
      let { accepted, later } = first;
      // A server may limit the recipients of a transaction, and take the others in the next
      // (RFC 5321 4.5.3.1.10). Each transaction takes some recipients, so the loop ends.
      while (later.length > 0) {
        const next = await this.#deliver({ ...mail, to: later }, commit);
        if (next.kind !== "accepted") break;
        accepted += next.accepted;
        later = next.later;
      }
      return { kind: "accepted", accepted };
    } finally {
      this.#underWay -= 1;
      this.#waiting.shift()?.();
    }
  }

  close(): void {
    this.#closed = true;
    for (const line of this.#idle.splice(0)) {
      line.endIdle();
      line.connection.quit();
    }
  }

  /** Sends a message in one transaction. */
  async #deliver(mail: OutgoingMail, commit: () => Promise<boolean>): Promise<Sent> {
    const line = this.#idle.pop();
    if (line !== undefined) {
      line.endIdle();
      const delivery = await this.#converse(line, mail, commit);
      // If the delivery is stale, the server had closed the idle connection and accepted nothing: a
      // new connection is tried.
      if (delivery !== "stale") return delivery;
    }
    const fresh = await this.#open();
    if ("kind" in fresh) return fresh;
    const delivery = await this.#converse(fresh, mail, commit);
    return delivery === "stale" ? BROKEN : delivery;
  }

  async #takeTurn(): Promise<void> {
    while (this.#underWay >= this.options.connectionsMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#underWay += 1;
  }

  async #open(): Promise<Line | NotAccepted> {
    try {
      const connection = await connectSmtp(this.options.relay);
      return { connection, used: 0, endIdle: () => {} };
    } catch (error) {
      return { ...BROKEN, why: codesOf(error as NodemailerError) };
    }
  }

  /** One message over one connection; `stale` if an idle connection turned out to be closed. */
  async #converse(
    line: Line,
    mail: OutgoingMail,
    commit: () => Promise<boolean>,
  ): Promise<Sent | "stale"> {
    const { connection } = line;
    const body = new Body(mail.mime, commit);
    const limit = sendMsMax(this.options.relay);
    const callOff = this.options.clock.after(limit, () => connection.close());
    const delivery = await sendOnce(connection, mail, body).catch((error: NodemailerError) =>
      deliveryOf(error, body.mayBeTaken),
    );
    line.used += 1;
    await this.#putBack(line, delivery.kind === "accepted");
    callOff();
    if (body.stage === "withdrawn") return { kind: "withdrawn" };
    // A server's answer to a whole message is never about the connection alone.
    const mayBeStale = line.used > 1 && !body.mayBeTaken && delivery.kind === "deferred";
    return mayBeStale && STALE.test(delivery.why) ? "stale" : delivery;
  }

  /** Keeps a connection for the next message if it is still usable. */
  async #putBack(line: Line, isClean: boolean): Promise<void> {
    const { connection } = line;
    if (connection.destroyed) return;
    const isUsable = isClean || (await reset(connection));
    if (!isUsable || this.#closed || line.used >= MESSAGES_A_CONNECTION) {
      connection.quit();
      return;
    }
    line.endIdle = this.options.clock.after(IDLE_MS, () => {
      const at = this.#idle.indexOf(line);
      if (at >= 0) this.#idle.splice(at, 1);
      connection.quit();
    });
    this.#idle.push(line);
  }
}

/** The bytes of a message on their way into a connection. */
class Body {
  stage: "before" | "begun" | "asked" | "withdrawn" | "ended" = "before";
  readonly bytes: Readable;

  constructor(mime: Buffer, commit: () => Promise<boolean>) {
    this.bytes = Readable.from(this.#gated(mime, commit));
    this.bytes.once("end", () => {
      this.stage = "ended";
    });
  }

  /** From the question to `commit` on, a lost answer leaves doubt. */
  get mayBeTaken(): boolean {
    return this.stage === "asked" || this.stage === "ended";
  }

  /** Any other bytes that are sent now become part of the message. */
  get isUnderWay(): boolean {
    return this.stage !== "before" && this.stage !== "ended";
  }

  /** Yields all bytes of the message, but its end only after `commit` agrees. */
  async *#gated(mime: Buffer, commit: () => Promise<boolean>): AsyncGenerator<Buffer> {
    this.stage = "begun";
    // A slice is requested once there is room for it, so `commit` runs once there is room for the
    // end.
    for (let at = 0; at < mime.length; at += SLICE_BYTES) {
      yield mime.subarray(at, at + SLICE_BYTES);
    }
    this.stage = "asked";
    const agreed = await commit().catch((error: unknown) => {
      this.stage = "begun";
      throw error;
    });
    if (agreed) return;
    this.stage = "withdrawn";
    throw new Error("The message was withdrawn");
  }
}

/** Rejects with the library's error; a connection that ends without one is also an error. */
function sendOnce(connection: SMTPConnection, mail: OutgoingMail, body: Body): Promise<Sent> {
  const { promise, resolve, reject } = Promise.withResolvers<Sent>();
  const onEnd = () => reject(Object.assign(new Error("It ended"), { code: "ECONNECTION" }));
  connection.once("end", onEnd);
  const envelope = { from: mail.from, to: [...mail.to], size: mail.mime.length, dsn: REPORTS };
  connection.send(envelope, body.bytes, (error, info) => {
    if (!error) {
      const later = (info?.rejectedErrors ?? []).flatMap(laterOf);
      return resolve({ kind: "accepted", accepted: info?.accepted.length ?? 0, later });
    }
    reject(error);
    body.bytes.destroy();
    if (body.isUnderWay) connection.close();
  });
  return promise.finally(() => connection.off("end", onEnd));
}

function laterOf({ recipient, responseCode }: NodemailerError): readonly string[] {
  const isTemporary = responseCode !== undefined && responseCode < PERMANENT_FROM;
  return recipient !== undefined && isTemporary ? [recipient] : [];
}

function reset(connection: SMTPConnection): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const onEnd = () => resolve(false);
  connection.once("end", onEnd);
  connection.reset((error) => resolve(error === null));
  return promise.finally(() => connection.off("end", onEnd));
}
