// POST /webhooks/NAME: stores that something has changed, and answers at once. The work is a job.

import type { Clock } from "../core/clock.ts";
import { ApiError, ERRORS, OK } from "../core/errors.ts";
import { newTimedId, type RandomBytes } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import type { ProviderKind } from "../core/money/payment-names.ts";
import type { BodyShares } from "../http/body/body-shares.ts";
import { readText } from "../http/body/read-body.ts";
import { type ClientIp, networkOf } from "../http/client-ip.ts";
import { plainEndpoint } from "../http/endpoint.ts";
import type { Endpoint } from "../http/endpoint-info.ts";
import type { RawRequest } from "../http/frame.ts";
import { Type } from "../http/schema.ts";
import { peerOf } from "../http/server.ts";
import type { PaymentQueue } from "../store/payments/payment-queue.ts";
import type { ProviderEvent, ProviderEvents } from "../store/payments/provider-events.ts";
import { EventRefused, type PaymentProvider } from "./provider.ts";
import { PROVIDER_KINDS, PROVIDERS } from "./providers.ts";

/** The services of the webhook; null in a process without a payment provider. */
export interface WebhookServices {
  readonly kind: ProviderKind;
  readonly provider: Pick<PaymentProvider, "verifyEvent">;
  readonly events: Pick<ProviderEvents, "receive">;
  readonly queue: Pick<PaymentQueue, "addEvent">;
  /** Called for each event, with its type and its result. */
  readonly onEvent: (type: string, result: string) => void;
}

export interface WebhookDeps {
  readonly payments: WebhookServices | null;
  /** The memory that one address may take with bodies that are still being read. */
  readonly bodies: Pick<BodyShares, "of">;
  readonly clientIp: ClientIp;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
}

const BODY_BYTES_MAX = 512 * 1_024;

/** The webhook of each kind of provider. */
export const WEBHOOKS: readonly Endpoint<WebhookDeps>[] = PROVIDER_KINDS.map(webhookOf);

/** The endpoint that takes the events of a kind of provider. */
export function webhookOf(kind: ProviderKind): Endpoint<WebhookDeps> {
  const { title, webhook } = PROVIDERS[kind];
  return plainEndpoint({
    id: webhook.id,
    method: "POST",
    path: webhook.path,
    summary: `Take an event of ${title}`,
    reply: Type.Object({ received: Type.Boolean() }),
    examples: [],
    async run(deps: WebhookDeps, raw) {
      const requestId = newTimedId("request", deps.random, deps.clock.now());
      const response = await answer(deps, kind, { raw, requestId });
      response.headers.set("x-request-id", requestId);
      return response;
    },
  });
}

interface NumberedRequest {
  readonly raw: RawRequest;
  readonly requestId: string;
}

async function answer(
  deps: WebhookDeps,
  kind: ProviderKind,
  { raw, requestId }: NumberedRequest,
): Promise<Response> {
  const { payments, log } = deps;
  if (payments?.kind !== kind) {
    return refusal("not_found", "No payment provider is configured", requestId);
  }
  try {
    return await receive(deps, payments, raw);
  } catch (error) {
    const refused = reasonOf(error);
    if (refused !== null) {
      const { code, reason, message } = refused;
      payments.onEvent("refused", reason);
      log.warn({ requestId, reason }, "An event was refused");
      return refusal(code, message, requestId);
    }
    payments.onEvent("refused", "not_stored");
    log.error(
      { requestId, err: error },
      "An event could not be stored; the provider sends it again",
    );
    const message = "The event could not be stored; send it again";
    return refusal("service_unavailable", message, requestId);
  }
}

/** The reason to refuse an event: its content, or its body. Null for a fault of ours. */
function reasonOf(error: unknown) {
  if (error instanceof EventRefused) {
    return { code: "invalid_parameter", reason: error.reason, message: error.message } as const;
  }
  if (!(error instanceof ApiError)) return null;
  return { code: error.code, reason: error.code, message: error.message };
}

async function receive(
  { clock, log, bodies, clientIp }: WebhookDeps,
  { kind, provider, events, queue, onEvent }: WebhookServices,
  { request, server }: RawRequest,
): Promise<Response> {
  const signature = request.headers.get(PROVIDERS[kind].webhook.signatureHeader);
  if (signature === null) throw new EventRefused("signature", "The event has no signature");
  const share = bodies.of(networkOf(clientIp(peerOf(server, request), request.headers)));
  const body = await readText(request, { bytesMax: BODY_BYTES_MAX, clock, share });
  const event = await provider.verifyEvent(body, signature);
  const isNew = await events.receive(event);
  onEvent(event.type, isNew ? "received" : "repeated");
  if (isNew) announce(queue, event, log);
  return Response.json({ received: true }, { status: OK });
}

/** The answer does not wait for the queue: an event without a job is found by the completer. */
function announce(
  queue: Pick<PaymentQueue, "addEvent">,
  event: ProviderEvent,
  log: Pick<Log, "warn">,
): void {
  queue.addEvent(event).catch((error: unknown) => {
    log.warn({ eventId: event.id, err: error }, "An event waits for the completer");
  });
}

function refusal(code: keyof typeof ERRORS, message: string, requestId: string): Response {
  const { status, type } = ERRORS[code];
  const error = { type, code, message: `${message} (request ${requestId})` };
  return Response.json({ error }, { status });
}
