// Sends events to the receivers of customers. Every worker looks for deliveries that are due; a
// claim in Postgres gives each to one of them at a time (D-783). If a worker dies after a receiver
// took an event, but before Postgres recorded the delivery, the claim ends, and the event is sent
// again with its id.

import type { Log } from "../src/core/log.ts";
import { webhookDelayMs } from "../src/core/webhooks/webhook-rules.ts";
import type { WebhookSeals } from "../src/core/webhooks/webhook-seals.ts";
import type { HolderMail } from "../src/store/mail/outbox.ts";
import type {
  WebhookClaim,
  WebhookDeliveries,
  WhyDisabled,
} from "../src/store/webhooks/webhook-deliveries.ts";
import { type Attempt, type AttemptDeps, attemptWebhook } from "./webhook-attempt.ts";

export type WebhookResult = "delivered" | "retried" | "failed";

export interface WebhookSenderDeps extends AttemptDeps {
  readonly deliveries: WebhookDeliveries;
  readonly seals: WebhookSeals;
  /** A number of at least 0 and below 1. */
  readonly chance: () => number;
  readonly mailOf: (why: WhyDisabled, claim: WebhookClaim) => HolderMail;
  /** Called with the result of each attempt. */
  readonly onAttempt: (result: WebhookResult) => void;
  readonly onDisabled: (why: WhyDisabled) => void;
  readonly log: Pick<Log, "warn" | "error">;
}

/** The most attempts that one worker makes at the same time. */
export const ATTEMPTS_MAX = 64;
/**
 * The most attempts at the same time for receivers whose last attempt failed: each may take its
 * whole time.
 */
const FAILING_MAX = 32;
/** A receiver is not disabled for fewer attempts, as after an outage of all workers. */
const DISABLING_ATTEMPTS_MIN = 5;
/** Longer than any attempt: several addresses share its time limit. */
const CLAIM_MS = 60_000;
const GONE = 410;

export class WebhookSender {
  readonly #deps: WebhookSenderDeps;
  /** The attempts that are under way, with their claims. */
  readonly #open = new Map<Promise<void>, WebhookClaim>();
  #isStopped = false;

  constructor(deps: WebhookSenderDeps) {
    this.#deps = deps;
  }

  /** Begins the attempts that are due, as many as there is room for, and does not wait for them. */
  async look(): Promise<void> {
    const atMost = ATTEMPTS_MAX - this.#open.size;
    if (atMost <= 0 || this.#isStopped) return;
    const open = [...this.#open.values()];
    const busy = [...new Set(open.map(({ receiver }) => receiver.number))];
    const failingMost = Math.max(0, FAILING_MAX - open.filter(({ isFailing }) => isFailing).length);
    const order = { claimMs: CLAIM_MS, atMost, failingMost, busy };
    const claims = await this.#deps.deliveries.claim(order);
    for (const claim of claims) {
      const sending = this.#send(claim).finally(() => this.#open.delete(sending));
      this.#open.set(sending, claim);
    }
  }

  /** Resolves when every attempt under way has ended. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open.keys());
  }

  /** Begins no more attempts; resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.settled();
  }

  async #send(claim: WebhookClaim): Promise<void> {
    const { log } = this.#deps;
    const { id } = claim.event;
    try {
      const secrets = this.#secretsOf(claim);
      const attempt =
        secrets === null ? UNREADABLE : await attemptWebhook(this.#deps, claim, secrets);
      await this.#conclude(claim, attempt);
    } catch (error) {
      // The claim ends without help, and another attempt of the delivery follows.
      log.error({ eventId: id, err: error }, "The result of a webhook was not recorded");
    }
  }

  /** Null if no secret of this installation opens the receiver's secret. */
  #secretsOf({ receiver }: WebhookClaim): readonly string[] | null {
    const { seals } = this.#deps;
    const { id, secret, oldSecret } = receiver;
    const current = seals.open(secret, id);
    const old = oldSecret === null ? null : seals.open(oldSecret, id);
    if (current === null) return null;
    return old === null ? [current.text] : [current.text, old.text];
  }

  async #conclude(claim: WebhookClaim, attempt: Attempt): Promise<void> {
    const { deliveries, onAttempt, onDisabled, log } = this.#deps;
    if (attempt.error === null) {
      await deliveries.delivered(claim, attempt);
      onAttempt("delivered");
      return;
    }
    const isGone = attempt.httpStatus === GONE;
    const retryMs = isGone ? null : this.#retryMs(claim, attempt);
    const disabling = this.#disabling(claim, attempt, retryMs);
    const isDisabled = await deliveries.failed(claim, attempt, { retryMs, disabling });
    onAttempt(retryMs === null ? "failed" : "retried");
    if (!isDisabled || disabling === null) return;
    onDisabled(disabling.why);
    log.warn({ receiverId: claim.receiver.id, why: disabling.why }, "A webhook was disabled");
  }

  /** The reason for which the receiver may be disabled after a failed attempt; null for none. */
  #disabling(claim: WebhookClaim, attempt: Attempt, retryMs: number | null) {
    const { mailOf, now } = this.#deps;
    const isGone = attempt.httpStatus === GONE;
    // A secret that cannot be read is no fault of the receiver.
    const isItsFault = attempt !== UNREADABLE && claim.attempt >= DISABLING_ATTEMPTS_MIN;
    if (!(isGone || (retryMs === null && isItsFault))) return null;
    const why = isGone ? "gone" : "failing";
    return { why, now: new Date(now()), mail: mailOf(why, claim) } as const;
  }

  /** The delay until the next attempt, which is no later than `giveUpAt`; null after that time. */
  #retryMs({ attempt, giveUpAt }: WebhookClaim, { retryAfterSeconds }: Attempt): number | null {
    const { now, chance } = this.#deps;
    const leftMs = giveUpAt.getTime() - now();
    if (leftMs <= 0) return null;
    const asked = (retryAfterSeconds ?? 0) * 1_000;
    return Math.min(Math.max(webhookDelayMs(attempt, chance()), asked), leftMs);
  }
}

const UNREADABLE: Attempt = {
  httpStatus: null,
  durationMs: 0,
  error: "Its secret cannot be read: rotate it",
  retryAfterSeconds: null,
};
