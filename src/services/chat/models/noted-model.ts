// Notes the model that a body names, for the log and the receipt of its call.

import type { Call } from "../../../calls/call.ts";
import { AUTO_MODEL, aliasNamed, type ChatCatalogue, type ModelEntry } from "./catalogue.ts";

/** The parts of an endpoint's context that the log is written from. */
interface NotingContext {
  readonly call: Pick<Call, "askedModel">;
  model: string | null;
}

/**
 * Returns the model of a name, if there is one, and notes both the model and the name. The log must
 * contain only names that exist, never arbitrary text of a caller: of an alias that stands for many
 * names it has the alias (D-717).
 */
export function noteModel(
  context: NotingContext,
  catalogue: Pick<ChatCatalogue, "models">,
  name: string,
): ModelEntry | undefined {
  const byId = catalogue.models.get(name);
  const byAlias = byId === undefined ? aliasNamed(catalogue, name) : undefined;
  const model = byId ?? byAlias?.model;
  context.model = model?.id ?? null;
  context.call.askedModel = name === AUTO_MODEL ? AUTO_MODEL : byAlias?.alias;
  return model;
}
