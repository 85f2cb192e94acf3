// Leaves to a call the models that its key may call, where the service chooses among several.

import { ModelsChanged } from "../../../actors/account.ts";
import type { Call } from "../../calls/call.ts";
import { mayCallModel } from "../../core/access/key-limits.ts";
import type { ChatCall, ChatCallDeps } from "./chat-admission.ts";

/** Sanity limit: the models of a key never change this often during one request. */
const CHOICES_MAX = 4;

/** A call, and the function that makes it. */
interface Choosing<Result> {
  readonly chat: ChatCall;
  readonly run: (chat: ChatCall) => Promise<Result>;
}

/**
 * Makes the call with those of its models that the key may call, best first. If these change before
 * its admission, it is made with the new ones. A call for which none is left keeps one, and its
 * admission refuses that.
 */
export async function withinKey<Result>(
  deps: ChatCallDeps,
  call: Call,
  { chat, run }: Choosing<Result>,
): Promise<Result> {
  for (let choice = 1; choice < CHOICES_MAX; choice += 1) {
    try {
      return await run({ ...(await narrowed(deps, call, chat)), isChosen: true });
    } catch (error) {
      if (!(error instanceof ModelsChanged)) throw error;
    }
  }
  return await run(await narrowed(deps, call, chat));
}

async function narrowed(deps: ChatCallDeps, call: Call, chat: ChatCall): Promise<ChatCall> {
  const { accountId, bucket, keyId } = call.identity;
  const patterns = await deps.accounts.of(accountId, bucket).modelsOf(keyId);
  if (patterns === null) return chat;
  const [best] = chat.models;
  const [first = best, ...others] = chat.models.filter(({ id }) => mayCallModel(patterns, id));
  return { ...chat, models: [first, ...others], isWithinKey: true };
}
