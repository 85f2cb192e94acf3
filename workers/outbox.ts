// Sends the service's own mails. Every worker looks for mails that are due; a claim in Postgres
// gives each mail to one of them at a time.

import type { Registry } from "prom-client";
import type { Log } from "../src/core/log.ts";
import { noReplyAddress } from "../src/core/mail.ts";
import { counter, gauge } from "../src/http/telemetry/metrics.ts";
import type { BuildServiceMime } from "../src/services/mail/providers/mime.ts";
import type { Delivery, MailTransport } from "../src/services/mail/providers/transport.ts";
import type { Outbox, OutboxClaim } from "../src/store/mail/outbox.ts";

export interface OutboxDeps {
  readonly outbox: Outbox;
  readonly transport: MailTransport;
  readonly build: BuildServiceMime;
  readonly mailDomain: string;
  /** The time for which a worker claims a mail; longer than any conversation with the server. */
  readonly claimMs: number;
  /**
   * The number of mails that are claimed at a time, as many as connections to the server: the claim
   * of a mail that waits for a connection may end.
   */
  readonly atOnce: number;
  readonly retryDelayMs: (attempts: number) => number;
  /** Called with the result of each attempt. */
  readonly onAttempt: (kind: string, result: OutboxResult) => void;
  readonly log: Pick<Log, "warn">;
}

export type OutboxResult = Delivery["kind"] | "expired";

const RECORD_AGAIN_MS = 250;

/** Sends the mails that are due. Rejects if one could not be recorded; it is sent again then. */
export async function sendOutbox(deps: OutboxDeps): Promise<void> {
  for (;;) {
    const claims = await deps.outbox.claim(deps.claimMs, deps.atOnce);
    const attempts = await Promise.allSettled(claims.map((claim) => send(deps, claim)));
    for (const attempt of attempts) if (attempt.status === "rejected") throw attempt.reason;
    if (claims.length < deps.atOnce) return;
  }
}

async function send(deps: OutboxDeps, claim: OutboxClaim): Promise<void> {
  const { outbox, claimMs } = deps;
  if (claim.isOverdue) {
    deps.onAttempt(claim.kind, "expired");
    deps.log.warn({ mailId: claim.id, kind: claim.kind }, "A mail of the service was given up");
    await outbox.end(claim, { status: "failed", why: null });
    return;
  }
  const { id, to, subject, text, html, createdAt } = claim;
  const mime = await deps.build({ id, to, subject, text, html, date: createdAt });
  const mail = { from: noReplyAddress(deps.mailDomain), to: [to], mime };
  const delivery = await deps.transport.send(mail, () => outbox.renew(claim, claimMs));
  deps.onAttempt(claim.kind, delivery.kind);
  await conclude(deps, claim, delivery);
}

async function conclude(deps: OutboxDeps, claim: OutboxClaim, delivery: Delivery): Promise<void> {
  const { id, kind, attempt } = claim;
  switch (delivery.kind) {
    case "accepted":
      return await record(deps, claim);
    case "rejected": {
      const { reason } = delivery;
      deps.log.warn({ mailId: id, kind, reason }, "A mail of the service was refused");
      await deps.outbox.end(claim, { status: "failed", why: `rejected ${reason}` });
      return;
    }
    case "deferred":
    case "unanswered": {
      const delayMs = deps.retryDelayMs(attempt);
      const { why } = delivery;
      deps.log.warn({ mailId: id, kind, attempt, why, delayMs }, "A mail of the service must wait");
      return await deps.outbox.defer(claim, delayMs, why);
    }
    case "withdrawn":
      deps.log.warn({ mailId: id, kind }, "A mail was left to the worker that took it over");
  }
}

/** Records that a mail was sent. Retries if Postgres is away, so that it is not sent again. */
async function record(deps: OutboxDeps, claim: OutboxClaim): Promise<void> {
  for (let leftMs = deps.claimMs; ; leftMs -= RECORD_AGAIN_MS) {
    try {
      await deps.outbox.end(claim, { status: "sent", why: null });
      return;
    } catch (error) {
      if (leftMs <= 0) throw error;
      deps.log.warn({ mailId: claim.id, err: error }, "The end of a mail waits for Postgres");
      await Bun.sleep(RECORD_AGAIN_MS);
    }
  }
}

/** Counts attempts, and measures how many mails wait. */
export function outboxMetrics(
  registry: Registry,
  outbox: Pick<Outbox, "countWaiting">,
  log: Pick<Log, "warn">,
): Pick<OutboxDeps, "onAttempt"> {
  const mails = counter(registry, "farebox_service_mails_total");
  const read = () => outbox.countWaiting();
  gauge(registry, "farebox_service_mails_waiting", { read, log });
  return { onAttempt: (kind, result) => mails.inc({ kind, result }) };
}
