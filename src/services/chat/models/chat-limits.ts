// The limits of chat completions. SPEC 8.4 has the defaults; an operator can raise each of them,
// for all models or for one (D-982).

import { CHAT } from "../../../core/access/limits.ts";
import { invalid } from "../../../http/body/checks.ts";

export interface ChatLimits {
  /** The most messages of a request. */
  readonly messagesMax: number;
  /** The highest output limit that a request can set. */
  readonly maxTokensMax: number;
  /** The output limit of a request that sets none. */
  readonly maxTokensDefault: number;
}

/** The limits where the operator raises none. */
export const DEFAULT_LIMITS: ChatLimits = {
  messagesMax: CHAT.messagesMax,
  maxTokensMax: CHAT.maxTokensMax,
  maxTokensDefault: CHAT.maxTokensDefault,
};

/** The limits of a model; those of all models where none is known. */
export function limitsOf(
  all: ChatLimits,
  model: { readonly chatLimits?: Partial<ChatLimits> } | undefined,
): ChatLimits {
  return model?.chatLimits === undefined ? all : { ...all, ...model.chatLimits };
}

const ELSEWHERE = "; /responses and /messages have no such limit";

export function checkMessageCount(count: number, { messagesMax }: ChatLimits): void {
  if (count <= messagesMax) return;
  throw invalid("messages", `must have at most ${messagesMax} items${ELSEWHERE}`);
}

/** `field`: the name under which the request has the output limit. */
export function checkOutputLimit(
  field: string,
  tokens: number,
  { maxTokensMax }: ChatLimits,
): void {
  if (tokens <= maxTokensMax) return;
  throw invalid(field, `must be an integer from 1 to ${maxTokensMax}${ELSEWHERE}`);
}
