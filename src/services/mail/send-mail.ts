// The life of a mail request: claim its idempotency key, admit, seal, store, wait. The message
// itself continues in the workers, which also settle the hold (workers/mail-delivery.ts).

import type { Hold, Limit } from "../../../actors/account.ts";
import { termsToText } from "../../../actors/detached-hold.ts";
import { refuse, takeHold } from "../../calls/admission.ts";
import type { Call, CallDeps } from "../../calls/call.ts";
import { waitForProvider } from "../../calls/first-answer.ts";
import { giveBack } from "../../calls/settling.ts";
import { MAIL_COUNTS, type MailLimits, type Tier } from "../../core/access/limits.ts";
import { ApiError } from "../../core/errors.ts";
import { newTimedId } from "../../core/ids.ts";
import type { MailContent } from "../../core/mail.ts";
import { MAIL_PRICE_VERSION, mailCost } from "../../core/mail.ts";
import { ZERO } from "../../core/money/money.ts";
import { seal } from "../../core/sealed.ts";
import { domainsOf, type MailAddress } from "../../core/text/mail-address.ts";
import type { IdempotencyClaim } from "../../store/mail/idempotency-keys.ts";
import type { MailMessage, NewMessage } from "../../store/mail/mail-messages.ts";
import { answerRepeat, concluded, findRepeat, freed, notStored } from "./mail-repeat.ts";
import type { MailResult } from "./mail-result.ts";
import { awaitMessage, MAIL_TERMS, type MailCallDeps, type MailServices } from "./mail-services.ts";

/** A checked request. */
export interface MailCall {
  readonly content: MailContent;
  /** Distinct addresses. */
  readonly recipients: readonly MailAddress[];
  readonly idempotencyKey: string | null;
}

/** Sends a message, or throws the refusal. A repeat returns the result of the first request. */
export async function sendMail(
  deps: MailCallDeps,
  call: Call,
  mail: MailCall,
): Promise<MailResult> {
  const { idempotencyKey, content } = mail;
  await checkRecipients(deps.calls, call, mail);
  if (idempotencyKey === null) return await createMessage(deps, call, { mail, claim: null });
  const repeat = await findRepeat(deps, call, { idempotencyKey, content });
  if (repeat.kind === "message") return await answerRepeat(deps, call, repeat);
  return await createMessage(deps, call, { mail, claim: repeat.claim });
}

/** SPEC 8.3. The admission refuses a tier without mail. */
async function checkRecipients(deps: CallDeps, call: Call, mail: MailCall): Promise<void> {
  const { accountId, bucket, keyId } = call.identity;
  const { tier } = await deps.accounts.of(accountId, bucket).view(keyId);
  const most = tier.mail?.recipientsPerMessage;
  if (most === undefined || mail.recipients.length <= most) return;
  const { length } = mail.recipients;
  const message = `to has ${length} recipients; the ${tier.name} tier allows ${most}`;
  const refusal = new ApiError("too_many_recipients", message);
  await refuse(deps, call, { ...MAIL_TERMS, refusal });
}

interface ClaimedMail {
  readonly mail: MailCall;
  /** The claim of the request's Idempotency-Key. */
  readonly claim: IdempotencyClaim | null;
}

async function createMessage(
  deps: MailCallDeps,
  call: Call,
  claimed: ClaimedMail,
): Promise<MailResult> {
  const { calls, mail: services } = deps;
  const { claim } = claimed;
  const id = newTimedId("message", services.random, calls.clock.now());
  try {
    const hold = await admitMail(calls, call, claimed.mail);
    await storeMessage(deps, { ...claimed, call, hold, id });
  } catch (error) {
    if (claim !== null) await freed(calls, services.idempotencyKeys.release(claim));
    throw error;
  }
  // With a slow mail server, other accounts would wait behind all messages of one account (D-545).
  const rank = services.turns.begin(call.identity.accountId);
  // Gives the message to the workers. If that fails, the completer finds it in Postgres.
  const announce = async () => {
    await services.queue.add(id, 0, { rank }).catch((error) => {
      calls.log.warn({ messageId: id, err: error }, "A message waits for the completer");
    });
  };
  try {
    const message = await waitForProvider(calls, call, () =>
      awaitMessage(services, calls.clock, { id, announce }),
    );
    return await concluded(deps, claim, message);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The message is stored and will be sent: after an error, its caller would send a second one.
    calls.log.warn({ messageId: id, err: error }, "A message could not be waited for");
    const { requestId } = call;
    const createdAt = new Date(calls.clock.now());
    return unseen(claimed.mail, { id, requestId, createdAt });
  } finally {
    services.turns.end(call.identity.accountId);
  }
}

function admitMail(deps: CallDeps, call: Call, mail: MailCall): Promise<Hold> {
  const bound = mailCost(mail.recipients.length);
  const limits = ({ mail: mailLimits }: Tier) =>
    mailLimits === null ? [] : limitsOf(mailLimits, mail);
  return takeHold(deps, call, {
    ...MAIL_TERMS,
    bound,
    priceVersion: MAIL_PRICE_VERSION,
    freeEligible: false,
    stream: false,
    limits,
    isDetached: true,
  });
}

/** SPEC 8.3, in the order of the error table. */
function limitsOf(mailLimits: MailLimits, { recipients }: MailCall): Limit[] {
  const { messagesPerMinute, recipientsPerDay } = mailLimits;
  return [
    {
      name: MAIL_COUNTS.messages,
      kind: "minute",
      max: messagesPerMinute,
      weight: 1,
      code: "mail_rate_limit",
    },
    {
      name: MAIL_COUNTS.recipients,
      kind: "day",
      max: recipientsPerDay,
      weight: recipients.length,
      code: "mail_daily_limit",
    },
  ];
}

interface HeldMail extends ClaimedMail {
  readonly call: Call;
  readonly hold: Hold;
  readonly id: string;
}

/** Stores the message and its hold for the workers; if that fails, releases the hold and throws. */
async function storeMessage(
  { calls, mail: services }: MailCallDeps,
  held: HeldMail,
): Promise<void> {
  const { call, hold, id } = held;
  const sealed = seal(JSON.stringify(held.mail.content), id, services.random);
  try {
    await services.keys.put(id, sealed.key);
  } catch (cause) {
    return await giveBack(calls, call, { hold, failure: notStored(cause) });
  }
  const stored = await insert(services, held, sealed.box).catch((cause) => {
    // The message may have been stored all the same, and may be sent: then a worker settles the
    // hold. If not, the hold ends with its lease.
    hold.detach();
    throw notStored(cause);
  });
  if (!stored) return await giveBack(calls, call, { hold, failure: notStored(null) });
  hold.detach();
}

function insert(services: MailServices, held: HeldMail, box: Uint8Array): Promise<boolean> {
  const { call, mail, claim, hold, id } = held;
  const message: NewMessage = {
    id,
    accountId: call.identity.accountId,
    requestId: call.requestId,
    hold: termsToText(hold.detached),
    recipients: mail.recipients.length,
    domains: domainsOf(mail.recipients),
    box,
    idempotency: claim,
  };
  return services.messages.insert(message);
}

/** The result of a stored message while Postgres does not return it. */
function unseen(
  { recipients }: MailCall,
  known: Pick<MailMessage, "id" | "requestId" | "createdAt">,
): MailResult {
  const message: MailMessage = {
    ...known,
    status: "queued",
    recipients: recipients.length,
    accepted: 0,
    domains: domainsOf(recipients),
    isDeferred: false,
    reportedQueued: true,
    failure: null,
    reason: null,
    cost: null,
  };
  return { message, status: "queued", cost: ZERO, isRepeat: false };
}
