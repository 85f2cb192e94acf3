// Makes one attempt to deliver a message, and acts on its result.

import type { Outcome } from "../actors/account.ts";
import type { AccountActor } from "../actors/account-actor.ts";
import { settleDetached, termsOfText } from "../actors/detached-hold.ts";
import { MAIL_COUNTS } from "../src/core/access/limits.ts";
import { ACCEPTED, ERRORS, OK } from "../src/core/errors.ts";
import { NOTHING_COUNTED } from "../src/core/journal/journal.ts";
import type { Log } from "../src/core/log.ts";
import { type MailContent, mailCost, senderAddress } from "../src/core/mail.ts";
import { charge, type PicoUsd, ZERO } from "../src/core/money/money.ts";
import { unseal } from "../src/core/sealed.ts";
import type { BuildMime } from "../src/services/mail/providers/mime.ts";
import type { Delivery, MailTransport } from "../src/services/mail/providers/transport.ts";
import type { ContentKeys } from "../src/store/mail/content-keys.ts";
import type {
  Claim,
  DeliveryResult,
  EndedMessage,
  MailDeliveries,
} from "../src/store/mail/mail-deliveries.ts";
import type { MailQueue } from "../src/store/mail/mail-queue.ts";

export interface DeliveryDeps {
  readonly deliveries: MailDeliveries;
  readonly keys: ContentKeys;
  readonly queue: MailQueue;
  readonly transport: MailTransport;
  readonly build: BuildMime;
  readonly accounts: { of(accountId: string, bucket: number): AccountActor };
  readonly mailDomain: string;
  /** The price that the operator pays for one accepted recipient; null if that is not known. */
  readonly buying: PicoUsd | null;
  /** The envelope sender: the address that receives a bounce of this message. */
  readonly returnPath: (messageId: string, sender: string) => string;
  /** The time for which a worker claims a message; longer than any conversation with the server. */
  readonly claimMs: number;
  readonly retryDelayMs: (attempts: number) => number;
  /** Called with the result of each attempt. */
  readonly onAttempt: (outcome: Delivery["kind"]) => void;
  readonly log: Pick<Log, "info" | "warn">;
}

const RECORD_AGAIN_MS = 250;

/** Makes the attempt that is due, unless no attempt is due or another worker makes it. */
export async function deliver(deps: DeliveryDeps, id: string): Promise<void> {
  const claim = await deps.deliveries.claim(id, deps.claimMs);
  if (claim === null) return;
  if (!claim.mayBeSent) return await end(deps, claim, { status: "failed", failure: "unanswered" });
  if (claim.isOverdue) return await end(deps, claim, { status: "failed", failure: "expired" });
  const content = await readContent(deps, claim);
  if (content === null) return await end(deps, claim, { status: "failed", failure: "unreadable" });
  const delivery = await hand(deps, claim, content);
  deps.onAttempt(delivery.kind);
  await conclude(deps, claim, delivery);
}

async function readContent({ keys }: DeliveryDeps, claim: Claim): Promise<MailContent | null> {
  const key = await keys.find(claim.id);
  if (key === null || claim.box === null) return null;
  const text = unseal({ key, box: claim.box }, claim.id);
  return text === null ? null : (JSON.parse(text) as MailContent);
}

async function hand(deps: DeliveryDeps, claim: Claim, content: MailContent): Promise<Delivery> {
  const { id, accountId, accountDomain, createdAt } = claim;
  const sender = senderAddress(accountId, deps.mailDomain);
  const mime = await deps.build({ id, content, sender, accountDomain, date: createdAt });
  const mail = { from: deps.returnPath(id, sender), to: content.to, mime };
  const { deliveries, claimMs } = deps;
  // Further transactions, for recipients that the server put off, belong to the same attempt.
  let isCommitted = false;
  return await deps.transport.send(mail, async () => {
    if (isCommitted) return await deliveries.renew(claim, claimMs);
    isCommitted = await deliveries.commit(claim, claimMs);
    return isCommitted;
  });
}

async function conclude(deps: DeliveryDeps, claim: Claim, delivery: Delivery): Promise<void> {
  switch (delivery.kind) {
    case "accepted":
      return await end(deps, claim, { status: "sent", accepted: delivery.accepted });
    case "rejected":
      return await end(deps, claim, {
        status: "failed",
        failure: "rejected",
        reason: delivery.reason,
      });
    case "deferred":
    case "unanswered":
      return await putOff(deps, claim, delivery);
    case "withdrawn":
      deps.log.warn({ messageId: claim.id }, "A message was left to the worker that took it over");
  }
}

async function putOff(
  deps: DeliveryDeps,
  claim: Claim,
  { kind, why, answered }: Extract<Delivery, { kind: "deferred" | "unanswered" }>,
): Promise<void> {
  const { id, attempt } = claim;
  const delayMs = deps.retryDelayMs(attempt);
  deps.log.warn({ messageId: id, attempt, why, kind, delayMs }, "A message was put off");
  await deps.deliveries.defer(claim, { delayMs, answered });
  await deps.queue.add(id, attempt, { delayMs });
  await deps.queue.notify(id);
}

async function end(deps: DeliveryDeps, claim: Claim, ending: DeliveryResult): Promise<void> {
  const ended = await record(deps, claim, ending);
  // If another worker continues with the message, its key is still needed.
  if (ended === null) return;
  await deps.keys.destroy(claim.id);
  await settleEnded(deps, ended);
}

/**
 * Records the end of a message that this worker has claimed. Retries if Postgres is away: a message
 * that a mail server accepted must not be sent twice.
 */
async function record(
  deps: DeliveryDeps,
  claim: Claim,
  ending: DeliveryResult,
): Promise<EndedMessage | null> {
  for (let leftMs = deps.claimMs; ; leftMs -= RECORD_AGAIN_MS) {
    try {
      return await deps.deliveries.end(claim, ending);
    } catch (error) {
      if (leftMs <= 0) throw error;
      deps.log.warn({ messageId: claim.id, err: error }, "The end of a message waits for Postgres");
      await Bun.sleep(RECORD_AGAIN_MS);
    }
  }
}

type SettleDeps = Pick<DeliveryDeps, "accounts" | "deliveries" | "queue" | "buying">;

/** Charges for the accepted recipients or releases the hold, and notifies waiting requests. */
export async function settleEnded(deps: SettleDeps, ended: EndedMessage): Promise<void> {
  const actor = deps.accounts.of(ended.accountId, ended.bucket);
  const outcome = outcomeOf(ended, deps);
  const ending =
    ended.status === "failed"
      ? { cost: ZERO, outcome }
      : { cost: mailCost(ended.accepted), outcome, unused: unusedOf(ended) };
  const { charged } = await settleDetached(actor, termsOfText(ended.hold), ending);
  await deps.deliveries.markSettled(ended.id, charged);
  await deps.queue.notify(ended.id);
}

/** SPEC 8.3 counts accepted recipients. */
function unusedOf({ recipients, accepted }: EndedMessage): Readonly<Record<string, number>> {
  return { [MAIL_COUNTS.recipients]: recipients - accepted };
}

/** The log row of the request, with the status that the caller received. */
function outcomeOf(ended: EndedMessage, { buying }: Pick<DeliveryDeps, "buying">): Outcome {
  const { failure, status, reportedQueued, accepted, tookMs } = ended;
  const row = { ...NOTHING_COUNTED, latencyMs: tookMs };
  const answer = status === "failed" ? ERRORS.mail_rejected.status : OK;
  return {
    ...row,
    status: reportedQueued ? ACCEPTED : answer,
    errorCode: failure === null ? null : `mail_${failure}`,
    ...(buying !== null && accepted > 0 && { upstreamCost: charge([[accepted, buying]]) }),
  };
}
