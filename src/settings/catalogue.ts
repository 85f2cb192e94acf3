// Defines the catalogue: everything the gateway sells at one moment, by the configuration file.

import {
  type AutoRules,
  type ChatCatalogue,
  chatCatalogueOf,
  type ModelEntry,
  type ProviderEntry,
} from "../services/chat/models/catalogue.ts";
import { DEFAULT_MAPS, type MapsConfig } from "../services/maps/servers.ts";
import { EMBEDDED_SEARCH, type SearchOffer } from "../services/search/search-catalogue.ts";

export interface Catalogue extends ChatCatalogue {
  readonly search: SearchOffer;
  readonly maps: MapsConfig;
}

/** The services besides chat's models; an omitted service runs without configuration. */
export interface OtherServices {
  readonly search?: SearchOffer;
  readonly maps?: MapsConfig;
  readonly auto?: AutoRules;
}

/** A catalogue of these models, providers and services, with the built-in guide. */
export function catalogueOf(
  models: readonly ModelEntry[],
  providers: readonly ProviderEntry[],
  { search = EMBEDDED_SEARCH, maps = DEFAULT_MAPS, auto }: OtherServices = {},
): Catalogue {
  return { ...chatCatalogueOf(models, providers, auto), search, maps };
}

/** Adds the default offers of search and maps to a catalogue of models. */
export function withDefaults(chat: ChatCatalogue): Catalogue {
  return { ...chat, search: EMBEDDED_SEARCH, maps: DEFAULT_MAPS };
}
