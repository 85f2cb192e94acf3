// Writes a message as JSON for the caller (SPEC 2.5).

import { senderAddress } from "../../core/mail.ts";
import { toJsonNumber } from "../../core/money/money.ts";
import type { MailMessage } from "../../store/mail/mail-messages.ts";
import type { MailResult } from "./mail-result.ts";

const OBJECT = "mail.message";

/** The reply to a send; a repeated request gets the reply of the first one. */
export function resultJson(
  { message, status, cost }: MailResult,
  accountId: string,
  mailDomain: string,
): string {
  const { id, recipients, accepted, requestId } = message;
  const taken = status === "sent" ? accepted : 0;
  return JSON.stringify({
    id,
    object: OBJECT,
    status,
    from: senderAddress(accountId, mailDomain),
    recipients,
    accepted: taken,
    rejected: status === "sent" ? recipients - taken : 0,
    svc: { request_id: requestId, cost_usd: toJsonNumber(cost) },
  });
}

/** The reply to a look-up. */
export function statusJson(message: MailMessage, requestId: string): string {
  const { id, status, createdAt, recipients, accepted, domains } = message;
  return JSON.stringify({
    id,
    object: OBJECT,
    status,
    created: Math.floor(createdAt.getTime() / 1000),
    recipients,
    accepted,
    domains,
    svc: { request_id: requestId, cost_usd: 0 },
  });
}
