// Looks a message up; a look-up is a call of its own.

import { takeHold } from "../../calls/admission.ts";
import { type Call, NO_COST, outcomeOf } from "../../calls/call.ts";
import { giveBack, release } from "../../calls/settling.ts";
import { ApiError, OK } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import type { MailMessage, MailMessages } from "../../store/mail/mail-messages.ts";
import { MAIL_TERMS, type MailCallDeps } from "./mail-services.ts";

/** A message of the caller's own account. Throws `message_not_found` for any other. */
export async function viewMessage(
  { calls, mail }: MailCallDeps,
  call: Call,
  id: string,
): Promise<MailMessage> {
  const hold = await takeHold(calls, call, { ...MAIL_TERMS, ...NO_COST });
  try {
    const message = await find(mail.messages, id, call.identity.accountId);
    await release(calls, hold, outcomeOf(calls, call, { status: OK, errorCode: null }));
    return message;
  } catch (error) {
    return await giveBack(calls, call, { hold, failure: error });
  }
}

async function find(
  messages: Pick<MailMessages, "find">,
  id: string,
  accountId: string,
): Promise<MailMessage> {
  const message = isId("message", id) ? await read(messages, id, accountId) : null;
  if (message !== null) return message;
  throw new ApiError("message_not_found", "This account has no message with this id");
}

function read(messages: Pick<MailMessages, "find">, id: string, accountId: string) {
  return messages.find(id, accountId).catch((cause) => {
    const text = "Messages cannot be looked up right now";
    throw new ApiError("service_unavailable", text, { retryAfterSeconds: 1, cause });
  });
}
