// The life of a chat call: admit, ask the upstream, settle.

import type { Settlement } from "../../actors/hold.ts";
import { OK } from "../core/errors.ts";
import { CHAT } from "../core/limits.ts";
import type { NanoUsd } from "../core/money.ts";
import { exactCost, type TokenUsage } from "../core/pricing.ts";
import type { ChatReply } from "../providers/chat/provider.ts";
import { type Call, type CallDeps, outcomeOf } from "./call.ts";
import { admitChat, type ChatCall } from "./chat-admission.ts";
import { ChatStream, SILENT_UPSTREAM } from "./chat-stream.ts";
import { Interruption } from "./interruption.ts";
import { giveBack, settle } from "./settling.ts";
import { countUsage } from "./token-meter.ts";

export interface Completion {
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
  const hold = await admitChat(deps, call, chat);
  let reply: ChatReply;
  let usage: TokenUsage;
  let cost: NanoUsd;
  try {
    reply = await deps.chat.complete(chat.model, chat.request, { signal: call.signal });
    usage = reply.usage ?? (await countUsage(chat.request, reply));
    cost = exactCost(chat.model.bands, usage);
  } catch (error) {
    return await giveBack(deps, call, hold, error);
  }
  const outcome = { ...outcomeOf(deps, call, { status: OK, errorCode: null }), ...usage };
  const settlement = await settle(deps, { hold, cost, outcome });
  return { reply, usage, settlement };
}

/** A stream whose first batch is there, so that what failed before it is a plain error. */
export async function openChatStream(
  deps: CallDeps,
  call: Call,
  chat: ChatCall,
): Promise<ChatStream> {
  const hold = await admitChat(deps, call, chat);
  const interruption = new Interruption(call.signal, hold);
  const callOff = deps.clock.after(CHAT.streamIdleMs, () =>
    interruption.interrupt(SILENT_UPSTREAM),
  );
  try {
    const { signal } = interruption;
    const upstream = await deps.chat.stream(chat.model, chat.request, { signal });
    const batches = upstream[Symbol.asyncIterator]();
    return new ChatStream(deps, { call, chat, hold, interruption, batches });
  } catch (error) {
    interruption.stopListening();
    const { reason } = interruption;
    return await giveBack(deps, call, hold, reason?.error ?? error);
  } finally {
    callOff();
  }
}
