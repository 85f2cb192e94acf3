// Writes one endpoint as an operation of an OpenAPI document.

import { SERVICES } from "../../core/access/services.ts";
import { ERRORS, type ErrorCode, OK, UNAUTHORIZED } from "../../core/errors.ts";
import type { Json } from "../../core/text/json.ts";
import { type DocumentedEndpoint, errorsOf } from "../endpoint-errors.ts";
import type { EndpointInfo, Example, ParameterInfo } from "../endpoint-info.ts";
import { IDEMPOTENCY_PARAMETER, isRepeatable, TERMS_PARAMETERS } from "../idempotency.ts";
import { RECEIPT_PARAMETER } from "../receipt-header.ts";
import { saysShouldRetry } from "../respond.ts";
import type { SchemaWriter } from "./openapi-schema.ts";

const RETRYING: ReadonlySet<number> = new Set([
  ERRORS.insufficient_credits.status,
  ERRORS.rate_limit_exceeded.status,
  ERRORS.service_unavailable.status,
  ERRORS.upstream_unreachable.status,
]);

const header = (name: string) => ({ $ref: `#/components/headers/${name}` });
const COMMON_HEADERS = Object.fromEntries(
  [
    "x-request-id",
    "x-svc-cost-usd",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
  ].map((name) => [name, header(name)]),
);

/** The header of a replayed answer. */
const REPLAYED = {
  "idempotent-replayed": "`true` where an earlier request with the same key was answered so",
};

/** The heading that an endpoint is listed under. */
export function tagOf({ surface, service }: DocumentedEndpoint): string {
  if (service !== null) return SERVICES[service].title;
  return surface === null ? "Program" : "Account";
}

export function operationOf(endpoint: DocumentedEndpoint, writer: SchemaWriter): Json {
  const { id, summary, description, access, surface } = endpoint;
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description: description.replaceAll("\n", " ") }),
    tags: [tagOf(endpoint)],
    security: access === "anybody" ? [] : [{ bearer: [] }, { "x-api-key": [] }],
    ...parametersOf(endpoint, writer),
    ...requestBodyOf(endpoint, writer),
    responses: {
      ...successesOf(endpoint, writer),
      ...(surface !== null && errorResponsesOf(endpoint)),
    },
  };
}

/** The body of an operation; an empty object for an operation without a body. */
export function requestBodyOf(
  { body, examples }: Pick<EndpointInfo, "body" | "examples">,
  writer: SchemaWriter,
): Json {
  if (body === undefined) return {};
  return {
    requestBody: {
      required: true,
      description: `At most ${body.bytesMax} bytes of JSON.`,
      content: {
        "application/json": {
          schema: writer.write(body.schema),
          examples: examplesOf(examples, ({ body: value }) => value),
        },
      },
    },
  };
}

function parametersOf(endpoint: DocumentedEndpoint, writer: SchemaWriter) {
  const { parameters = [], isBilled } = endpoint;
  const all = [
    ...parameters,
    ...(isBilled ? TERMS_PARAMETERS : []),
    ...(isRepeatable(endpoint) ? [IDEMPOTENCY_PARAMETER, RECEIPT_PARAMETER] : []),
  ];
  return all.length === 0 ? {} : { parameters: all.map((one) => parameterOf(one, writer)) };
}

function parameterOf(info: ParameterInfo, writer: SchemaWriter): Json {
  const { name, in: place, required, description, schema } = info;
  return { name, in: place, required, description, schema: writer.write(schema) };
}

function successesOf(endpoint: DocumentedEndpoint, writer: SchemaWriter): Json {
  const { reply, chunk, mediaType, accepted, examples, surface } = endpoint;
  const schema = writer.write(reply);
  const whole = examples.filter((example) => chunk === undefined || !Array.isArray(example.reply));
  const json = { schema, examples: examplesOf(whole, ({ reply: value }) => value) };
  const stream = examples.find((example) => chunk !== undefined && Array.isArray(example.reply));
  const headers = {
    ...(surface !== null && COMMON_HEADERS),
    ...(endpoint.replyHeaders !== undefined && plainHeaders(endpoint.replyHeaders)),
    ...(isRepeatable(endpoint) && plainHeaders(REPLAYED)),
  };
  const content = {
    "application/json": json,
    ...(chunk !== undefined && {
      "text/event-stream": {
        // A stream that breaks off ends with an error.
        schema: { anyOf: [writer.write(chunk), { $ref: "#/components/schemas/Error" }] },
        examples: chunksOf(stream?.reply as readonly unknown[]),
      },
    }),
    ...(mediaType !== undefined && {
      [mediaType]: { schema: { type: "string", contentMediaType: mediaType } },
    }),
  };
  return {
    [OK]: { description: "The answer", headers, content },
    ...(accepted !== undefined && {
      [accepted.status]: {
        description: accepted.description,
        headers,
        content: { "application/json": { schema } },
      },
    }),
  };
}

/** Each status once, with its error codes. */
function errorResponsesOf(endpoint: DocumentedEndpoint): Json {
  const byStatus = Map.groupBy(errorsOf(endpoint), (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [status, errorOf(codes, status)]),
  );
}

function errorOf(codes: readonly ErrorCode[], status: number): Json {
  return {
    description: codes.map((code) => `- \`${code}\`: ${ERRORS[code].when}`).join("\n"),
    headers: {
      ...COMMON_HEADERS,
      ...(RETRYING.has(status) && { "retry-after": header("retry-after") }),
      ...(saysShouldRetry(status) && { "x-should-retry": header("x-should-retry") }),
      ...(status === UNAUTHORIZED && { "www-authenticate": header("www-authenticate") }),
    },
    content: {
      "application/json": {
        schema: {
          allOf: [
            { $ref: "#/components/schemas/Error" },
            {
              type: "object",
              properties: { error: { type: "object", properties: { code: { enum: codes } } } },
            },
          ],
        },
      },
    },
  };
}

/** The examples of a body or reply, by name. */
export function examplesOf(
  examples: readonly Example[],
  pick: (example: Example) => unknown,
): Json {
  return Object.fromEntries(
    examples.map((example) => [
      exampleName(example.summary),
      { summary: example.summary, value: pick(example) },
    ]),
  );
}

/** The first chunk of a stream, and the last one, which contains the cost of the call. */
function chunksOf(chunks: readonly unknown[]): Json {
  return {
    first: { summary: "A chunk", value: chunks.at(0) },
    last: { summary: "The last chunk, before `[DONE]`", value: chunks.at(-1) },
  };
}

function plainHeaders(headers: Readonly<Record<string, string>>): Json {
  const entries = Object.entries(headers).map(
    ([name, description]) => [name, { description, schema: { type: "string" } }] as const,
  );
  return Object.fromEntries(entries);
}

function exampleName(summary: string): string {
  return summary
    .toLowerCase()
    .replace(/:.*/, "")
    .replaceAll(/[^a-z0-9]+/g, "_");
}
