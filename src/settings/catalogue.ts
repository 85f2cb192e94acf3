// Defines the catalogue: everything the gateway sells at one moment, by the configuration file, and
// under which name.

import type { BurnTerms } from "../core/access/burn-rules.ts";
import { DEFAULT_RUN_RULES, type RunRules } from "../core/access/runs.ts";
import { type Brand, DEFAULT_BRAND } from "../core/brand/brand.ts";
import {
  type ChatCatalogue,
  type ChatTerms,
  chatCatalogueOf,
  type ModelEntry,
  type ProviderEntry,
} from "../services/chat/models/catalogue.ts";
import { DEFAULT_MAPS, type MapsConfig } from "../services/maps/servers.ts";
import { EMBEDDED_SEARCH, type SearchOffer } from "../services/search/search-catalogue.ts";

export interface Catalogue extends ChatCatalogue {
  readonly search: SearchOffer;
  readonly maps: MapsConfig;
  readonly brand: Brand;
  readonly runs: RunRules;
  /** The burn-rate rules for every key. */
  readonly burnRates: readonly BurnTerms[];
}

/** The settings besides chat's models; all have defaults. */
export interface OtherServices extends Partial<ChatTerms> {
  readonly search?: SearchOffer;
  readonly maps?: MapsConfig;
  readonly brand?: Brand;
  readonly runs?: RunRules;
  readonly burnRates?: readonly BurnTerms[];
}

/** A catalogue of these models, providers, services and brand, with the built-in guide. */
export function catalogueOf(
  models: readonly ModelEntry[],
  providers: readonly ProviderEntry[],
  {
    search = EMBEDDED_SEARCH,
    maps = DEFAULT_MAPS,
    brand = DEFAULT_BRAND,
    runs = DEFAULT_RUN_RULES,
    burnRates = [],
    ...chat
  }: OtherServices = {},
): Catalogue {
  return { ...chatCatalogueOf(models, providers, chat), search, maps, brand, runs, burnRates };
}

/** Adds the defaults of everything else to a catalogue of models. */
export function withDefaults(chat: ChatCatalogue): Catalogue {
  const others = { search: EMBEDDED_SEARCH, maps: DEFAULT_MAPS, brand: DEFAULT_BRAND };
  return { ...chat, ...others, runs: DEFAULT_RUN_RULES, burnRates: [] };
}
