// Extra parameters, which only some models accept: the configuration lists them for each model
// (`extra_parameters`).

import { copyJson } from "../../http/checks.ts";
import type { ModelEntry } from "./catalogue.ts";
import { OWN_PARAMETERS } from "./chat-body.ts";
import type { ChatRequest } from "./providers/provider.ts";

/** Parameters of a body, by name. */
export type Extras = NonNullable<ChatRequest["extras"]>;

type AcceptedExtras = Pick<ModelEntry, "extraParameters">;

/** The parameters of a checked body that Farebox does not know itself. */
export function extrasOf(body: Readonly<Record<string, unknown>>): Extras {
  const names = Object.keys(body).filter((name) => !OWN_PARAMETERS.has(name));
  return new Map(names.map((name) => [name, body[name]]));
}

/** The request with only those extra parameters that at least one of these models accepts. */
export function withAcceptedExtras(
  models: readonly AcceptedExtras[],
  request: ChatRequest,
  extras: Extras = request.extras ?? NO_EXTRAS,
): ChatRequest {
  if (extras.size === 0) return request;
  const accepted = [...extras].filter(([name]) => models.some((model) => accepts(model, name)));
  const { extras: _, ...withoutExtras } = request;
  if (accepted.length === 0) return withoutExtras;
  const copies = new Map(accepted.map(([name, value]) => [name, copyJson(value)]));
  return { ...withoutExtras, extras: copies };
}

/** The names of unknown fields that this model does not accept either. */
export function unsupportedFields(
  model: AcceptedExtras,
  unknown: readonly string[],
): readonly string[] {
  // Most calls have none.
  return unknown.length === 0 ? unknown : unknown.filter((name) => !accepts(model, name));
}

/** The extra parameters of most calls. */
export const NO_EXTRAS: Extras = new Map();

function accepts({ extraParameters = [] }: AcceptedExtras, name: string): boolean {
  return extraParameters.includes(name);
}
