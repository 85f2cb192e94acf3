// The life of a chat call: admit, ask the upstream, settle.

import type { Hold, Outcome, Settlement } from "../../../actors/account.ts";
import { type Call, elapsedMs, outcomeOf } from "../../calls/call.ts";
import { firstAnswer } from "../../calls/first-answer.ts";
import { Interruption } from "../../calls/interruption.ts";
import { clientLeft, giveBack, type Settled, settle, settleWith } from "../../calls/settling.ts";
import { CHAT } from "../../core/access/limits.ts";
import { throwIfCancelled } from "../../core/cancellation.ts";
import { DISCONNECTED, OK } from "../../core/errors.ts";
import type { BodyShare } from "../../http/body/body-shares.ts";
import type { StreamTurn } from "./abandoned-streams.ts";
import { withinKey } from "./allowed-models.ts";
import {
  ChatAdmission,
  type ChatCall,
  type ChatCallDeps,
  limitFor,
  requestFor,
  type SentLimit,
} from "./chat-admission.ts";
import { ChatStream } from "./chat-stream.ts";
import { DisconnectGrace } from "./disconnect-grace.ts";
import { withinMaxCost } from "./max-cost.ts";
import type { ModelEntry } from "./models/catalogue.ts";
import { pullable } from "./protocols/batches.ts";
import { CONTENT_FILTER, LENGTH } from "./protocols/openai/finish-reason.ts";
import type { ChatUsage, ServedReply } from "./protocols/provider.ts";
import { asServed } from "./request-tier.ts";
import {
  type AnsweringModel,
  type ChargedUsage,
  cheaperServed,
  costOf,
  detailsOf,
  type PricedCall,
  type ServedBy,
  servedOutcome,
  standInOf,
  type UsageSource,
} from "./served-model.ts";
import { SILENT_UPSTREAM } from "./stream-interruptions.ts";
import { countedPrompt } from "./tokens/prompt-usage.ts";
import { countUsage } from "./tokens/token-meter.ts";

/** A reply with its usage. */
export interface CountedReply extends AnsweringModel, SentLimit {
  readonly reply: ServedReply;
  readonly usage: ChatUsage;
}

/** A chat without streaming, and the writer of its reply. */
export interface Completion {
  readonly chat: ChatCall;
  readonly write: (reply: CountedReply, settlement: Settlement) => string;
}

/**
 * Completes a chat without streaming. Once a server has accepted the request the call is charged,
 * even if the caller leaves: by the usage that the server reports, or only the prompt if the server
 * does not answer in time.
 */
export function completeChat(
  deps: ChatCallDeps,
  call: Call,
  completion: Completion,
): Promise<Settled<string>> {
  const { chat } = completion;
  if (chat.models.length === 1) return complete(deps, call, completion);
  const run = (chosen: ChatCall) => complete(deps, call, { ...completion, chat: chosen });
  return withinKey(deps, call, { chat, run });
}

async function complete(
  deps: ChatCallDeps,
  call: Call,
  { chat: asked, write }: Completion,
): Promise<Settled<string>> {
  const chat = call.maxCost === null ? asked : await withinMaxCost(deps, call, asked);
  const admission = new ChatAdmission(deps, call, chat);
  const admitting = admission.admitted(await admission.asked);
  const admitted = admitting instanceof Promise ? await admitting : admitting;
  const { hold, models } = admitted;
  const account = call.identity.accountId;
  const grace = new DisconnectGrace(deps.clock, call.signal, call.graceMs);
  const { signal } = grace;
  const tried: ModelEntry[] = [];
  let room: BodyShare | null = null;
  try {
    room = deps.prompts.take(account, admission.promptBytes);
    const options = { account, signal, watch: grace };
    const ask = (model: ModelEntry) =>
      deps.chat.complete(model, requestFor(model, admitted), options);
    const reply = await firstAnswer(deps, call, { models, tried, signal, ask });
    const model = answering(tried);
    const usage =
      reply.usage ??
      (await countUsage(deps.tokens, account, { model, request: chat.request, reply }));
    const source = usageSource(reply);
    const isContentRefused = reply.choices.some(isRefusal);
    const sent = limitFor(model, admitted, chat);
    const isCostStopped = sent.isCostBound && reply.choices.some(isAtLimit);
    const request = asServed(chat.request, reply.ignored);
    const by = { model, tried, route: reply, request, hold };
    const ends = { isContentRefused, isCostStopped };
    const outcome = chargedOutcome(deps, call, { ...by, ...ends, usage, source });
    const cost = costOf(model.prices, usage, by);
    const counted = { model, tried, ofKey: ofKey(asked), reply, usage, ...sent };
    return await settleWith(
      deps,
      { hold, cost, outcome, call },
      {
        write: (paid) => write(counted, isCostStopped ? { ...paid, ...STOPPED } : paid),
        saysWhatIsLeft: chat.svcMembers !== null,
      },
    );
  } catch (error) {
    if (grace.hasTimedOut) {
      const model = answering(tried);
      const { request } = chat;
      const count = () => countedPrompt(deps.tokens, account, { model, request });
      return await chargeUnanswered(deps, call, { hold, model, request, count });
    }
    return await giveBack(deps, call, { hold, failure: error });
  } finally {
    room?.end();
    grace.close();
  }
}

/** The models that the key allows, if the service would choose from others too. */
function ofKey({ models, isWithinKey }: ChatCall): AnsweringModel["ofKey"] {
  return isWithinKey === true ? models : undefined;
}

/** Added to the settlement of a reply that reached the limit which its caller's cap allows. */
const STOPPED = { stoppedBy: "max_cost" } as const;

function isAtLimit({ finish_reason }: ServedReply["choices"][number]): boolean {
  return finish_reason === LENGTH;
}

/** True for a choice that the provider's rules ended, or in which the model refuses to answer. */
function isRefusal({ finish_reason, message }: ServedReply["choices"][number]): boolean {
  return finish_reason === CONTENT_FILTER || message.refusal !== undefined;
}

function usageSource({ usage, hasWrongUsage }: ServedReply): UsageSource {
  if (usage !== null) return undefined;
  return hasWrongUsage === true ? "contradicted" : "counted";
}

/**
 * A call whose caller has left, and whose request a server did not finish within the grace period.
 */
interface UnansweredCall extends PricedCall {
  readonly hold: Hold;
  readonly model: ModelEntry;
  /** Counts the prompt. */
  readonly count: () => Promise<ChatUsage>;
}

/** Charges the prompt of a request whose reply is not waited for any longer. */
export async function chargeUnanswered(
  deps: ChatCallDeps,
  call: Call,
  { hold, model, request, count }: UnansweredCall,
): Promise<never> {
  try {
    const usage = await count();
    const served = cheaperServed(model.prices, usage, { request, hold });
    const { status, code: errorCode } = DISCONNECTED;
    const outcome = {
      ...outcomeOf(deps, call, { status, errorCode }),
      ...usage,
      ...standInOf(model),
      usageDetails: detailsOf({ usage, source: "counted", isContentRefused: false }, served),
    } as const satisfies Outcome;
    await settle(deps, { hold, cost: costOf(model.prices, usage, served), outcome });
  } catch (error) {
    return await giveBack(deps, call, { hold, failure: error });
  }
  throw clientLeft();
}

/** A reply that is charged, with the fields that the log stores about it. */
interface ChargedReply extends ServedBy, ChargedUsage, PricedCall {
  readonly usage: ChatUsage;
}

/** The outcome of a charged call, whose caller may have left before the reply. */
export function chargedOutcome(deps: ChatCallDeps, call: Call, charged: ChargedReply): Outcome {
  const hasLeft = call.signal.aborted;
  const { promptTokens, cachedTokens, completionTokens } = charged.usage;
  const { model, priceVersion, lane, upstreamCost, usageDetails } = servedOutcome(charged, charged);
  return {
    status: hasLeft ? DISCONNECTED.status : OK,
    errorCode: hasLeft ? DISCONNECTED.code : null,
    latencyMs: elapsedMs(deps, call),
    firstTokenMs: null,
    promptTokens,
    cachedTokens,
    completionTokens,
    requests: 1,
    model,
    priceVersion,
    lane,
    upstreamCost,
    usageDetails,
  };
}

/** Opens a stream and waits for its first batch, so that an earlier failure is a plain error. */
export function openChatStream(
  deps: ChatCallDeps,
  call: Call,
  chat: ChatCall,
): Promise<ChatStream> {
  if (chat.models.length === 1) return openStream(deps, call, chat);
  return withinKey(deps, call, { chat, run: (chosen) => openStream(deps, call, chosen) });
}

async function openStream(deps: ChatCallDeps, call: Call, asked: ChatCall): Promise<ChatStream> {
  const chat = call.maxCost === null ? asked : await withinMaxCost(deps, call, asked);
  const admission = new ChatAdmission(deps, call, chat);
  const admitting = admission.admitted(await admission.asked);
  const admitted = admitting instanceof Promise ? await admitting : admitting;
  const { hold, models } = admitted;
  const interruption = new Interruption(call.signal, hold);
  const callOff = deps.clock.after(CHAT.streamIdleMs, () =>
    interruption.interrupt(SILENT_UPSTREAM),
  );
  let turn: StreamTurn | null = null;
  let room: BodyShare | null = null;
  try {
    const { signal } = interruption;
    const { accountId: account } = call.identity;
    room = deps.prompts.take(account, admission.promptBytes);
    const waited = deps.abandoned.turn(call.identity, call.rate?.limit ?? 0, signal);
    turn = waited instanceof Promise ? await waited : waited;
    // A caller who has left already must cost no request to a server.
    throwIfCancelled(signal);
    const tried: ModelEntry[] = [];
    const ask = (model: ModelEntry) =>
      deps.chat.stream(model, requestFor(model, admitted), { account, signal });
    const answer = await firstAnswer(deps, call, { models, tried, signal, ask });
    const model = answering(tried);
    const batches = pullable(answer);
    const { lane, buying, ignored } = answer;
    const sent = limitFor(model, admitted, chat);
    const route = { lane, buying, ignored };
    const request = asServed(chat.request, ignored);
    const served = { model, tried, ofKey: ofKey(asked), route, batches, ...sent };
    const parts = { call, request, room, hold, interruption, turn, ...served };
    return new ChatStream(deps, parts);
  } catch (error) {
    room?.end();
    interruption.stopListening();
    if (call.signal.aborted) turn?.abandon();
    turn?.end();
    const { reason } = interruption;
    return await giveBack(deps, call, { hold, failure: reason?.error ?? error });
  } finally {
    callOff();
  }
}

/** The last model that was asked: the one that answers, if any does. */
function answering(tried: readonly ModelEntry[]): ModelEntry {
  const model = tried.at(-1);
  if (model === undefined) throw new Error("No model was asked");
  return model;
}
