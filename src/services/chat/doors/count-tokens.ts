// Counts the tokens of a conversation. A count is a call of its own, which costs nothing.

import { takeHold } from "../../../calls/admission.ts";
import { NO_COST, outcomeOf } from "../../../calls/call.ts";
import { giveBack, release } from "../../../calls/settling.ts";
import { OK } from "../../../core/errors.ts";
import { mediaTokens, modelsTaking } from "../media/model-media.ts";
import { noteModel } from "../models/noted-model.ts";
import type { ChatRequest } from "../protocols/provider.ts";
import { promptTokensMax } from "../tokens/tokens.ts";
import type { ChatContext, ChooseModels } from "./completions/answer-chat.ts";

/** A request without the body beside it, as a count needs it. */
export type CountedRequest = Omit<ChatRequest, "own">;

interface Conversation {
  /** The model in the body. */
  readonly model: string;
  readonly request: CountedRequest;
}

/** A conversation that can be counted. */
export interface Count {
  readonly request: CountedRequest;
  /** The tokens of its images and PDFs, by the rules of the model that would be asked. */
  readonly mediaTokens: number;
}

/**
 * The conversation to count. Throws a refusal, also for a model that cannot be asked or does not
 * take its media.
 */
export function prepareCount(
  context: ChatContext,
  { model, request }: Conversation,
  choose: ChooseModels,
): Count {
  const catalogue = context.deps.catalogue();
  noteModel(context, catalogue, model);
  const { models } = choose(context, request, { model, catalogue });
  const [first] = modelsTaking(models, request.media);
  return { request, mediaTokens: mediaTokens(first, request.media) };
}

/** The tokens of the conversation. */
export async function runCount(context: ChatContext, count: Count): Promise<number> {
  const { deps, call, model } = context;
  const terms = { scope: "models", service: "models", model, ...NO_COST } as const;
  const hold = await takeHold(deps.calls, call, terms);
  try {
    const tokens = (await promptTokens(context, count.request)) + count.mediaTokens;
    await release(deps.calls, hold, outcomeOf(deps.calls, call, { status: OK, errorCode: null }));
    return tokens;
  } catch (error) {
    return await giveBack(deps.calls, call, { hold, failure: error });
  }
}

/** Bytes of usual text for a token, where a prompt cannot be counted now. */
const BYTES_A_TOKEN = 4;

/** The tokens of the text of a prompt by our own tokenizer, or about as many. */
export async function promptTokens(
  { deps, call }: ChatContext,
  request: CountedRequest,
): Promise<number> {
  const { accountId } = call.identity;
  const { tokens } = deps.calls;
  const counted = await tokens.estimatePrompt(accountId, request, Number.POSITIVE_INFINITY);
  return counted ?? Math.ceil(promptTokensMax(request) / BYTES_A_TOKEN);
}
