// Reads the configuration file of models, providers and services, and reports its faults by line.

import type { Static } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { StartError } from "../core/start-error.ts";
import { COSTLY_PARAMETERS, OWN_PARAMETERS } from "../services/chat/doors/completions/chat-body.ts";
import {
  AUTO_TERMS,
  type AutoRules,
  type AutoTerms,
  type ModelEntry,
  RESERVED_MODELS,
  servesChat,
} from "../services/chat/models/catalogue.ts";
import { type Catalogue, catalogueOf } from "./catalogue.ts";
import { CatalogueFile } from "./catalogue-document.ts";
import type { Auto, Model } from "./catalogue-schema.ts";
import { apiKeysIn, type Fault, type Refuse } from "./catalogue-values.ts";
import type { Environment } from "./environment.ts";
import {
  JsonSyntaxError,
  type LocatedJson,
  parseLocatedJson,
  pointerTo,
  readablePath,
} from "./located-json.ts";
import { toMapsConfig } from "./maps-file.ts";
import { toPrices } from "./price-file.ts";
import { toProvider } from "./provider-file.ts";
import { toSearchOffer } from "./search-catalogue-file.ts";

interface CatalogueFault {
  /** Null if the file could not even be read. */
  readonly line: number | null;
  readonly problem: string;
}

/** A file that is refused; the message names the line and the path of what is wrong. */
export class CatalogueError extends StartError {
  override readonly name = "CatalogueError";

  /** Of the first fault. */
  readonly line: number | null;

  constructor(fileName: string, first: CatalogueFault, others: readonly CatalogueFault[] = []) {
    const lines = [first, ...others].map(({ line, problem }) =>
      line === null ? `${fileName}: ${problem}` : atLine(fileName, line, problem),
    );
    super(lines.join("\n"));
    this.line = first.line;
  }
}

function atLine(fileName: string, line: number, problem: string): string {
  return `${fileName} line ${line}: ${problem}`;
}

export interface CatalogueFileOptions {
  /** The name of the file in refusals. */
  readonly fileName?: string;
}

/** Parses a file into a catalogue, with the built-in guide; throws a CatalogueError. */
export function parseCatalogue(
  text: string,
  env: Environment,
  { fileName = "farebox.config.json" }: CatalogueFileOptions = {},
): Catalogue {
  // Postgres, which keeps the text for all processes, does not store NUL; a comment could have one.
  const nul = text.indexOf("\0");
  if (nul >= 0) {
    const line = text.slice(0, nul).split("\n").length;
    throw new CatalogueError(fileName, { line, problem: "a NUL character is not allowed here" });
  }
  const json = readJson(text, fileName);
  const located = ({ pointer, problem }: Fault) => ({
    line: json.lineOf(pointer),
    problem: `${readablePath(pointer) || "the file"} ${problem}`,
  });
  const refuse: Refuse = (pointer, wrong) => {
    const { line, problem } = located({ pointer, problem: wrong });
    throw new CatalogueError(fileName, { line, problem });
  };
  if (!Value.Check(CatalogueFile, json.value)) {
    const error = tellingError(json.value);
    return refuse(error?.path ?? "", error === undefined ? "is not right" : problemOf(error));
  }
  const file = json.value;
  const keys = apiKeysIn(env);
  const providers = Object.entries(file.providers).map(([key, one]) =>
    toProvider(key, one, { keys, refuse }),
  );
  const known = new Set(providers.map((one) => one.name));
  const ids = new Set<string>(RESERVED_MODELS);
  const models = file.models.map((model, index) => {
    const pointer = pointerTo("/models", index);
    if (RESERVED_MODELS.includes(model.id)) {
      return refuse(`${pointer}/id`, `'${model.id}' is reserved for Farebox itself`);
    }
    if (ids.has(model.id)) return refuse(`${pointer}/id`, `'${model.id}' stands twice`);
    ids.add(model.id);
    return toModel(model, { pointer, known, json, refuse });
  });
  const search = toSearchOffer(file.search, { keys, json, refuse });
  const maps = toMapsConfig(file.maps, { keys, json, refuse });
  const auto = toAutoRules(file.auto ?? {}, { models, refuse });
  const [first, ...others] = keys.faults.map(located);
  if (first !== undefined) throw new CatalogueError(fileName, first, others);
  return catalogueOf(models, providers, { search, maps, auto });
}

function readJson(text: string, fileName: string): LocatedJson {
  try {
    return parseLocatedJson(text.replace(/^\ufeff/, ""));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { line } = error;
    throw new CatalogueError(fileName, { line, problem: `it is not JSON: ${error.message}` });
  }
}

/**
 * Returns the most telling error: if a field is missing and another field is unknown, that field is
 * likely misspelt.
 */
function tellingError(value: unknown): ValueError | undefined {
  const errors = Value.Errors(CatalogueFile, value);
  const first = errors.First();
  if (first?.type !== ValueErrorType.ObjectRequiredProperty) return first;
  for (const error of errors) {
    const isBeside = parentOf(error.path) === parentOf(first.path);
    if (error.type === ValueErrorType.ObjectAdditionalProperties && isBeside) return error;
  }
  return first;
}

function parentOf(pointer: string): string {
  return pointer.slice(0, pointer.lastIndexOf("/"));
}

function problemOf(error: ValueError): string {
  if (error.type === ValueErrorType.ObjectRequiredProperty) return "is missing";
  if (error.type === ValueErrorType.ObjectAdditionalProperties) return "is not allowed here";
  const own: unknown = error.schema.errorMessage;
  return typeof own === "string" ? own : `is wrong: ${error.message}`;
}

interface ModelContext {
  readonly pointer: string;
  readonly known: ReadonlySet<string>;
  readonly json: LocatedJson;
  readonly refuse: Refuse;
}

function toModel(file: Static<typeof Model>, context: ModelContext): ModelEntry {
  const { pointer, known, refuse } = context;
  file.routes.forEach((route, index) => {
    if (known.has(route.provider)) return;
    refuse(`${pointer}/routes/${index}/provider`, `'${route.provider}' is not a provider`);
  });
  file.extra_parameters?.forEach((name, index) => {
    const at = `${pointer}/extra_parameters/${index}`;
    if (OWN_PARAMETERS.has(name)) refuse(at, `'${name}' is read by Farebox itself`);
    if (COSTLY_PARAMETERS.has(name)) refuse(at, `'${name}' could cost more than is reserved`);
  });
  const prices =
    toPrices(
      {
        bands: file.pricing,
        bandsAt: `${pointer}/pricing`,
        rows: file.prices,
        rowsAt: `${pointer}/prices`,
      },
      context,
    ) ?? refuse(`${pointer}/pricing`, "is missing, and so is prices");
  const createdMs = Date.parse(file.created ?? "1970-01-01");
  if (Number.isNaN(createdMs)) refuse(`${pointer}/created`, "must be a date such as 2026-05-01");
  return {
    id: file.id,
    created: createdMs / 1000,
    label: file.label,
    family: file.family,
    ownedBy: file.owned_by,
    prices,
    contextTokens: file.context_length,
    freeCreditEligible: file.free_credit_eligible ?? false,
    routes: file.routes.map(({ provider, model, ...route }, index) => {
      const at = `${pointer}/routes/${index}`;
      const { buying: bands, buying_prices: rows } = route;
      const where = { bandsAt: `${at}/buying`, rowsAt: `${at}/buying_prices` };
      const buying = toPrices({ bands, rows, ...where }, context);
      return buying === undefined ? { provider, model } : { provider, model, buying };
    }),
    showsReasoning: file.reasoning === "show",
    ...(file.extra_parameters !== undefined && { extraParameters: file.extra_parameters }),
    ...(file.serves !== undefined && { serves: file.serves }),
  };
}

function toAutoRules(
  file: Static<typeof Auto>,
  { models, refuse }: { readonly models: readonly ModelEntry[]; readonly refuse: Refuse },
): AutoRules {
  const byId = new Map(models.map((model) => [model.id, model]));
  const rules = Object.entries(file.models ?? {}).map(([id, said]): [string, AutoTerms] => {
    const pointer = pointerTo("/auto/models", id);
    const model = byId.get(id);
    if (model === undefined) return refuse(pointer, "is no model of this file");
    if (!servesChat(model)) refuse(pointer, "does not serve chat");
    const terms = {
      quality: said.quality ?? AUTO_TERMS.quality,
      tools: said.tools ?? AUTO_TERMS.tools,
      promptTokensMin: said.prompt_tokens_min ?? AUTO_TERMS.promptTokensMin,
      promptTokensMax: said.prompt_tokens_max ?? AUTO_TERMS.promptTokensMax,
      excluded: said.excluded ?? AUTO_TERMS.excluded,
    };
    if (terms.promptTokensMin > terms.promptTokensMax) {
      refuse(`${pointer}/prompt_tokens_max`, "must not be less than prompt_tokens_min");
    }
    return [id, terms];
  });
  return { policy: file.policy ?? "balanced", models: new Map(rules) };
}
