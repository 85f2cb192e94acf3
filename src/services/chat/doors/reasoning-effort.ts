// The effort of thinking that a door asks of servers of another form.

import type { Models } from "../models/auto-router.ts";
import type { ChatRequest } from "../protocols/provider.ts";

/**
 * The request with an effort of reasoning for servers of another form, if the models are known to
 * reason: others refuse the parameter, and agents ask every model to think (D-705). `names`: the
 * fields of the door that the effort stands for, which then are not lost.
 */
export function withEffort(
  request: ChatRequest,
  models: Models,
  { effort, names }: { readonly effort: string | null; readonly names: readonly string[] },
): ChatRequest {
  const { own } = request;
  if (own === undefined || effort === null) return request;
  if (!models.every(({ showsReasoning = false }) => showsReasoning)) return request;
  const lost = own.lost.filter((name) => !names.includes(name));
  const parameters = { ...request.parameters, reasoning_effort: effort };
  return { ...request, parameters, own: { ...own, lost } };
}
