// Derives the caller's result from the state of a message.

import { ApiError } from "../../core/errors.ts";
import { mailCost, type RejectReason } from "../../core/mail.ts";
import { type NanoUsd, ZERO } from "../../core/money/money.ts";
import type { MailMessage } from "../../store/mail/mail-messages.ts";

export interface MailResult {
  readonly message: MailMessage;
  /** `sent`, or `queued` if the mail server did not accept it in time. */
  readonly status: "sent" | "queued";
  /** The amount charged so far. */
  readonly cost: NanoUsd;
  /** True if an earlier request with the same Idempotency-Key created the message. */
  readonly isRepeat: boolean;
}

const REASONS: Readonly<Record<RejectReason, string>> = {
  address: "no such mailbox",
  mailbox: "the mailbox does not take mail",
  size: "the message or the mailbox is too large",
  policy: "the message breaks a rule of the server",
  other: "no reason that it gave",
};

/** The result; or the refusal, if the message failed before its caller received `queued`. */
export function resultOf(message: MailMessage): MailResult | ApiError {
  if (message.reportedQueued || message.status === "queued") {
    return { message, status: "queued", cost: ZERO, isRepeat: false };
  }
  if (message.status === "failed") return mailErrorOf(message);
  // If Redis is away, the message is not settled yet, and will be charged exactly this amount.
  const cost = message.cost ?? mailCost(message.accepted);
  return { message, status: "sent", cost, isRepeat: false };
}

function mailErrorOf({ failure, reason }: MailMessage): ApiError {
  if (failure !== "rejected") {
    return new ApiError("mail_unavailable", "The message could not be delivered; it was given up");
  }
  const why = REASONS[reason ?? "other"];
  return new ApiError("mail_rejected", `The mail server refused all recipients: ${why}`);
}
