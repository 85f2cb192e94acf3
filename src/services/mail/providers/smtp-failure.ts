// Maps failures of an SMTP conversation to the message's delivery.

import type { NodemailerError } from "nodemailer";
import type { RejectReason } from "../../../core/mail.ts";
import type { NotAccepted } from "./transport.ts";

/** By the enhanced status code (RFC 3463) if the server sends one; otherwise by its reply. */
const REASONS: readonly (readonly [RegExp, RejectReason])[] = [
  [/^\d{3}[ -]5\.1\./, "address"],
  [/^\d{3}[ -]5\.(?:2\.3|3\.4)/, "size"],
  [/^\d{3}[ -]5\.2\./, "mailbox"],
  [/^\d{3}[ -]5\.7\./, "policy"],
  [/^(?:550|551|553)/, "address"],
  [/^552/, "size"],
  [/^554/, "policy"],
];

/** Replies from here on refuse (RFC 5321 4.2.1). */
const REFUSALS_FROM = 400;

/**
 * The meaning of an error from the library. `committed` is true if the end of the message may have
 * been sent.
 */
export function deliveryOf(error: NodemailerError, committed: boolean): NotAccepted {
  const why = codesOf(error);
  // A refusal of the message is an answer; a connection that broke after the end of the message is
  // not, and neither is a reply that makes no sense there.
  const isAnswer = error.code === "EMESSAGE" && (error.responseCode ?? 0) >= REFUSALS_FROM;
  if (committed && !isAnswer) return { kind: "unanswered", why, answered: false };
  const replies = repliesOf(error);
  if (replies === null || !replies.every(({ permanent }) => permanent === true)) {
    return { kind: "deferred", why, answered: committed };
  }
  return { kind: "rejected", reason: rejectReason(replies[0]?.response ?? "") };
}

/** The part of an error that may be logged: `EENVELOPE 450`. */
export function codesOf(error: NodemailerError): string {
  return [error.code ?? error.name, error.originalCode, error.responseCode]
    .filter((code) => code !== undefined)
    .join(" ");
}

/** The replies about the recipients or the message; null if the failure is about something else. */
function repliesOf(error: NodemailerError): readonly Reply[] | null {
  if (error.code === "EENVELOPE" && error.command === "RCPT TO") {
    return error.rejectedErrors ?? [error];
  }
  if (error.code === "EENVELOPE" && error.command === "DATA") return [error];
  if (error.code !== "EMESSAGE") return null;
  if (error.responseCode !== undefined) return [error];
  // The library did not send this: the server has announced the size that it accepts.
  return error.command === "MAIL FROM" ? [{ permanent: true, response: "552 5.3.4" }] : null;
}

type Reply = Pick<NodemailerError, "permanent" | "response">;

function rejectReason(response: string): RejectReason {
  return REASONS.find(([pattern]) => pattern.test(response))?.[1] ?? "other";
}
