// Writes the parts that all our OpenAPI 3.1 documents have.

import type { Json } from "../../core/text/json.ts";
import type { EndpointInfo } from "../endpoint-info.ts";
import { SchemaWriter } from "./openapi-schema.ts";

/** The title, description and tags of a document. */
export interface DocumentHead {
  /** Without the name of the service. */
  readonly title: string;
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}

interface DocumentParts<One> {
  readonly head: DocumentHead;
  /** The name of the service. */
  readonly name: string;
  /** The version of the program. */
  readonly version: string;
  /** The schema of a refusal. */
  readonly error: Json;
  /** Components besides schemas. */
  readonly components: Json;
  readonly operationOf: (endpoint: One, writer: SchemaWriter) => Json;
  /** Writes the requests that the service sends to its customers; default: there are none. */
  readonly webhooksOf?: (writer: SchemaWriter) => Json;
}

/** The document of these endpoints. */
export function writeDocument<One extends Pick<EndpointInfo, "method" | "path">>(
  endpoints: readonly One[],
  {
    head: { title, description, tags },
    name,
    version,
    error,
    components,
    operationOf,
    webhooksOf,
  }: DocumentParts<One>,
): Json {
  const writer = new SchemaWriter();
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const paths = [...byPath].map(([path, all]) => {
    const operations = all.map((one) => [one.method.toLowerCase(), operationOf(one, writer)]);
    return [path, Object.fromEntries(operations)] as const;
  });
  const webhooks = webhooksOf?.(writer);
  return {
    openapi: "3.1.0",
    info: {
      title: `${name} ${title}`,
      version,
      description,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This installation" }],
    tags: [...tags],
    paths: Object.fromEntries(paths),
    ...(webhooks !== undefined && { webhooks }),
    components: { schemas: { Error: error, ...writer.components }, ...components },
  };
}

/** The schema of a refusal with these members. */
export function refusalSchema(properties: Json): Json {
  return {
    type: "object",
    required: ["error"],
    properties: {
      error: { type: "object", required: Object.keys(properties), properties },
    },
  };
}
