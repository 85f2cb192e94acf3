// Reads the configuration file of models, providers and services, and reports its faults by line.

import { type TSchema, Type } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import type { BurnTerms } from "../core/access/burn-rules.ts";
import type { Brand } from "../core/brand/brand.ts";
import { BRAND_SECTION, readBrand } from "../core/brand/brand-section.ts";
import { BURN_SECTION, readBurnRates } from "../core/configuration/burn-section.ts";
import {
  JsonSyntaxError,
  type LocatedJson,
  parseLocatedJson,
  readablePath,
} from "../core/configuration/located-json.ts";
import { readRuns } from "../core/configuration/runs-section.ts";
import type { Fault, Refuse } from "../core/configuration/section.ts";
import { StartError } from "../core/start-error.ts";
import { readChat } from "../services/chat/settings/catalogue-section.ts";
import { readMaps } from "../services/maps/catalogue-section.ts";
import { readSearch } from "../services/search/catalogue-section.ts";
import { apiKeysIn } from "./api-keys.ts";
import { type Catalogue, catalogueOf } from "./catalogue.ts";
import { CatalogueFile } from "./catalogue-document.ts";
import type { Environment } from "./environment.ts";

interface CatalogueFault {
  /** Null if the file could not even be read. */
  readonly line: number | null;
  readonly problem: string;
}

/** A file that is refused; the message names the line and the path of the fault. */
export class CatalogueError extends StartError {
  override readonly name = "CatalogueError";

  /** The line of the first fault. */
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
  const refuse = refusalIn(json, fileName);
  if (!Value.Check(CatalogueFile, json.value)) return refuseForm(CatalogueFile, json, refuse);
  const file = json.value;
  const keys = apiKeysIn(env);
  const context = { keys, json, refuse };
  const { models, providers, ...chat } = readChat(file, context);
  const search = readSearch(file.search, context);
  const maps = readMaps(file.maps, context);
  const brand = readBrand(file.brand, refuse);
  const runs = readRuns(file.runs, chat.sessionHeaders, refuse);
  const burnRates = readBurnRates(file.burn_rates, refuse);
  const [first, ...others] = keys.faults.map((fault) => located(json, fault));
  if (first !== undefined) throw new CatalogueError(fileName, first, others);
  return catalogueOf(models, providers, { search, maps, brand, runs, burnRates, ...chat });
}

const SharedSections = Type.Object({ ...BRAND_SECTION, ...BURN_SECTION });

/** The sections of the file that processes without models need too. */
export interface SharedSettings {
  readonly brand: Brand;
  readonly burnRates: readonly BurnTerms[];
}

/**
 * Reads the sections of a file for a process that needs no models, and so no keys of providers;
 * throws a CatalogueError.
 */
export function parseShared(text: string, fileName: string): SharedSettings {
  const json = readJson(text, fileName);
  const refuse = refusalIn(json, fileName);
  if (!Value.Check(SharedSections, json.value)) return refuseForm(SharedSections, json, refuse);
  const { brand, burn_rates: burnRates } = json.value;
  return { brand: readBrand(brand, refuse), burnRates: readBurnRates(burnRates, refuse) };
}

function located(json: LocatedJson, { pointer, problem }: Fault) {
  const line = json.lineOf(pointer);
  return { line, problem: `${readablePath(pointer) || "the file"} ${problem}` };
}

function refusalIn(json: LocatedJson, fileName: string): Refuse {
  return (pointer, problem) => {
    throw new CatalogueError(fileName, located(json, { pointer, problem }));
  };
}

function refuseForm(schema: TSchema, { value }: LocatedJson, refuse: Refuse): never {
  const error = tellingError(schema, value);
  return refuse(error?.path ?? "", error === undefined ? "is not right" : problemOf(error));
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
function tellingError(schema: TSchema, value: unknown): ValueError | undefined {
  const errors = Value.Errors(schema, value);
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
