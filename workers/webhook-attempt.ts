// Sends one event to one receiver. The address was chosen by a stranger: it is checked, no redirect
// is followed, and of the reply only the status is read.

import { statusClass } from "../src/core/errors.ts";
import { webhookBody } from "../src/core/webhooks/webhook-events.ts";
import { webhookHeaders } from "../src/core/webhooks/webhook-signature.ts";
import type { AttemptResult, WebhookClaim } from "../src/store/webhooks/webhook-deliveries.ts";
import { askPublic, type PinnedTarget, type Resolve } from "../src/upstream/public-address.ts";
import { RouteFailure } from "../src/upstream/route-failure.ts";
import { TimeLimit } from "../src/upstream/time-limit.ts";
import { exchange, type Fetch, giveUpBody, retryAfterOf } from "../src/upstream/upstream-http.ts";

export interface AttemptDeps {
  readonly fetch: Fetch;
  /** True: `http:` and addresses that are not public are allowed. */
  readonly allowPrivate: boolean;
  /** Looks up the addresses of a host; by default with this machine's resolver. */
  readonly resolve?: Resolve;
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly monotonicMs: () => number;
}

/** Receivers belong to customers, who know the service by the name of its brand. */
const AGENT = "webhooks";

/** The first digits of statuses. */
const TAKEN = 2;
const REDIRECTED = 3;

/**
 * The result of every host to which no request is sent. A name of the operator's network must look
 * like a name that does not exist, in words and time: the holder of an account could try names.
 */
const NOT_SENT: Attempt = {
  httpStatus: null,
  durationMs: 0,
  error: "No request was sent: its host has no public address",
  retryAfterSeconds: null,
};

/** An attempt that ended. */
export interface Attempt extends AttemptResult {
  /** The wait that the receiver asks for; null for none. */
  readonly retryAfterSeconds: number | null;
}

/** Makes one attempt, signed with each secret. A failure is a result, and never thrown. */
export async function attemptWebhook(
  deps: AttemptDeps,
  { receiver, account, event }: WebhookClaim,
  secrets: readonly string[],
): Promise<Attempt> {
  const body = webhookBody({ ...event, account: account.id });
  const signed = webhookHeaders({ id: event.id, at: new Date(deps.now()), body }, secrets);
  const startedMs = deps.monotonicMs();
  const limit = new TimeLimit(deps.timeoutMs);
  const post = (target: PinnedTarget) =>
    exchange(
      {
        url: target.url,
        ...(target.serverName !== undefined && { serverName: target.serverName }),
        fetch: deps.fetch,
        method: "POST",
        headers: { ...signed, ...target.headers, "user-agent": AGENT },
        body,
        signal: limit.signal,
        account: account.id,
      },
      async (response) => {
        await giveUpBody(response);
        return { status: response.status, retryAfterSeconds: retryAfterOf(response.headers) };
      },
    );
  try {
    const asking = askPublic(new URL(receiver.url), deps, post);
    // A resolver may take longer than the limit, which ends only requests.
    const reply = await Promise.race([asking, overOf(limit)]);
    const durationMs = Math.round(deps.monotonicMs() - startedMs);
    return { httpStatus: reply.status, durationMs, error: errorOf(reply.status), ...reply };
  } catch (error) {
    if (!(error instanceof RouteFailure)) return NOT_SENT;
    const durationMs = Math.round(deps.monotonicMs() - startedMs);
    return { httpStatus: null, durationMs, error: error.message, retryAfterSeconds: null };
  } finally {
    limit.end();
  }
}

/** Rejects once the time is over. */
function overOf(limit: TimeLimit): Promise<never> {
  return new Promise((_, reject) => {
    limit.addEventListener("abort", () => reject(limit.reason));
  });
}

function errorOf(status: number): string | null {
  const firstDigit = statusClass(status);
  if (firstDigit === TAKEN) return null;
  const why = firstDigit === REDIRECTED ? ": redirects are not followed" : "";
  return `It answered ${status}${why}`;
}
