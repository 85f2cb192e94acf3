// Defines the configuration file as a whole: which sections each service has in it.

import { type TProperties, Type } from "@sinclair/typebox";
import type { ServiceName } from "../core/access/services.ts";
import { BRAND_SECTION } from "../core/brand/brand-section.ts";
import { BURN_SECTION } from "../core/configuration/burn-section.ts";
import { closed } from "../core/configuration/fields.ts";
import { RUNS_SECTION } from "../core/configuration/runs-section.ts";
import { CHAT_SECTION } from "../services/chat/settings/catalogue-section.ts";
import { MAPS_SECTION } from "../services/maps/catalogue-section.ts";
import { SEARCH_SECTION } from "../services/search/catalogue-section.ts";

/**
 * The section of each service, whose schema, decoder and defaults stand in the service's folder:
 * one schema of all would split each service in two. Mail is configured by the environment.
 */
const SECTIONS = {
  chat: CHAT_SECTION,
  search: SEARCH_SECTION,
  maps: MAPS_SECTION,
  mail: {},
} satisfies Record<ServiceName, TProperties>;

/** The whole file. */
export const CatalogueFile = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    ...SECTIONS.chat,
    ...SECTIONS.search,
    ...SECTIONS.maps,
    ...SECTIONS.mail,
    ...BRAND_SECTION,
    ...RUNS_SECTION,
    ...BURN_SECTION,
  },
  { ...closed, title: "Farebox models, providers and brand" },
);

/** Returns the JSON schema of the file: docs/farebox.config.schema.json. */
export function catalogueJsonSchema(): unknown {
  const schema: object = JSON.parse(JSON.stringify(CatalogueFile));
  return { $schema: "http://json-schema.org/draft-07/schema#", ...schema };
}
