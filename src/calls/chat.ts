// The life of a chat call: admit, ask the upstream, settle.

import type { Hold, Settlement } from "../../actors/hold.ts";
import { ApiError, DISCONNECTED, OK, toApiError } from "../core/errors.ts";
import { CHAT } from "../core/limits.ts";
import type { NanoUsd } from "../core/money.ts";
import { exactCost, type TokenUsage } from "../core/pricing.ts";
import type { ChatReply } from "../providers/chat/provider.ts";
import { type Call, type CallDeps, outcomeOf } from "./call.ts";
import { admitChat, type ChatCall } from "./chat-admission.ts";
import { ChatStream, SILENT_UPSTREAM } from "./chat-stream.ts";
import { Interruption } from "./interruption.ts";
import { type Answered, firstAnswer, servedInstead } from "./model-fallback.ts";
import { release, settle } from "./settling.ts";
import { countUsage } from "./token-meter.ts";

export interface Completion extends Omit<Answered<ChatReply>, "result"> {
  readonly reply: ChatReply;
  readonly usage: TokenUsage;
  readonly settlement: Settlement;
}

/**
 * A reply that comes whole. A caller who leaves while the upstream works pays nothing; once the
 * reply is there it is charged, whether or not it can still be delivered.
 */
export async function completeChat(
  deps: CallDeps,
  call: Call,
  chat: ChatCall,
): Promise<Completion> {
  const { hold, models } = await admitChat(deps, call, chat);
  const { signal } = call;
  let served: Answered<ChatReply>;
  let usage: TokenUsage;
  let cost: NanoUsd;
  try {
    served = await firstAnswer(deps, call, { models, signal }, (model) =>
      deps.chat.complete(model, chat.request, { signal }),
    );
    usage = served.result.usage ?? (await countUsage(chat.request, served.result));
    cost = exactCost(served.model.bands, usage);
  } catch (error) {
    return await giveBack(deps, call, hold, call.signal.aborted ? clientLeft() : error);
  }
  const end = outcomeOf(deps, call, { status: OK, errorCode: null });
  const outcome = { ...end, ...usage, ...servedInstead(served) };
  const settlement = await settle(deps, { hold, cost, outcome });
  const { model, tried, result: reply } = served;
  return { model, tried, reply, usage, settlement };
}

/** A stream whose first batch is there, so that what failed before it is a plain error. */
export async function openChatStream(
  deps: CallDeps,
  call: Call,
  chat: ChatCall,
): Promise<ChatStream> {
  const { hold, models } = await admitChat(deps, call, chat);
  const interruption = new Interruption(call.signal, hold);
  const callOff = deps.clock.after(CHAT.streamIdleMs, () =>
    interruption.interrupt(SILENT_UPSTREAM),
  );
  try {
    const { signal } = interruption;
    const { request } = chat;
    const { result, model, tried } = await firstAnswer(deps, call, { models, signal }, (one) =>
      deps.chat.stream(one, request, { signal }),
    );
    const batches = result[Symbol.asyncIterator]();
    return new ChatStream(deps, { call, request, model, tried, hold, interruption, batches });
  } catch (error) {
    interruption.stopListening();
    const { reason } = interruption;
    const failure = reason === null ? error : (reason.error ?? clientLeft());
    return await giveBack(deps, call, hold, failure);
  } finally {
    callOff();
  }
}

/** Returns the hold of a call that came to nothing, and throws what it failed by. */
async function giveBack(deps: CallDeps, call: Call, hold: Hold, failure: unknown): Promise<never> {
  const error = toApiError(failure);
  const end = call.signal.aborted
    ? { status: DISCONNECTED.status, errorCode: DISCONNECTED.code }
    : { status: error.status, errorCode: error.code };
  await release(deps, hold, outcomeOf(deps, call, end));
  throw error;
}

/** Nobody hears this; it only ends the handling of a request whose caller is gone. */
function clientLeft(): ApiError {
  return new ApiError("upstream_unreachable", "The caller left before the model answered");
}
