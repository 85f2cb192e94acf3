// Narrows the models that the service may choose from to those that the call's key allows.

import { type CallTerms, ModelsChanged } from "../../../actors/account.ts";
import type { Call, CallDeps } from "../../calls/call.ts";
import { mayCallModel } from "../../core/access/key-limits.ts";
import type { ModelEntry } from "./models/catalogue.ts";

/** Sanity limit: the models of a key never change this often during one request. */
const CHOICES_MAX = 4;

/** A call whose models the service chooses, best first. */
interface Choice {
  readonly models: readonly [ModelEntry, ...ModelEntry[]];
  readonly chosenFor?: CallTerms["chosenFor"];
  readonly isWithinKey?: true;
}

/** A call, and the function that makes it. */
interface Choosing<Chosen extends Choice, Result> {
  readonly chat: Chosen;
  readonly run: (chat: Chosen) => Promise<Result>;
}

/**
 * Makes the call with those of its models that the key may call, best first. If the key's models
 * change before the admission, repeats the call with the new ones. If the key may call none of the
 * models, the call keeps one, and the admission refuses this model.
 */
export async function withinKey<Chosen extends Choice, Result>(
  deps: Pick<CallDeps, "accounts">,
  call: Call,
  { chat, run }: Choosing<Chosen, Result>,
): Promise<Result> {
  for (let choice = 1; choice < CHOICES_MAX; choice += 1) {
    try {
      return await run(await narrowed(deps, call, chat));
    } catch (error) {
      if (!(error instanceof ModelsChanged)) throw error;
    }
  }
  return await run({ ...(await narrowed(deps, call, chat)), chosenFor: undefined });
}

async function narrowed<Chosen extends Choice>(
  deps: Pick<CallDeps, "accounts">,
  call: Call,
  chat: Chosen,
): Promise<Chosen> {
  const { accountId, bucket, keyId } = call.identity;
  const patterns = await deps.accounts.of(accountId, bucket).modelsOf(keyId);
  const chosenFor = { patterns };
  if (patterns === null) return { ...chat, chosenFor };
  const [best] = chat.models;
  const [first = best, ...others] = chat.models.filter(({ id }) => mayCallModel(patterns, id));
  return { ...chat, chosenFor, models: [first, ...others], isWithinKey: true };
}
