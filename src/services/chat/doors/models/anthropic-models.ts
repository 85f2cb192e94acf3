// The lists of models in Anthropic's form, for clients that send `anthropic-version` (D-981).

import { invalid } from "../../../../http/body/checks.ts";
import type { Asking, ParameterInfo } from "../../../../http/endpoint-info.ts";
import type { ErrorForm } from "../../../../http/respond.ts";
import {
  named,
  nullable,
  shortText,
  type TSchema,
  Type,
  text,
  whole,
} from "../../../../http/schema.ts";
import { type ModelEntry, namesOf } from "../../models/catalogue.ts";
import { messagesError } from "../messages/messages-error.ts";
import { modelSvcJson } from "./model-json.ts";

const VERSION_HEADER = "anthropic-version";
const LIMIT_MAX = 1_000;

/** True if the client reads Anthropic's form. */
export function isAnthropics({ headers }: Asking): boolean {
  return headers.has(VERSION_HEADER);
}

/** The form of errors that the client reads; null for that of the surface. */
export function modelErrorForm(request: Asking): ErrorForm | null {
  return isAnthropics(request) ? messagesError : null;
}

/** A name that a request can have as `model`. */
export interface NamedModel {
  readonly id: string;
  readonly label: string;
  /** In Unix seconds. */
  readonly created: number;
  readonly svc: object;
}

/** A model under its id, and under each of its aliases that is a whole name. */
export function namedModels(model: ModelEntry): readonly NamedModel[] {
  const own = namedModel(model, model.id);
  return [own, ...namesOf(model).map((id) => ({ ...own, id }))];
}

/** A model under one of its names. */
export function namedModel(model: ModelEntry, id: string): NamedModel {
  const { label, created = 0 } = model;
  return { id, label, created, svc: modelSvcJson(model) };
}

export function anthropicEntry({ id, label, created, svc }: NamedModel): object {
  const created_at = new Date(created * 1_000).toISOString();
  return { type: "model", id, display_name: label, created_at, svc };
}

/** The part of a list that the query asks for. Throws an `invalid_parameter`. */
export function anthropicList(
  models: readonly NamedModel[],
  { url }: Pick<Request, "url">,
): object {
  const { searchParams: query } = new URL(url, "http://relative");
  const limit = limitIn(query);
  const after = placeIn(models, query, "after_id");
  const before = placeIn(models, query, "before_id");
  const between = models.slice(after === null ? 0 : after + 1, before ?? models.length);
  const isBackwards = before !== null && after === null;
  const page = isBackwards ? between.slice(-limit) : between.slice(0, limit);
  return {
    data: page.map(anthropicEntry),
    has_more: page.length < between.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function limitIn(query: URLSearchParams): number {
  const limit = query.get("limit");
  if (limit === null) return LIMIT_MAX;
  if (/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= LIMIT_MAX) {
    return Number(limit);
  }
  throw invalid("limit", `must be an integer from 1 to ${LIMIT_MAX}`);
}

function placeIn(
  models: readonly NamedModel[],
  query: URLSearchParams,
  field: "after_id" | "before_id",
): number | null {
  const id = query.get(field);
  if (id === null) return null;
  const place = models.findIndex((one) => one.id === id);
  if (place < 0) throw invalid(field, "must be the id of a model in the list");
  return place;
}

/** The schema of an entry, whose `svc` has this one. */
export function anthropicModel(name: string, svc: TSchema) {
  return named(name, {
    type: Type.Literal("model"),
    id: text({ description: "What a request sends as `model`: an id or an alias" }),
    display_name: text(),
    created_at: text({ description: "When the model came out; 1970 where that is not known" }),
    svc,
  });
}

export function anthropicListOf(name: string, entry: TSchema) {
  return named(name, {
    data: Type.Array(entry),
    has_more: Type.Boolean(),
    first_id: nullable(text()),
    last_id: nullable(text()),
  });
}

const headerParameter: ParameterInfo = {
  name: VERSION_HEADER,
  in: "header",
  required: false,
  description: "If it is sent, the reply has Anthropic's form",
  schema: shortText(100, { examples: ["2023-06-01"] }),
};

const pageParameter = (name: string, description: string): ParameterInfo => ({
  name,
  in: "query",
  required: false,
  description,
  schema: text({ examples: ["swift-1"] }),
});

/** The parameters of a model. */
export const anthropicParameters: readonly ParameterInfo[] = [headerParameter];

/** The parameters of a list, in Anthropic's form only. */
export const anthropicListParameters: readonly ParameterInfo[] = [
  headerParameter,
  {
    name: "limit",
    in: "query",
    required: false,
    description: "The most models, in Anthropic's form",
    schema: whole(1, LIMIT_MAX, { default: LIMIT_MAX }),
  },
  pageParameter("after_id", "The list goes on after this model, in Anthropic's form"),
  pageParameter("before_id", "The list ends before this model, in Anthropic's form"),
];
