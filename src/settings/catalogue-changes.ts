// Lists the changes between a configuration and the one before it, in lines for people. No line
// holds a key.

import type { Prices } from "../core/money/call-cost.ts";
import { rowWords } from "../core/money/price-fields.ts";
import { mediaWords } from "../services/chat/media/model-media.ts";
import {
  GUIDE_MODEL,
  type ModelEntry,
  type ProviderEntry,
} from "../services/chat/models/catalogue.ts";
import { type Catalogue, catalogueOf } from "./catalogue.ts";
import { CatalogueError, parseCatalogue } from "./catalogue-file.ts";
import type { Environment } from "./environment.ts";

const LINES_MAX = 100;

/** A configuration as it was stored. */
export interface GivenConfiguration {
  readonly version: number;
  readonly text: string;
}

/** The name of a stored version in messages. */
export function versionName(version: number): string {
  return `configuration version ${version}`;
}

/**
 * Returns a function that checks a text as the servers do, and lists its changes from `before`,
 * which is null for the first configuration. `fileName` names the text in refusals. The function
 * throws a CatalogueError that names the line and the field.
 */
export function configurationChanges(fileName: string, env: Environment) {
  return (before: GivenConfiguration | null, text: string): string[] =>
    changesIn(before, { text, fileName }, env);
}

function changesIn(
  before: GivenConfiguration | null,
  { text, fileName }: { readonly text: string; readonly fileName: string },
  env: Environment,
): string[] {
  const after = parseCatalogue(text, env, { fileName });
  const lines: string[] = [];
  let old = catalogueOf([], []);
  try {
    if (before !== null) {
      old = parseCatalogue(before.text, env, { fileName: versionName(before.version) });
    }
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    lines.push(`compared with nothing: ${error.message.replaceAll("\n", "; ")}`);
  }
  lines.push(...catalogueChanges(old, after));
  const more = lines.length - LINES_MAX;
  return more <= 0 ? lines : [...lines.slice(0, LINES_MAX), `and ${more} more`];
}

/** Lists the differences of two catalogues: models and servers first, then the other sections. */
function catalogueChanges(before: Catalogue, after: Catalogue): string[] {
  return [
    ...entryChanges(before.models, after.models, {
      of: "model",
      added: (model) => {
        const media = `${mediaText(model, ", ")}${imageText(model, ", ")}`;
        return `${priceText(model)}, ${routeText(model)}${media}`;
      },
      changed: modelChanges,
    }),
    ...entryChanges(before.providers, after.providers, {
      of: "provider",
      added: ({ baseUrl }) => baseUrl,
      changed: providerChanges,
    }),
    ...Object.entries(SECTIONS)
      .filter(([, settings]) => !Bun.deepEquals(settings(before), settings(after)))
      .map(([section]) => `${section}: changed`),
  ];
}

/** The other parts of a catalogue, as an operator configures them. */
const SECTIONS = {
  search: ({ search }) => search,
  maps: ({ maps }) => maps,
  brand: ({ brand }) => brand,
  runs: ({ runs }) => runs,
  burnRates: ({ burnRates }) => burnRates,
  // The rules of the built-in guide follow from whether other models exist.
  auto: ({ auto }) => [auto.policy, [...auto.models].filter(([id]) => id !== GUIDE_MODEL)],
  sessionHeaders: ({ sessionHeaders }) => sessionHeaders,
  chatLimits: ({ chatLimits }) => chatLimits,
} satisfies Record<
  Exclude<keyof Catalogue, "models" | "providers" | "takesMedia">,
  (catalogue: Catalogue) => unknown
>;

interface Words<Entry> {
  readonly of: string;
  readonly added: (entry: Entry) => string;
  readonly changed: (before: Entry, after: Entry) => readonly string[];
}

function entryChanges<Entry>(
  before: ReadonlyMap<string, Entry>,
  after: ReadonlyMap<string, Entry>,
  { of, added, changed }: Words<Entry>,
): string[] {
  const removed = [...before.keys()].filter((id) => !after.has(id));
  return [
    ...removed.map((id) => `${of} ${id}: removed`),
    ...[...after].flatMap(([id, entry]) => {
      const old = before.get(id);
      if (old === undefined) return [`${of} ${id}: added, ${added(entry)}`];
      if (Bun.deepEquals(old, entry)) return [];
      return changed(old, entry).map((line) => `${of} ${id}: ${line}`);
    }),
  ];
}

function providerChanges(before: ProviderEntry, after: ProviderEntry): string[] {
  const texts = [({ baseUrl }: ProviderEntry) => baseUrl, markupText].map(
    (toText) => [toText(before), toText(after)] as const,
  );
  const lines = texts.filter(([old, now]) => old !== now).map((pair) => pair.join(" -> "));
  return lines.length === 0 ? ["changed"] : lines;
}

function markupText({ markupPercent }: { readonly markupPercent?: string }): string {
  return markupPercent === undefined ? "no markup" : `markup ${markupPercent} %`;
}

function modelChanges(before: ModelEntry, after: ModelEntry): string[] {
  const toTexts = [priceText, markupText, routeText, mediaText, imageText];
  const texts = toTexts.map((toText) => [toText(before), toText(after)] as const);
  const lines = texts.filter(([old, now]) => old !== now).map((pair) => pair.join(" -> "));
  const { prices, media, imageTokens, markupPercent } = after;
  const { routes, spread } = routeText(before) === routeText(after) ? before : after;
  const known = { prices, routes, spread, media, imageTokens, markupPercent };
  const isRestSame = Bun.deepEquals(
    { ...before, ...known },
    { ...after, ...known, routes: after.routes },
  );
  return isRestSame ? lines : [...lines, "other settings changed"];
}

function priceText({ prices }: ModelEntry): string {
  return rowsText(prices);
}

/** Describes the media of a model; empty for an added model that takes only text. */
function mediaText({ media }: ModelEntry, before = ""): string {
  if (media === undefined) return before === "" ? "takes text" : "";
  return `${before}${mediaWords(media)}`;
}

/** Describes the images of a model's replies. */
function imageText({ imageTokens }: ModelEntry, before = ""): string {
  if (imageTokens === undefined) return before === "" ? "gives text" : "";
  return `${before}gives images (at most ${imageTokens} tokens each)`;
}

function rowsText({ rows }: Prices): string {
  return rows.map(rowWords).join("; ");
}

function routeText({ routes, spread }: ModelEntry): string {
  const names = routes.map(({ provider, model, buying, weight }) => {
    const paid = buying === undefined ? "" : ` at ${rowsText(buying)}`;
    const share = weight === undefined ? "" : ` with weight ${weight}`;
    return `${provider}/${model}${share}${paid}`;
  });
  const how = spread === undefined ? "" : ` (spread by ${spread})`;
  return `by ${names.join(", ")}${how}`;
}
