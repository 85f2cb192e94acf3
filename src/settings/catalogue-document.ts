// Defines the configuration file as a whole: which sections each service has in it.

import { type TProperties, Type } from "@sinclair/typebox";
import type { ServiceName } from "../core/access/services.ts";
import { Auto, Maps, Model, Provider, Search } from "./catalogue-schema.ts";

const closed = { additionalProperties: false };

/** The sections of each service in the file. Mail is configured by the environment. */
const SECTIONS = {
  chat: {
    providers: Type.Record(
      Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }),
      Provider,
      {
        ...closed,
        description: "Upstream servers by name",
      },
    ),
    models: Type.Array(Model, { maxItems: 2_000, errorMessage: "must be a list of models" }),
    auto: Type.Optional(Auto),
  },
  search: { search: Type.Optional(Search) },
  maps: { maps: Type.Optional(Maps) },
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
  },
  { ...closed, title: "Farebox models and providers" },
);

/** Returns the JSON schema of the file: docs/farebox.config.schema.json. */
export function catalogueJsonSchema(): unknown {
  const schema: object = JSON.parse(JSON.stringify(CatalogueFile));
  return { $schema: "http://json-schema.org/draft-07/schema#", ...schema };
}
