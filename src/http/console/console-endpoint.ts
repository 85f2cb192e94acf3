// Defines endpoints of the console, which people call with a session, not programs with a key. One
// frame finds the person and their role, checks the origin of a change, reads the input, and
// replies.

import { TypeCompiler } from "@sinclair/typebox/compiler";
import { mayAct, type Role } from "../../core/access/roles.ts";
import type { Clock } from "../../core/clock.ts";
import { ConsoleError } from "../../core/console-errors.ts";
import { AdministrationError, ApiError, OK } from "../../core/errors.ts";
import { newTimedId, type RandomBytes } from "../../core/ids.ts";
import type { Log } from "../../core/log.ts";
import { type BodyShares, isLargeBody } from "../body/body-shares.ts";
import { explain } from "../body/explain.ts";
import type { JsonBody } from "../body/json-body.ts";
import type { MinuteBudget } from "../body/minute-budget.ts";
import { type BodyParser, parseBody } from "../body/parse-body.ts";
import { declaredLength, readBody } from "../body/read-body.ts";
import { refuseNul } from "../body/texts.ts";
import type { ClientInfo } from "../client-info.ts";
import { type ClientIp, networkOf } from "../client-ip.ts";
import type { Access, Endpoint, EndpointInfo } from "../endpoint-info.ts";
import { failureOf } from "../failure.ts";
import type { RawRequest } from "../frame.ts";
import { isLocalPage } from "../local-request.ts";
import { addRetryHeaders } from "../respond.ts";
import type { Checked, TSchema } from "../schema.ts";
import { peerOf } from "../server.ts";
import { isOwnOrigin } from "./own-origin.ts";
import type { Membership, People, SignedIn } from "./people.ts";

/** The dependencies of the frame, for any endpoint of the console. */
export interface ConsoleFrameDeps {
  readonly people: People;
  /** The configured address of the console; if null, the host of each request stands for it. */
  readonly consoleUrl: string | null;
  readonly clock: Clock;
  readonly bodies: Pick<BodyShares, "of">;
  readonly parser?: BodyParser | undefined;
  /** Limits the requests of each person in a minute, by their weight. */
  readonly asking: Pick<MinuteBudget, "take">;
  readonly random: RandomBytes;
  readonly log: Log;
  readonly clientIp: ClientIp;
  readonly clientInfo: (ip: string) => ClientInfo;
}

/** A request by anybody, signed in or not. */
export interface VisitorContext<Deps> {
  readonly deps: Deps;
  readonly request: Request;
  readonly server: RawRequest["server"];
  readonly requestId: string;
  readonly clientIp: string;
  /** True if the request was sent on this machine itself. */
  readonly isLocal: boolean;
  readonly client: ClientInfo;
  readonly params: Readonly<Record<string, string>>;
}

/** A request of a person who is signed in. */
export interface PersonContext<Deps> extends VisitorContext<Deps> {
  readonly person: SignedIn;
}

/** A request about one account, whose id is the open part `{account}` of the path. */
export interface AccountContext<Deps> extends PersonContext<Deps>, Membership {}

/** JSON, or a response of another kind, such as a CSV file. */
type ConsoleAnswer = object | Response;

type ConsoleInfo = Omit<EndpointInfo, "surface" | "service" | "errors" | "body">;

export interface ConsoleInput<Input> {
  /** The schema of the query; its fields are strings. */
  readonly query?: { readonly schema: TSchema; readonly check: (value: unknown) => Input };
  readonly body?: JsonBody<Input>;
}

/** An endpoint, and the function that runs once its caller is let in. */
export interface ConsoleDefinition<Context, Input> extends ConsoleInfo, ConsoleInput<Input> {
  readonly run: (context: Context, input: Input) => Promise<ConsoleAnswer>;
}

/** An endpoint about one account, for its members with this role. */
export interface AccountDefinition<Deps, Input>
  extends ConsoleDefinition<AccountContext<Deps>, Input> {
  readonly role: Role;
  /**
   * True if the frame must check session and role again after the body has arrived, because no
   * transaction of the endpoint does (D-522).
   */
  readonly looksAgain?: boolean;
  /** The number of requests that it counts as in the window of its session. */
  readonly weight?: number;
}

/** An endpoint of the console. `role` is null if no account is involved. */
export interface ConsoleEndpoint<Deps> extends Endpoint<Deps> {
  readonly role: Role | null;
  readonly query?: { readonly schema: TSchema };
}

/**
 * Finds and counts the caller of an endpoint.
 * @throws ConsoleError for a caller who is not let in
 */
type Enter<Deps, Context> = (visitor: VisitorContext<Deps>) => Promise<Context>;

interface Entrance<Deps, Context> {
  readonly enter: Enter<Deps, Context>;
  /** Checks the caller again once the body has arrived. */
  readonly enterAgain?: Enter<Deps, Context>;
}

type ConsoleAccess = Exclude<Access, "scope" | "key">;

/** Describes an endpoint of people for routing and documentation. */
export function described<Context, Input>(
  { run: _, ...info }: ConsoleDefinition<Context, Input>,
  access: ConsoleAccess,
  role: Role | null = null,
): Omit<ConsoleEndpoint<never>, "answer"> {
  return { ...info, surface: null, service: null, errors: [], isBilled: false, access, role };
}

/** Defines an endpoint that needs no session; a change must still come from a page of ours. */
export function visitorEndpoint<Deps extends ConsoleFrameDeps, Input = undefined>(
  definition: ConsoleDefinition<VisitorContext<Deps>, Input>,
): ConsoleEndpoint<Deps> {
  const enter = async (visitor: VisitorContext<Deps>) => visitor;
  return {
    ...described(definition, "anybody"),
    answer: (deps, raw) => answerFramed(deps, raw, { ...definition, enter }),
  };
}

/** Defines an endpoint for every person who is signed in. */
export function personEndpoint<Deps extends ConsoleFrameDeps, Input = undefined>(
  definition: ConsoleDefinition<PersonContext<Deps>, Input>,
): ConsoleEndpoint<Deps> {
  return {
    ...described(definition, "session"),
    answer: (deps, raw) => answerFramed(deps, raw, { ...definition, enter: signedIn }),
  };
}

/** Defines an endpoint about one account, whose id is the part `{account}` of the path. */
export function accountEndpoint<Deps extends ConsoleFrameDeps, Input = undefined>(
  definition: AccountDefinition<Deps, Input>,
): ConsoleEndpoint<Deps> {
  const { role, looksAgain = false, weight = 1, ...rest } = definition;
  const enter = async (visitor: VisitorContext<Deps>, times = weight) => {
    const context = await signedIn(visitor, times);
    return { ...context, ...(await memberOf(context, role)) };
  };
  const enterAgain = (visitor: VisitorContext<Deps>) => enter(visitor, 0);
  const entrance = { enter, ...(looksAgain && { enterAgain }) };
  return {
    ...described(rest, "session", role),
    answer: (deps, raw) => answerFramed(deps, raw, { ...rest, ...entrance }),
  };
}

/** A query that must match this schema, an object whose fields are strings. */
export function queryOf<S extends TSchema>(
  schema: S,
): NonNullable<ConsoleInput<Checked<S>>["query"]> {
  const compiled = TypeCompiler.Compile(schema);
  return {
    schema,
    check(value) {
      if (compiled.Check(value)) return value as Checked<S>;
      throw explain(schema, value, "The query");
    },
  };
}

/** Requires that the person gave a password or code at most this long ago. */
export function requireProof(
  { deps, person }: PersonContext<ConsoleFrameDeps>,
  withinMs: number,
): void {
  if (deps.clock.now() - person.provedAtMs <= withinMs) return;
  throw new ConsoleError("sign_in_again", "Enter your password again to do this");
}

/**
 * The frame of an endpoint: checks the request's origin and its person, reads its input, and
 * replies or refuses.
 */
export async function answerFramed<
  Deps extends ConsoleFrameDeps,
  Context extends VisitorContext<Deps>,
  Input,
>(
  deps: Deps,
  { request, server, params = {} }: RawRequest,
  { enter, enterAgain, run, ...input }: ConsoleDefinition<Context, Input> & Entrance<Deps, Context>,
): Promise<Response> {
  const requestId = newTimedId("request", deps.random, deps.clock.now());
  try {
    if (request.method !== "GET" && request.method !== "HEAD") checkChange(deps, request);
    refuseNul(params);
    const peer = peerOf(server, request);
    const clientIp = deps.clientIp(peer, request.headers);
    const isLocal = isLocalPage(peer, request.headers);
    const client = deps.clientInfo(clientIp);
    const visitor = { deps, request, server, requestId, clientIp, isLocal, client, params };
    const context = await enter(visitor);
    const given = await readInput(context, input);
    const reply = await run(enterAgain === undefined ? context : await enterAgain(visitor), given);
    return withHeaders(reply, requestId);
  } catch (error) {
    return refusal(deps, error, requestId);
  }
}

async function signedIn<Deps extends ConsoleFrameDeps>(
  visitor: VisitorContext<Deps>,
  weight = 1,
): Promise<PersonContext<Deps>> {
  const person = await visitor.deps.people.signedIn(visitor.request.headers);
  if (person === null) throw new ConsoleError("not_signed_in", "Sign in first");
  return counted(visitor, person, weight);
}

/**
 * Counts a request of a person, and adds the person to its context. Throws `rate_limit_exceeded` if
 * the person has sent too many requests in this minute.
 */
export function counted<Deps extends ConsoleFrameDeps>(
  visitor: VisitorContext<Deps>,
  person: SignedIn,
  weight = 1,
): PersonContext<Deps> {
  const { asking, clock } = visitor.deps;
  asking.take(person.personId, weight, clock.now());
  return { ...visitor, person };
}

function checkChange({ consoleUrl }: ConsoleFrameDeps, request: Request): void {
  if (!isOwnOrigin(request, consoleUrl)) {
    throw new ConsoleError("foreign_origin", "This request was not sent by a page of this console");
  }
  // A form of a foreign page cannot send this type.
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new ConsoleError("json_required", "Content-Type must be application/json");
  }
}

/** To a person outside of an account, the account does not exist. */
async function memberOf(
  { deps, person, params }: PersonContext<ConsoleFrameDeps>,
  needed: Role,
): Promise<Membership> {
  const id = params.account ?? "";
  const membership = await deps.people.membership(person.personId, id);
  if (membership === null) throw new ConsoleError("account_not_found", `There is no account ${id}`);
  if (mayAct(membership.role, needed)) return membership;
  throw new ConsoleError(
    "role_required",
    `This needs the role '${needed}'; yours in this account is '${membership.role}'`,
  );
}

/** Reads and checks the input of a request. */
async function readInput<Input>(
  {
    deps,
    request,
    clientIp,
    person,
  }: VisitorContext<ConsoleFrameDeps> & { readonly person?: SignedIn },
  { body, query }: ConsoleInput<Input>,
): Promise<Input> {
  if (query !== undefined) {
    const fields = queryFields(request);
    refuseNul(fields);
    return query.check(fields);
  }
  // Without a schema there is no input, whatever the type says.
  if (body === undefined) return undefined as Input;
  const declared = declaredLength(request);
  const sender = networkOf(clientIp);
  const { bytesMax } = body;
  const { parser, clock } = deps;
  const key = person?.personId ?? sender;
  const large = isLargeBody(declared) ? { key, nowMs: clock.now() } : null;
  const share = deps.bodies.of(sender, large);
  const keepsBytes = parser !== undefined;
  const read = await readBody(request, { bytesMax, clock, share, declared, keepsBytes });
  const value = await parseBody(body, read, { parser, sender, share });
  // In JSON, this escape is the only spelling of U+0000.
  if (typeof read !== "string" || read.includes("\\u0000")) refuseNul(value);
  return body.check(value);
}

function queryFields({ url }: Request): Record<string, string> {
  const start = url.indexOf("?");
  const search = new URLSearchParams(start < 0 ? "" : url.slice(start));
  const fields: Record<string, string> = {};
  for (const [name, value] of search) {
    if (Object.hasOwn(fields, name)) {
      throw new ApiError("invalid_parameter", `${name} must be given once`, { param: name });
    }
    Object.defineProperty(fields, name, { value, enumerable: true });
  }
  return fields;
}

function withHeaders(result: ConsoleAnswer, requestId: string): Response {
  const response = result instanceof Response ? result : Response.json(result, { status: OK });
  // A call through the API has an id of its own, which is in the request log.
  if (!response.headers.has("x-request-id")) response.headers.set("x-request-id", requestId);
  response.headers.set("cache-control", "no-store");
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.append("vary", "cookie");
  return response;
}

function refusal({ log }: ConsoleFrameDeps, thrown: unknown, requestId: string): Response {
  const isKnown = thrown instanceof ConsoleError || thrown instanceof AdministrationError;
  const error = isKnown ? thrown : failureOf(thrown);
  if (error.cause !== undefined) {
    log.error({ requestId, code: error.code, err: error.cause }, "A request failed");
  }
  const { code, message, status } = error;
  const response = Response.json({ error: { code, message } }, { status });
  addRetryHeaders(response.headers, error);
  return withHeaders(response, requestId);
}
