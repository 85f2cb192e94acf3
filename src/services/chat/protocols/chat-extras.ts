// Removes from a request the fields that its model does not accept: extra parameters, which the
// configuration lists for each model (`extra_parameters`), and earlier reasoning (D-705).

import { copyJson } from "../../../http/body/checks.ts";
import { OWN_PARAMETERS } from "../doors/completions/chat-body.ts";
import type { ModelEntry } from "../models/catalogue.ts";
import type { ChatMessage, ChatRequest } from "./provider.ts";

/** Parameters of a body, by name. */
export type Extras = NonNullable<ChatRequest["extras"]>;

type AcceptedFields = Pick<ModelEntry, "extraParameters" | "showsReasoning">;

/** The reasoning of earlier replies. Models that show their reasoning may need it again. */
export const REASONING_FIELD = "messages[].reasoning_content";

/** The parameters of a checked body that Farebox does not know itself. */
export function extrasOf(body: Readonly<Record<string, unknown>>): Extras {
  const names = Object.keys(body).filter((name) => !OWN_PARAMETERS.has(name));
  return new Map(names.map((name) => [name, body[name]]));
}

/**
 * The request with only the parts that at least one of these models accepts: extra parameters, and
 * the reasoning of earlier replies.
 */
export function acceptedRequest(
  models: readonly AcceptedFields[],
  request: ChatRequest,
  extras: Extras = request.extras ?? NO_EXTRAS,
): ChatRequest {
  const readable = models.some(showsReasoning) ? request : withoutReasoning(request);
  return extras.size === 0 ? readable : withAccepted(models, readable, extras);
}

function withAccepted(
  models: readonly AcceptedFields[],
  request: ChatRequest,
  extras: Extras,
): ChatRequest {
  const accepted = [...extras].filter(([name]) => models.some((model) => accepts(model, name)));
  const { extras: _, ...withoutExtras } = request;
  if (accepted.length === 0) return withoutExtras;
  const copies = new Map(accepted.map(([name, value]) => [name, copyJson(value)]));
  return { ...withoutExtras, extras: copies };
}

function withoutReasoning(request: ChatRequest): ChatRequest {
  if (!request.messages.some(hasReasoning)) return request;
  const messages = request.messages.map((message) => {
    const { reasoning_content: _, ...others } = message;
    return others;
  });
  return { ...request, messages };
}

function hasReasoning({ reasoning_content }: ChatMessage): boolean {
  return reasoning_content !== undefined;
}

/** The names of unknown fields that this model does not accept either. */
export function unsupportedFields(
  model: AcceptedFields,
  unknown: readonly string[],
): readonly string[] {
  // Most calls have none.
  return unknown.length === 0 ? unknown : unknown.filter((name) => !accepts(model, name));
}

/** The extra parameters of most calls. */
export const NO_EXTRAS: Extras = new Map();

function accepts(model: AcceptedFields, name: string): boolean {
  if (name === REASONING_FIELD) return showsReasoning(model);
  return model.extraParameters?.includes(name) ?? false;
}

function showsReasoning(model: AcceptedFields): boolean {
  return model.showsReasoning ?? false;
}
