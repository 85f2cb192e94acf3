// The life of a message's request: claim its idempotency key, admit, seal, store, wait. The message
// itself lives on in the workers, which also settle the hold (workers/mail-delivery.ts).

import type { Hold, Limit } from "../../../actors/account.ts";
import { termsToText } from "../../../actors/detached-hold.ts";
import { type Call, type CallDeps, refuse, takeHold } from "../../calls/call.ts";
import { giveBack } from "../../calls/settling.ts";
import { ApiError } from "../../core/errors.ts";
import { newTimedId } from "../../core/ids.ts";
import { MAIL_COUNTS, type MailLimits, type Tier } from "../../core/limits.ts";
import type { MailContent } from "../../core/mail.ts";
import { MAIL_PRICE_VERSION, mailCost } from "../../core/mail.ts";
import { domainsOf, type MailAddress } from "../../core/mail-address.ts";
import { ZERO } from "../../core/money.ts";
import type { MailMessage, NewMessage } from "../../store/mail-messages.ts";
import type { RepeatClaim } from "../../store/mail-repeats.ts";
import { answerRepeat, concluded, findRepeat, notStored } from "./mail-repeat.ts";
import type { MailResult } from "./mail-result.ts";
import { awaitMessage, type MailServices } from "./mail-services.ts";
import { MAIL_TERMS } from "./mail-terms.ts";
import { seal } from "./sealed.ts";

/** A checked request. */
export interface MailCall {
  readonly content: MailContent;
  /** Distinct. */
  readonly recipients: readonly MailAddress[];
  readonly idempotencyKey: string | null;
}

/** Sends a message, or throws the refusal. A repeat is given what the first request was given. */
export async function sendMail(
  deps: CallDeps,
  room: MailServices,
  call: Call,
  mail: MailCall,
): Promise<MailResult> {
  const { idempotencyKey, content } = mail;
  await checkRecipients(deps, call, mail);
  if (idempotencyKey === null) return await make(deps, room, call, { mail, claim: null });
  const repeat = await findRepeat(deps, room, call, { idempotencyKey, content });
  if (repeat.kind === "message") return await answerRepeat(deps, room, call, repeat);
  return await make(deps, room, call, { mail, claim: repeat.claim });
}

/** SPEC 8.3. What a tier without mail is told, the admission says. */
async function checkRecipients(deps: CallDeps, call: Call, mail: MailCall): Promise<void> {
  const { accountId, bucket, keyId } = call.identity;
  const { tier } = await deps.accounts.of(accountId, bucket).view(keyId);
  const most = tier.mail?.recipientsPerMessage;
  if (most === undefined || mail.recipients.length <= most) return;
  const { length } = mail.recipients;
  const message = `to has ${length} recipients; the ${tier.name} tier allows ${most}`;
  await refuse(deps, call, MAIL_TERMS, new ApiError("too_many_recipients", message));
}

interface Making {
  readonly mail: MailCall;
  /** The claim of the request's Idempotency-Key. */
  readonly claim: RepeatClaim | null;
}

async function make(
  deps: CallDeps,
  room: MailServices,
  call: Call,
  making: Making,
): Promise<MailResult> {
  const { claim } = making;
  const id = newTimedId("message", room.random, deps.clock.now());
  try {
    const hold = await admitMail(deps, call, making.mail);
    await post(deps, room, { ...making, call, hold, id });
  } catch (error) {
    if (claim !== null) await room.repeats.giveBack(claim);
    throw error;
  }
  // The workers have it now. Should the queue not hear of it, the completer finds it.
  const announce = async () => {
    await room.queue.add(id, 0).catch((error) => {
      deps.log.warn({ messageId: id, err: error }, "A message waits for the completer");
    });
  };
  try {
    const message = await awaitMessage(room, deps.clock, { id, announce });
    return await concluded(room, claim, message);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The message is stored and will be sent; an error would make its caller send another.
    deps.log.warn({ messageId: id, err: error }, "A message could not be waited for");
    return unseen(deps, call, making.mail, id);
  }
}

function admitMail(deps: CallDeps, call: Call, mail: MailCall): Promise<Hold> {
  const bound = mailCost(mail.recipients.length);
  const limits = ({ mail: most }: Tier) => (most === null ? [] : limitsOf(most, mail));
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
function limitsOf(most: MailLimits, { recipients }: MailCall): Limit[] {
  const { messagesPerMinute, recipientsPerDay } = most;
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

interface Posting extends Making {
  readonly call: Call;
  readonly hold: Hold;
  readonly id: string;
}

/** Stores the message for the workers, and the hold with it; or gives the hold back and throws. */
async function post(deps: CallDeps, room: MailServices, posting: Posting): Promise<void> {
  const { call, hold, id } = posting;
  const sealed = seal(JSON.stringify(posting.mail.content), id, room.random);
  try {
    await room.keys.put(id, sealed.key);
  } catch (cause) {
    return await giveBack(deps, call, hold, notStored(cause));
  }
  const stored = await insert(room, posting, sealed.box).catch((cause) => {
    // It may have been stored all the same, and be sent: then a worker settles the hold. If it was
    // not, the hold ends with its lease.
    hold.detach();
    throw notStored(cause);
  });
  if (!stored) return await giveBack(deps, call, hold, notStored(null));
  hold.detach();
}

function insert(room: MailServices, posting: Posting, box: Uint8Array): Promise<boolean> {
  const { call, mail, claim, hold, id } = posting;
  const message: NewMessage = {
    id,
    accountId: call.identity.accountId,
    requestId: call.requestId,
    hold: termsToText(hold.detached),
    recipients: mail.recipients.length,
    domains: domainsOf(mail.recipients),
    box,
    repeat: claim,
  };
  return room.messages.insert(message);
}

/** What is known of a message that Postgres does not show just now. */
function unseen(deps: CallDeps, call: Call, { recipients }: MailCall, id: string): MailResult {
  const message: MailMessage = {
    id,
    requestId: call.requestId,
    status: "queued",
    createdAt: new Date(deps.clock.now()),
    recipients: recipients.length,
    accepted: 0,
    domains: domainsOf(recipients),
    isDeferred: false,
    toldQueued: true,
    failure: null,
    reason: null,
    cost: null,
  };
  return { message, status: "queued", cost: ZERO, isRepeat: false };
}
