// Names the models whose longest reply is not configured.

import { CHAT } from "../core/access/limits.ts";
import { GUIDE_MODEL, type ModelEntry, servesChat } from "../services/chat/models/catalogue.ts";

/** A warning names no more models. */
const NAMED_MAX = 10;

/**
 * A warning that names the models without `max_output_tokens`, or null if each has it: at Responses
 * a call without a limit of its own gets the usual default of chat then, which cuts the edits of
 * agents (D-689).
 */
export function missingLimits(models: Iterable<ModelEntry>): string | null {
  const missing = [...models].filter(
    (model) => model.maxOutputTokens === undefined && servesChat(model) && model.id !== GUIDE_MODEL,
  );
  if (missing.length === 0) return null;
  const named = missing.slice(0, NAMED_MAX).map(({ id }) => id);
  const more = missing.length - named.length;
  const names = `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return (
    `Without max_output_tokens: ${names}. A call of /v1/responses that sets no limit gets ` +
    `${CHAT.maxTokensDefault} tokens there, which cuts the edits of agents`
  );
}
