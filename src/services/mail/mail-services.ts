// Holds the stores of messages that all mail use cases share, and waits for the result of a
// message.

import type { CallDeps } from "../../calls/call.ts";
import type { Clock } from "../../core/clock.ts";
import type { RandomBytes } from "../../core/ids.ts";
import type { SecretList } from "../../core/secrets.ts";
import type { ContentKeys } from "../../store/mail/content-keys.ts";
import type { IdempotencyKeys } from "../../store/mail/idempotency-keys.ts";
import type { MailMessage, MailMessages } from "../../store/mail/mail-messages.ts";
import type { MailNotices, MailQueue } from "../../store/mail/mail-queue.ts";
import type { MailTurns } from "../../store/mail/mail-turns.ts";

export interface MailServices {
  readonly messages: MailMessages;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly keys: ContentKeys;
  readonly queue: MailQueue;
  readonly turns: MailTurns;
  readonly notices: MailNotices;
  /** The domain that all mail is sent from. */
  readonly domain: string;
  /** The time that a request waits for the mail server. */
  readonly waitMs: number;
  /** Keys the digests of the callers' idempotency keys and bodies. */
  readonly secrets: SecretList;
  readonly random: RandomBytes;
}

/** The terms of every mail request to an account, except its price. */
export const MAIL_TERMS = { scope: "mail", service: "mail", model: null } as const;

/** The dependencies of the mail use cases. */
export interface MailCallDeps {
  readonly calls: CallDeps;
  readonly mail: MailServices;
}

/** A notification may be lost, so a waiting request also checks at this interval. */
const LOOK_MS = 1_000;

/**
 * Waits until the message has ended and is settled, until an attempt failed temporarily, or until
 * the time is over. If the message is still under way then, records that its caller received
 * `queued`. `announce` gives the message to the workers; it is called when no notification can be
 * missed any more, and is not waited for, because it ends only once the queue is reachable. Without
 * a failure the workers have the message already.
 */
export async function awaitMessage(
  services: MailServices,
  clock: Pick<Clock, "after">,
  { id, announce }: { readonly id: string; readonly announce?: () => Promise<void> },
): Promise<MailMessage> {
  const signal = new Signal();
  const stopListening = services.notices.listen(id, () => signal.ring());
  let isOver = false;
  const callOff = clock.after(services.waitMs, () => {
    isOver = true;
    signal.ring();
  });
  try {
    if (announce === undefined) signal.ring();
    else void announce();
    while (!isOver) {
      const callOffLook = clock.after(LOOK_MS, () => signal.ring());
      await signal.rung();
      callOffLook();
      const message = await services.messages.get(id);
      if (message.cost !== null) return message;
      if (message.isDeferred || message.reportedQueued) break;
    }
    return await services.messages.markReportedQueued(id);
  } finally {
    callOff();
    stopListening();
  }
}

/** Wakes one waiter; a signal without a waiter is kept for the next wait. */
class Signal {
  #rung = Promise.withResolvers<void>();

  ring(): void {
    this.#rung.resolve();
  }

  async rung(): Promise<void> {
    await this.#rung.promise;
    this.#rung = Promise.withResolvers();
  }
}
