// The interface of everything that delivers messages, such as a mail server.

import type { RejectReason } from "../../../core/mail.ts";

/** A message in its final bytes, with its envelope. */
export interface OutgoingMail {
  /** The return path. */
  readonly from: string;
  readonly to: readonly string[];
  readonly mime: Buffer;
}

/** `why` is for the log. `why` has only codes, because a server's text may quote an address. */
export type Delivery =
  /** The server accepted the message for this many recipients, and refused the others. */
  | { readonly kind: "accepted"; readonly accepted: number }
  /** The server refused all recipients, or the message, permanently. */
  | { readonly kind: "rejected"; readonly reason: RejectReason }
  /**
   * Temporarily refused: no recipient has the message. `answered` is true if the server said so
   * after `commit`.
   */
  | { readonly kind: "deferred"; readonly why: string; readonly answered: boolean }
  /** The whole message was sent, but no answer arrived: the server may have it or not. */
  | { readonly kind: "unanswered"; readonly why: string; readonly answered: false }
  /** `commit` returned false: no recipient has the message. */
  | { readonly kind: "withdrawn" };

/** The server did not say that any recipient has the message. */
export type NotAccepted = Exclude<Delivery, { kind: "accepted" }>;

export interface MailTransport {
  /**
   * Sends a message to the server once. While the server accepts some recipients and puts off
   * others, the message is sent to the others in a further transaction. Never rejects. `commit` is
   * called in each transaction when all but the end of the message has left, except for the bytes
   * that fit into the buffers on the way: until `commit` resolves to true, the server cannot have
   * accepted anything in this transaction. If `commit` rejects, the message is deferred.
   */
  send(mail: OutgoingMail, commit: () => Promise<boolean>): Promise<Delivery>;
  close(): void;
}
