// Seals the secrets of receivers under the current pepper, after the operator has replaced it.

import { eq } from "drizzle-orm";
import type { RandomBytes } from "../../core/ids.ts";
import type { WebhookSeals } from "../../core/webhooks/webhook-seals.ts";
import type { Database } from "../servers/database.ts";
import { webhookReceivers } from "../tables/webhook-schema.ts";

interface Sealing {
  readonly seals: WebhookSeals;
  readonly random: RandomBytes;
}

/** Seals again whatever an earlier pepper sealed; returns how many receivers had such a secret. */
export async function resealSecrets({ db }: Database, sealing: Sealing): Promise<number> {
  const receivers = await db.select({ number: webhookReceivers.number }).from(webhookReceivers);
  let resealed = 0;
  for (const { number } of receivers) {
    const isChanged = await db.transaction(async (tx) => {
      const isOne = eq(webhookReceivers.number, number);
      const [row] = await tx.select().from(webhookReceivers).where(isOne).for("update");
      if (row === undefined) return false;
      const secret = sealedNow(row.secret, row.id, sealing);
      const oldSecret = row.oldSecret && sealedNow(row.oldSecret, row.id, sealing);
      if (secret === row.secret && oldSecret === row.oldSecret) return false;
      await tx.update(webhookReceivers).set({ secret, oldSecret }).where(isOne);
      return true;
    });
    if (isChanged) resealed += 1;
  }
  return resealed;
}

/** The same box if it needs no change, or if no pepper opens it. */
function sealedNow(box: Uint8Array, id: string, { seals, random }: Sealing): Uint8Array {
  const opened = seals.open(box, id);
  return opened === null || opened.isCurrent ? box : seals.seal(opened.text, id, random);
}
