// Counts the tokens of a conversation. A count is a call of its own, which costs nothing.

import { takeHold } from "../../../../calls/admission.ts";
import { NO_COST, outcomeOf } from "../../../../calls/call.ts";
import { giveBack, release } from "../../../../calls/settling.ts";
import { OK } from "../../../../core/errors.ts";
import type { Answer, EndpointContext } from "../../../../http/endpoint.ts";
import { modelNamed } from "../../models/catalogue.ts";
import type { ChatDeps, ChooseModels } from "../completions/answer-chat.ts";
import { promptTokens } from "./answer-messages.ts";
import type { CountFields } from "./messages-body.ts";
import { type CountedRequest, toCountedRequest } from "./messages-request.ts";

type Context = EndpointContext<ChatDeps>;

/** The conversation to count. Throws a refusal, also for a model that cannot be asked. */
export function prepareCount(
  context: Context,
  fields: CountFields,
  choose: ChooseModels,
): CountedRequest {
  const { deps, call } = context;
  const { model } = fields;
  const request = toCountedRequest(fields);
  const catalogue = deps.catalogue();
  context.model = modelNamed(catalogue, model)?.id ?? null;
  choose(deps, { model, request, catalogue, account: call.identity.accountId });
  return request;
}

/** The tokens of the conversation. */
export async function runCount(context: Context, request: CountedRequest): Promise<number> {
  const { deps, call, model } = context;
  const terms = { scope: "models", service: "models", model, ...NO_COST } as const;
  const hold = await takeHold(deps.calls, call, terms);
  try {
    const tokens = await promptTokens(context, request);
    await release(deps.calls, hold, outcomeOf(deps.calls, call, { status: OK, errorCode: null }));
    return tokens;
  } catch (error) {
    return await giveBack(deps.calls, call, { hold, failure: error });
  }
}

/** The reply. */
export function answerCount(_: Context, __: CountedRequest, input_tokens: number): Answer {
  return { json: JSON.stringify({ input_tokens }) };
}
