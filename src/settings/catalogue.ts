// Everything the gateway sells at one moment, as the configuration file says it.

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

/** The services besides chat's models; what is left out is served without configuration. */
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

/** What is sold where no configuration file says anything of search and maps. */
export function withDefaults(chat: ChatCatalogue): Catalogue {
  return { ...chat, search: EMBEDDED_SEARCH, maps: DEFAULT_MAPS };
}
