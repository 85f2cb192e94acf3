// Finds messages without a worker: the job is gone, the worker died between the mail server and the
// account, or the hold would expire while the message waits.

import { renewDetached } from "../actors/detached-hold.ts";
import type { Log } from "../src/core/log.ts";
import type { IdempotencyKeys } from "../src/store/mail/idempotency-keys.ts";
import type { OpenMessage } from "../src/store/mail/mail-deliveries.ts";
import { type DeliveryDeps, settleEnded } from "./mail-delivery.ts";

export interface MailCompleterDeps
  extends Pick<DeliveryDeps, "accounts" | "deliveries" | "keys" | "queue" | "buying"> {
  readonly log: Pick<Log, "error">;
  /** A message that changed more recently is left to the process that works on it. */
  readonly graceMs: number;
}

const DUE_AT_ONCE = 1_000;

/** Delivers and settles forgotten messages. Several workers may run this at the same time. */
export async function completeMail(deps: MailCompleterDeps): Promise<void> {
  const { deliveries, queue, graceMs } = deps;
  for (const { id, attempt } of await deliveries.due(graceMs, DUE_AT_ONCE)) {
    await queue.add(id, attempt);
  }
  for (const { ended, charged } of await deliveries.unsettled(graceMs)) {
    try {
      // The key is destroyed first: a message that is settled does not come here again.
      await deps.keys.destroy(ended.id);
      if (charged === null) await settleEnded(deps, ended);
      else await deliveries.markSettled(ended.id, charged);
    } catch (error) {
      deps.log.error({ messageId: ended.id, err: error }, "A message could not be settled");
    }
  }
}

/** Keeps the holds of waiting messages alive. Must run several times within a lease. */
export async function renewMailHolds(deps: MailCompleterDeps): Promise<void> {
  const byAccount = new Map<string, OpenMessage[]>();
  for (const message of await deps.deliveries.open(deps.graceMs)) {
    const others = byAccount.get(message.accountId);
    if (others === undefined) byAccount.set(message.accountId, [message]);
    else others.push(message);
  }
  for (const [accountId, messages] of byAccount) {
    const actor = deps.accounts.of(accountId, messages[0]?.bucket ?? 0);
    const requests = messages.map(({ requestId }) => requestId);
    await renewDetached(actor, requests).catch((error) => {
      deps.log.error({ accountId, err: error }, "The holds of messages were not renewed");
    });
  }
}

/** Deletes idempotency keys when their time is over. */
export async function expireIdempotencyKeys(
  idempotencyKeys: Pick<IdempotencyKeys, "expire">,
): Promise<void> {
  await idempotencyKeys.expire();
}
