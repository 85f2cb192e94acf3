// Builds the OpenAPI 3.1 document of a surface from its endpoints.

import { KEY_PREFIXES } from "../../core/access/keys.ts";
import { SERVICES, type Surface } from "../../core/access/services.ts";
import { ERRORS } from "../../core/errors.ts";
import type { Json } from "../../core/text/json.ts";
import type { DocumentedEndpoint } from "../endpoint-errors.ts";
import { refusalSchema, writeDocument } from "./openapi-document.ts";
import { operationOf, tagOf } from "./openapi-operation.ts";
import { WEBHOOK_TAG, webhooksOf } from "./openapi-webhooks.ts";

export interface OpenApiOptions {
  readonly surface: Surface;
  /** The name of the service. */
  readonly name: string;
  readonly endpoints: readonly DocumentedEndpoint[];
  /** The version of the program. */
  readonly version: string;
}

const TITLES: Readonly<Record<Surface, string>> = {
  gateway: "Gateway API",
  application: "Application API",
};

const DESCRIPTIONS: Readonly<Record<Surface, string>> = {
  gateway: `Chat, web search, maps and mail behind one key and one prepaid balance. Each call
reserves the most that it can cost and is then settled to its exact cost, which \`svc.cost_usd\`
and the header \`x-svc-cost-usd\` say.`,
  application: `Chat for applications: OpenAI's format, with a model that the service chooses
unless the request names one. Calls draw on the credits of the application account.`,
};

export function openApi({ surface, name, endpoints, version }: OpenApiOptions): Json {
  const tags = new Map(endpoints.map((endpoint) => [tagOf(endpoint), tagDescription(endpoint)]));
  return writeDocument(endpoints, {
    head: {
      title: TITLES[surface],
      description: DESCRIPTIONS[surface].replaceAll("\n", " "),
      tags: [...[...tags].map(([name, description]) => ({ name, description })), WEBHOOK_TAG],
    },
    name,
    version,
    error: errorSchema(surface),
    components: { headers: HEADERS, securitySchemes: securityOf(surface) },
    operationOf,
    webhooksOf,
  });
}

function tagDescription({ service, surface }: DocumentedEndpoint): string {
  if (service !== null) return `${SERVICES[service].about} Scope \`${SERVICES[service].scope}\`.`;
  return surface === null ? "For load balancers; no key." : "What a key may know of its account.";
}

function securityOf(surface: Surface): Json {
  const prefix = KEY_PREFIXES[surface];
  const description = `An API key: \`${prefix}…\`. Keep it on a server, never in a browser.`;
  return {
    bearer: { type: "http", scheme: "bearer", description },
    "x-api-key": { type: "apiKey", in: "header", name: "x-api-key", description },
  };
}

function errorSchema(surface: Surface): Json {
  const param = {
    type: ["string", "null"],
    description: "The field at fault, such as `messages[2].content`",
  };
  return refusalSchema({
    type: { type: "string", enum: [...new Set(Object.values(ERRORS).map(({ type }) => type))] },
    code: { type: "string" },
    message: { type: "string", description: "For people: it can change" },
    ...(surface === "application" && { param }),
  });
}

const HEADERS: Json = {
  "x-request-id": {
    description: "The id of the request, also in `svc`",
    schema: { type: "string" },
  },
  "x-svc-cost-usd": {
    description: "What was charged, in USD; `0` for a stream, whose last frame has it",
    schema: { type: "string" },
  },
  "x-ratelimit-limit-requests": {
    description: "Requests that the key may send in a minute",
    schema: { type: "integer" },
  },
  "x-ratelimit-remaining-requests": {
    description: "Requests that are left of them",
    schema: { type: "integer" },
  },
  "x-ratelimit-reset-requests": {
    description: "Seconds until all of them are there again, with an `s` after the number",
    schema: { type: "string", pattern: "^\\d+s$" },
  },
  "retry-after": {
    description: "Seconds to wait; sent where waiting helps",
    schema: { type: "integer" },
  },
  "x-should-retry": {
    description: "`false` where no retry changes the answer; `true` only beside `retry-after`",
    schema: { enum: ["true", "false"] },
  },
  "www-authenticate": {
    description: "How a key is sent",
    schema: { const: "Bearer" },
  },
};
