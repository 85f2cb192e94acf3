// What delivers a message: the interface that a mail server is behind.

import type { RejectReason } from "../../../core/mail.ts";

/** A message in its final bytes, with the envelope it travels in. */
export interface OutgoingMail {
  /** The return path. */
  readonly from: string;
  readonly to: readonly string[];
  readonly mime: Buffer;
}

/** `why` is for the log: codes only, since the words of a server may quote an address. */
export type Delivery =
  /** The server took the message for so many of its recipients; it refused the others. */
  | { readonly kind: "accepted"; readonly accepted: number }
  /** It refused all of them, or the message, for good. */
  | { readonly kind: "rejected"; readonly reason: RejectReason }
  /** Not now. Certainly nobody has it; `answered` where the server said so after `commit`. */
  | { readonly kind: "deferred"; readonly why: string; readonly answered: boolean }
  /** All of it was sent, and the answer was lost: the server may have it or not. */
  | { readonly kind: "unanswered"; readonly why: string; readonly answered: false }
  /** `commit` said no. Certainly nobody has it. */
  | { readonly kind: "withdrawn" };

export interface MailTransport {
  /**
   * Hands a message to the server once. Never rejects. `commit` is asked when all but the end of
   * the message was sent: until it resolves to true, the server cannot have accepted anything.
   */
  send(mail: OutgoingMail, commit: () => Promise<boolean>): Promise<Delivery>;
  close(): void;
}
