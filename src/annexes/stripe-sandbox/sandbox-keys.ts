// Joins requests and answers of the sandbox's API by idempotency keys, as Stripe does.

import type { SandboxStore } from "./sandbox-store.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly idempotencyKey: string | null;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: object;
  /** True for an answer that was saved under the key of an earlier request. */
  readonly isReplayed?: boolean;
}

/** Returns the answer that is saved under the key of a request; null without one. */
export function keptAnswer(store: SandboxStore, request: ApiRequest): ApiAnswer | null {
  const key = keyOf(request);
  const kept = key === null ? null : store.answerTo(key);
  if (kept === null) return null;
  if (kept.fingerprint === fingerprintOf(request)) {
    return { status: kept.status, body: JSON.parse(kept.body) as object, isReplayed: true };
  }
  const message = "Keys for idempotent requests can only be used with the same parameters.";
  return { status: 400, body: { error: { type: "idempotency_error", message } } };
}

/** Saves an answer under the key of its request. Stripe also saves answers with the status 500. */
export function keepAnswer(
  store: SandboxStore,
  request: ApiRequest,
  { status, body }: ApiAnswer,
): void {
  const key = keyOf(request);
  const fingerprint = fingerprintOf(request);
  if (key !== null) store.keepAnswer(key, { fingerprint, status, body: JSON.stringify(body) });
}

function keyOf({ method, idempotencyKey }: ApiRequest): string | null {
  return method === "POST" ? idempotencyKey : null;
}

function fingerprintOf({ method, path, body }: ApiRequest): string {
  return `${method} ${path} ${body}`;
}
