// Checks every answer of the console, to any request: no fault of ours, and a documented reply or
// refusal. No request is served without the role for it, or gets another organisation's data.

import { mayAct, ROLES } from "../../../src/core/access/roles.ts";
import { CONSOLE_ERRORS } from "../../../src/core/console-errors.ts";
import { ADMINISTRATION_ERRORS, ERRORS } from "../../../src/core/errors.ts";
import type { TSchema } from "../../../src/http/schema.ts";
import { fits } from "../../../src/http/unknown-route.ts";
import { misfit } from "../../support/api/contract.ts";
import { MARK } from "./console-lab.ts";
import { type AnyEndpoint, CONSOLE_FUZZED, type ConsoleRequest } from "./console-maker.ts";
import { pathOf } from "./fuzz-request.ts";
import { isNoHttp, type RawAnswer } from "./raw-client.ts";

const STATUSES: ReadonlyMap<string, number> = new Map(
  [CONSOLE_ERRORS, ADMINISTRATION_ERRORS, ERRORS].flatMap((rows) =>
    Object.entries(rows).map(([code, { status }]) => [code, status] as const),
  ),
);
/** Requests that answer as the API does, whose errors have a type. */
const THROUGH_API: ReadonlySet<string> = new Set(["callFromPlayground", "estimateFromPlayground"]);
/** Words for parts that are not fields. */
const WHOLE = ["The body", "The query", "A field's name", "The path", "The header"] as const;

/** Throws an Error that names the fault of the answer. Returns its status. */
export function checkConsole(request: ConsoleRequest, answer: RawAnswer): number {
  const { status, headers, body } = answer;
  if (isNoHttp(request, answer)) return status;
  if (status === 500) throw new Error("A fault of ours");
  if (status > 500) throw new Error("Nothing explains a failure");
  const text = body.toString();
  if (request.who !== "operator" && text.includes(MARK)) {
    throw new Error("The answer shows something of another organisation");
  }
  const endpoint = endpointOf(request);
  if (status >= 400) {
    if (request.method !== "HEAD") checkRefusal(endpoint, request, { status, text });
    return status;
  }
  if (status >= 300) throw new Error("Nothing of the console leads elsewhere");
  if (endpoint === null) return checkElsewhere(request, status);
  checkAllowed(endpoint, request);
  if (request.method === "HEAD") return status;
  const type = headers.get("content-type") ?? "";
  if (endpoint.mediaType !== undefined && type.startsWith(endpoint.mediaType)) return status;
  if (!type.startsWith("application/json")) {
    if (THROUGH_API.has(endpoint.id) && type.startsWith("text/event-stream")) return status;
    throw new Error(`A reply is ${type}`);
  }
  const problem = misfit(endpoint.reply, JSON.parse(text));
  if (problem !== null) throw new Error(`It answered ${problem}`);
  return status;
}

function endpointOf(request: ConsoleRequest): AnyEndpoint | null {
  const method = request.method === "HEAD" ? "GET" : request.method;
  const path = pathOf(request.target);
  return CONSOLE_FUZZED.find((one) => one.method === method && fits(one, path)) ?? null;
}

/** A changed path may be the path of a page, or of the documentation. */
function checkElsewhere(request: ConsoleRequest, status: number): number {
  const path = pathOf(request.target).toLowerCase();
  if (path.startsWith("/console") && request.method !== "OPTIONS") {
    throw new Error("A path without an endpoint was served");
  }
  return status;
}

/** Requires that a request that was served had the right to it. */
function checkAllowed(endpoint: AnyEndpoint, request: ConsoleRequest): void {
  const { who, isOwnPage, isJsonType } = request;
  const isChange = endpoint.method !== "GET";
  if (isChange && !isOwnPage) throw new Error("A change from a foreign page was made");
  if (isChange && !isJsonType) throw new Error("A change of another type was made");
  const { access, role } = endpoint;
  if (access === "anybody") return;
  if (who === null) throw new Error("Somebody without a session was served");
  if (access === "operator" && who !== "operator") throw new Error(`${who} acted as an operator`);
  if (role === null) return;
  const own = ROLES.find((one) => one === who);
  if (own === undefined) throw new Error(`${who} was served in an account of others`);
  if (!mayAct(own, role)) throw new Error(`${who} did what needs the role '${role}'`);
}

function checkRefusal(
  endpoint: AnyEndpoint | null,
  request: ConsoleRequest,
  { status, text }: { readonly status: number; readonly text: string },
): void {
  const { error, ...beside } = JSON.parse(text) as {
    readonly error?: Readonly<Record<string, unknown>>;
  };
  const { code, message, type, ...others } = error ?? {};
  if (typeof code !== "string" || !STATUSES.has(code)) throw new Error(`'${code}' is no code`);
  const expected = STATUSES.get(code);
  if (expected !== status) throw new Error(`${code} is ${expected}, not ${status}`);
  if (typeof message !== "string" || message === "") throw new Error(`${code} has no message`);
  const more = [...Object.keys(beside), ...Object.keys(others)];
  // A changed path may be one of the API; its answers belong to another fuzzer. With a malformed
  // Host the router treats another part of the URL as the path.
  if (endpoint === null || THROUGH_API.has(endpoint.id)) return;
  if (message.startsWith("The header Host")) return;
  if (more.length > 0) throw new Error(`A refusal has fields '${more.join()}'`);
  if (type !== undefined && code !== "not_found") {
    throw new Error("A refusal of the console has a type");
  }
  if (code === "invalid_parameter") checkNamed(endpoint, request, message);
}

/** Requires that a refusal of a value names its field. */
function checkNamed(endpoint: AnyEndpoint, request: ConsoleRequest, message: string): void {
  const names = [
    ...WHOLE,
    '""',
    // Bytes that are not text appear like this in the name of a field of the query.
    "\uFFFD",
    ...request.fields,
    ...propertiesOf(endpoint.body?.schema),
    ...propertiesOf(endpoint.query?.schema),
    ...[...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name),
  ];
  if (names.some((name) => name !== "" && message.includes(name))) return;
  // A fault in the bytes of a body may have made a new name.
  if (message.includes("is not known: ")) return;
  throw new Error(`A refusal names no field: '${message}'`);
}

function propertiesOf(schema: TSchema | undefined): string[] {
  if (schema === undefined) return [];
  const inner = Object.entries((schema.properties ?? {}) as Readonly<Record<string, TSchema>>);
  const items = schema.items === undefined ? [] : propertiesOf(schema.items as TSchema);
  return [...inner.flatMap(([name, field]) => [name, ...propertiesOf(field)]), ...items];
}
