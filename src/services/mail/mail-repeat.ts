// Handles idempotency keys (SPEC 4.6.2). Of all requests with the same key, even simultaneous ones,
// one creates the message; the other requests wait and receive its result. The waiting requests are
// counted and logged, and cost nothing.

import { refuse, takeHold } from "../../calls/admission.ts";
import { type Call, type CallDeps, NO_COST, outcomeOf } from "../../calls/call.ts";
import { giveBack, release } from "../../calls/settling.ts";
import { wait } from "../../core/clock.ts";
import { ACCEPTED, ApiError, OK } from "../../core/errors.ts";
import type { MailContent } from "../../core/mail.ts";
import type { IdempotencyClaim, IdempotencyKey } from "../../store/mail/idempotency-keys.ts";
import type { MailMessage } from "../../store/mail/mail-messages.ts";
import { type MailResult, resultOf } from "./mail-result.ts";
import { awaitMessage, MAIL_TERMS, type MailCallDeps, type MailServices } from "./mail-services.ts";

/** The time between two checks of a message that another request is creating. */
const LOOK_MS = 25;

export type Repeat =
  /** This request creates the message. */
  | { readonly kind: "mine"; readonly claim: IdempotencyClaim }
  | { readonly kind: "message"; readonly id: string; readonly key: IdempotencyKey };

/** Claims the key, or waits for the message that another request creates with it. */
export async function findRepeat(
  { calls, mail }: MailCallDeps,
  call: Call,
  given: { readonly idempotencyKey: string; readonly content: MailContent },
): Promise<Repeat> {
  const { accountId } = call.identity;
  const [current, ...previous] = mail.secrets;
  const key = idempotencyKeyOf(current, accountId, given);
  const earlier = previous.map((secret) => idempotencyKeyOf(secret, accountId, given));
  const endMs = calls.clock.monotonicMs() + mail.waitMs;
  while (calls.clock.monotonicMs() < endMs) {
    const state = await mail.idempotencyKeys.begin(key, newUuid(mail), earlier).catch((cause) => {
      throw notStored(cause);
    });
    if (state.kind === "mine") return state;
    if (state.kind === "message") return { ...state, key };
    if (state.kind === "reused") {
      return await refuse(calls, call, { ...MAIL_TERMS, refusal: reused() });
    }
    await wait(calls, LOOK_MS);
  }
  const message = "Another request with this Idempotency-Key is still being taken";
  const refusal = new ApiError("service_unavailable", message, { retryAfterSeconds: 1 });
  return await refuse(calls, call, { ...MAIL_TERMS, refusal });
}

/** The result of a message that an earlier request created. */
export async function answerRepeat(
  deps: MailCallDeps,
  call: Call,
  { id, key }: Extract<Repeat, { kind: "message" }>,
): Promise<MailResult> {
  const { calls, mail } = deps;
  const hold = await takeHold(calls, call, { ...MAIL_TERMS, ...NO_COST });
  try {
    const message = await awaitMessage(mail, calls.clock, { id });
    const result = await concluded(deps, key, message);
    const status = result.status === "queued" ? ACCEPTED : OK;
    await release(calls, hold, outcomeOf(calls, call, { status, errorCode: null }));
    return { ...result, isRepeat: true };
  } catch (failure) {
    return await giveBack(calls, call, { hold, failure });
  }
}

/** The result of a message. A refusal is thrown, and frees its key. */
export async function concluded(
  { calls, mail }: MailCallDeps,
  key: Pick<IdempotencyKey, "accountId" | "digest"> | null,
  message: MailMessage,
): Promise<MailResult> {
  const result = resultOf(message);
  if (!(result instanceof ApiError)) return result;
  if (key !== null) await freed(calls, mail.idempotencyKeys.forget(key, message.id));
  throw result;
}

/**
 * Waits until a key is free for the next request. If that fails, the refusal must still reach the
 * caller: a claim ends by itself, and a repeat of a refused message frees its key again.
 */
export async function freed({ log }: Pick<CallDeps, "log">, freeing: Promise<void>): Promise<void> {
  await freeing.catch((error) => log.warn({ err: error }, "An Idempotency-Key was not freed"));
}

/** Postgres does not reply: nothing was sent, and nothing is charged. */
export function notStored(cause: unknown): ApiError {
  const message = "The message could not be stored; try again";
  return new ApiError("service_unavailable", message, { retryAfterSeconds: 1, cause });
}

function reused(): ApiError {
  const message = "This Idempotency-Key came with another body before";
  return new ApiError("idempotency_key_reused", message);
}

/** The idempotency key, and the digest of the body that came with it, as they are stored. */
function idempotencyKeyOf(
  secret: string,
  accountId: string,
  given: { readonly idempotencyKey: string; readonly content: MailContent },
): IdempotencyKey {
  const digestOf = (text: string) => new Bun.CryptoHasher("sha256", secret).update(text).digest();
  return {
    accountId,
    digest: digestOf(`key ${accountId} ${given.idempotencyKey}`),
    fingerprint: digestOf(`body ${JSON.stringify(given.content)}`),
  };
}

function newUuid({ random }: MailServices): string {
  const hex = Buffer.from(random(16)).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
