// Builds the OpenAPI 3.1 document of the console's own API, which the dashboard uses.

import project from "../../../package.json";
import { CONSOLE_ERRORS, type ConsoleErrorCode } from "../../core/console-errors.ts";
import { ERRORS, OK } from "../../core/errors.ts";
import type { Json } from "../../core/text/json.ts";
import type { ConsoleEndpoint } from "../console/console-endpoint.ts";
import { plainEndpoint } from "../endpoint.ts";
import type { Endpoint } from "../endpoint-info.ts";
import { publicAnswer, publicText } from "../public-page.ts";
import { type TSchema, Type } from "../schema.ts";
import { keptFor, type NamedDeps, nameIn } from "./named-documents.ts";
import { type DocumentHead, refusalSchema, writeDocument } from "./openapi-document.ts";
import { examplesOf, requestBodyOf } from "./openapi-operation.ts";
import type { SchemaWriter } from "./openapi-schema.ts";

type Documented = Omit<ConsoleEndpoint<never>, "answer">;

const PATH = "/console/api/openapi.json";
const HEADERS = { "content-type": "application/json" };
interface Refusal {
  readonly code: string;
  readonly status: number;
  readonly when: string;
}

const BODY_ERRORS = ["invalid_json", "invalid_parameter", "body_too_large"] as const;
const ERROR = { $ref: "#/components/schemas/Error" };

/** The endpoint that serves the document of these endpoints. */
export function consoleDocument<Deps>(
  endpoints: readonly ConsoleEndpoint<Deps>[],
): Endpoint<NamedDeps> {
  const textOf = keptFor((name: string) =>
    publicText(JSON.stringify(consoleOpenApi(endpoints, { name }))),
  );
  return plainEndpoint({
    id: "consoleDocument",
    method: "GET",
    path: PATH,
    summary: "The OpenAPI 3.1 document of the console's own API",
    reply: Type.Unknown(),
    examples: [],
    run: (deps: NamedDeps, { request }) => publicAnswer(textOf(nameIn(deps)), request, HEADERS),
  });
}

const CONSOLE_HEAD: DocumentHead = {
  title: "Console API",
  description:
    "What the dashboard asks. It is for people with a session, not for programs with a key; " +
    "what changes something must come from a page of the console. Amounts are decimal text, " +
    "exact to the nano-dollar.",
  tags: [
    { name: "Signing in", description: "Open to anybody, and counted by address and inbox." },
    { name: "Person", description: "Of whoever is signed in." },
    { name: "Account", description: "Of one account, for its members by role." },
  ],
};

/** The document of these endpoints, under the name of a service. */
export function consoleOpenApi(
  endpoints: readonly Documented[],
  { name, head = CONSOLE_HEAD }: { readonly name: string; readonly head?: DocumentHead },
): Json {
  return writeDocument(endpoints, {
    head,
    name,
    version: project.version,
    error: refusalSchema({
      code: { type: "string" },
      message: { type: "string", description: "For the person who is signed in" },
    }),
    components: {
      securitySchemes: {
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-farebox_session",
          description: "Set by signing in. Over plain HTTP its name has no prefix.",
        },
      },
    },
    operationOf,
  });
}

function operationOf(endpoint: Documented, writer: SchemaWriter): Json {
  const { id, summary, description, access, role } = endpoint;
  const needs = role === null ? "" : `Needs the role \`${role}\` or a higher one.`;
  const text = [description?.replaceAll("\n", " ") ?? "", needs].filter((part) => part !== "");
  return {
    operationId: id,
    summary,
    ...(text.length > 0 && { description: text.join(" ") }),
    tags: [tagOf(endpoint)],
    security: access === "anybody" ? [] : [{ session: [] }],
    parameters: parametersOf(endpoint, writer),
    ...requestBodyOf(endpoint, writer),
    responses: { ...successOf(endpoint, writer), ...refusalsOf(endpoint) },
  };
}

function tagOf({ access, role }: Documented): string {
  if (access === "anybody") return "Signing in";
  if (access === "operator") return "Operator";
  return role === null ? "Person" : "Account";
}

function parametersOf({ path, query }: Documented, writer: SchemaWriter): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: name === "account" ? "The id of an account" : `The id of a ${name}`,
    schema: { type: "string" },
  }));
  const required: readonly string[] = query?.schema.required ?? [];
  const fields: Readonly<Record<string, TSchema>> = query?.schema.properties ?? {};
  const inQuery = Object.entries(fields).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(schema.description !== undefined && { description: schema.description }),
    schema: writer.write(schema),
  }));
  return [...inPath, ...inQuery];
}

function successOf({ reply, mediaType, examples }: Documented, writer: SchemaWriter): Json {
  const content =
    mediaType === undefined
      ? {
          "application/json": {
            schema: writer.write(reply),
            examples: examplesOf(examples, ({ reply: value }) => value),
          },
        }
      : { [mediaType]: { schema: { type: "string" } } };
  return { [OK]: { description: "The answer", content } };
}

/** The frame's own refusals, by status, and a general entry for the endpoint's own. */
function refusalsOf({ method, access, role, body, query }: Documented): Json {
  const own: ConsoleErrorCode[] = [];
  if (method === "POST") own.push("foreign_origin", "json_required");
  if (access === "session") own.push("not_signed_in");
  if (access === "operator") own.push("operator_address", "second_factor_required");
  if (role !== null) own.push("account_not_found", "role_required");
  const rows: Refusal[] = own.map((code) => ({ code, ...CONSOLE_ERRORS[code] }));
  const codes = body !== undefined ? BODY_ERRORS : query !== undefined ? [BODY_ERRORS[1]] : [];
  rows.push(...codes.map((code) => ({ code, ...ERRORS[code] })));
  const byStatus = Map.groupBy(rows, ({ status }) => status);
  const responses = [...byStatus].map(([status, all]) => {
    const description = all.map(({ code, when }) => `- \`${code}\`: ${when}`).join("\n");
    return [status, { description, content: { "application/json": { schema: ERROR } } }] as const;
  });
  const other = {
    description: "Another refusal",
    content: { "application/json": { schema: ERROR } },
  };
  return { ...Object.fromEntries(responses), default: other };
}
