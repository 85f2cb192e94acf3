// What the mail use cases share: the stores that a message passes through, and the wait for it.

import type { Clock } from "../../core/clock.ts";
import type { RandomBytes } from "../../core/ids.ts";
import type { SecretList } from "../../core/secrets.ts";
import type { ContentKeys } from "../../store/content-keys.ts";
import type { MailMessage, MailMessages } from "../../store/mail-messages.ts";
import type { MailNotices, MailQueue } from "../../store/mail-queue.ts";
import type { MailRepeats } from "../../store/mail-repeats.ts";

export interface MailServices {
  readonly messages: MailMessages;
  readonly repeats: MailRepeats;
  readonly keys: ContentKeys;
  readonly queue: MailQueue;
  readonly notices: MailNotices;
  /** The domain that all mail is sent from. */
  readonly domain: string;
  /** How long a request waits for the mail server. */
  readonly waitMs: number;
  /** Keys the digests of what callers give. */
  readonly secrets: SecretList;
  readonly random: RandomBytes;
}

/** A notice may be lost, so whoever waits looks from time to time. */
const LOOK_MS = 1_000;

/**
 * Waits until the message has ended and is settled, until an attempt has failed for now, or until
 * the time is over. A message that goes on then is noted as told `queued`. `announce` gives it to
 * the workers, once nothing can be missed any more; without it they had it before.
 */
export async function awaitMessage(
  room: MailServices,
  clock: Pick<Clock, "after">,
  { id, announce }: { readonly id: string; readonly announce?: () => Promise<void> },
): Promise<MailMessage> {
  const signal = new Signal();
  const stopListening = room.notices.listen(id, () => signal.ring());
  let isOver = false;
  const callOff = clock.after(room.waitMs, () => {
    isOver = true;
    signal.ring();
  });
  try {
    if (announce === undefined) signal.ring();
    else await announce();
    while (!isOver) {
      const callOffLook = clock.after(LOOK_MS, () => signal.ring());
      await signal.rung();
      callOffLook();
      const message = await room.messages.look(id);
      if (message.cost !== null) return message;
      if (message.isDeferred || message.toldQueued) break;
    }
    return await room.messages.tellQueued(id);
  } finally {
    callOff();
    stopListening();
  }
}

/** Wakes one who waits; a ring that nobody waits for is kept for the next wait. */
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
