// Parameters that only some models take, as the configuration lists them (`extra_parameters`).

import { copyJson } from "../../http/checks.ts";
import type { ModelEntry } from "./catalogue.ts";
import { OWN_PARAMETERS } from "./chat-body.ts";
import type { ChatRequest } from "./providers/provider.ts";

/** By name, as the body has them. */
export type Extras = NonNullable<ChatRequest["extras"]>;

type Takes = Pick<ModelEntry, "extraParameters">;

/** The parameters of a checked body that are not everybody's. */
export function extrasOf(body: Readonly<Record<string, unknown>>): Extras {
  const names = Object.keys(body).filter((name) => !OWN_PARAMETERS.has(name));
  return new Map(names.map((name) => [name, body[name]]));
}

/** The request with the parameters that at least one of these models takes, and no other. */
export function withExtrasOf(
  models: readonly Takes[],
  request: ChatRequest,
  extras: Extras = request.extras ?? NONE,
): ChatRequest {
  if (extras.size === 0) return request;
  const taken = [...extras].filter(([name]) => models.some((model) => takes(model, name)));
  const { extras: _others, ...rest } = request;
  if (taken.length === 0) return rest;
  return { ...rest, extras: new Map(taken.map(([name, value]) => [name, copyJson(value)])) };
}

/** Of the names of unknown fields, those that this model does not take either. */
export function ignoredBy(model: Takes, unknown: readonly string[]): readonly string[] {
  return unknown.filter((name) => !takes(model, name));
}

const NONE: Extras = new Map();

function takes({ extraParameters = [] }: Takes, name: string): boolean {
  return extraParameters.includes(name);
}
