// The life of a chat call: admit, ask the upstream, settle.

import type { Settlement } from "../../../actors/account.ts";
import { type Call, outcomeOf } from "../../calls/call.ts";
import { Interruption } from "../../calls/interruption.ts";
import { giveBack, settle } from "../../calls/settling.ts";
import { OK } from "../../core/errors.ts";
import { CHAT } from "../../core/limits.ts";
import type { NanoUsd } from "../../core/money.ts";
import { exactCost } from "../../core/pricing.ts";
import { admitChat, type ChatCall, type ChatCallDeps } from "./chat-admission.ts";
import { ChatStream } from "./chat-stream.ts";
import { type Answered, firstAnswer, servedInstead } from "./model-fallback.ts";
import { pullable } from "./providers/batches.ts";
import type { ChatUsage, ServedReply } from "./providers/provider.ts";
import { SILENT_UPSTREAM } from "./stream-interruptions.ts";
import { countUsage } from "./token-meter.ts";

export interface Completion extends Omit<Answered<ServedReply>, "result"> {
  readonly reply: ServedReply;
  readonly usage: ChatUsage;
  readonly settlement: Settlement;
}

/**
 * A reply that comes whole. A caller who leaves while the upstream works pays nothing; once the
 * reply is there it is charged, whether or not it can still be delivered.
 */
export async function completeChat(
  deps: ChatCallDeps,
  call: Call,
  chat: ChatCall,
): Promise<Completion> {
  const { hold, models, requestFor } = await admitChat(deps, call, chat);
  const { signal } = call;
  const account = call.identity.accountId;
  let served: Answered<ServedReply>;
  let usage: ChatUsage;
  let cost: NanoUsd;
  try {
    served = await firstAnswer(deps, call, { models, signal }, (model) =>
      deps.chat.complete(model, requestFor(model), { account, signal }),
    );
    usage =
      served.result.usage ??
      (await countUsage(deps.tokens, account, { request: chat.request, reply: served.result }));
    cost = exactCost(served.model.bands, usage);
  } catch (error) {
    return await giveBack(deps, call, hold, error);
  }
  const end = outcomeOf(deps, call, { status: OK, errorCode: null });
  const { lane } = served.result;
  const outcome = { ...end, ...usage, ...servedInstead(served), lane };
  const settlement = await settle(deps, { hold, cost, outcome });
  const { model, tried, result: reply } = served;
  return { model, tried, reply, usage, settlement };
}

/** A stream whose first batch is there, so that what failed before it is a plain error. */
export async function openChatStream(
  deps: ChatCallDeps,
  call: Call,
  chat: ChatCall,
): Promise<ChatStream> {
  const { hold, models, requestFor } = await admitChat(deps, call, chat);
  const interruption = new Interruption(call.signal, hold);
  const callOff = deps.clock.after(CHAT.streamIdleMs, () =>
    interruption.interrupt(SILENT_UPSTREAM),
  );
  try {
    const { signal } = interruption;
    const account = call.identity.accountId;
    const { request } = chat;
    const { result, model, tried } = await firstAnswer(deps, call, { models, signal }, (one) =>
      deps.chat.stream(one, requestFor(one), { account, signal }),
    );
    const batches = pullable(result);
    const { lane } = result;
    const { maxTokens } = requestFor(model);
    const served = { model, tried, lane, batches, maxTokens };
    return new ChatStream(deps, { call, request, hold, interruption, ...served });
  } catch (error) {
    interruption.stopListening();
    const { reason } = interruption;
    return await giveBack(deps, call, hold, reason?.error ?? error);
  } finally {
    callOff();
  }
}
