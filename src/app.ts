// Builds the API as one Elysia application from the dependencies that the composition root created.

import { Elysia } from "elysia";
import type { AccountActors } from "../actors/account.ts";
import type { QuoteDeps } from "./account/quote-endpoint.ts";
import type { ReceiptsDeps } from "./account/receipt-endpoint.ts";
import type { RunsDeps } from "./account/run-endpoint.ts";
import type { CallMeter, CallTracer, ReceiptSource } from "./calls/call.ts";
import type { Pauses } from "./calls/pauses.ts";
import type { Clock } from "./core/clock.ts";
import type { RandomBytes } from "./core/ids.ts";
import type { Log } from "./core/log.ts";
import type { SecretList } from "./core/secrets.ts";
import { BodyShares } from "./http/body/body-shares.ts";
import { MinuteBudget } from "./http/body/minute-budget.ts";
import type { BodyParser } from "./http/body/parse-body.ts";
import type { ClientInfo } from "./http/client-info.ts";
import { createClientIp } from "./http/client-ip.ts";
import type { DashboardFiles } from "./http/console/dashboard-files.ts";
import type { Endpoint, Method } from "./http/endpoint-info.ts";
import {
  type AnonymousWindow,
  type KeyDirectory,
  namesHost,
  type RawRequest,
} from "./http/frame.ts";
import type { HealthWarnings, ReadinessCheck, SharedVersions } from "./http/health.ts";
import type { CallApi } from "./http/inner-request.ts";
import { KeptAnswers } from "./http/kept-answers.ts";
import { openEndOf, pathOfUrl } from "./http/open-end.ts";
import { errorFormNear, noEndpoint, refusalOfAnybody, unrouted } from "./http/unknown-route.ts";
import type { McpConfig } from "./mcp/mcp-endpoint.ts";
import type { OperatorDeps } from "./operator/deps.ts";
import type { WebhookServices } from "./payments/webhook-endpoint.ts";
import {
  AGENTS,
  APPLICATION,
  CONSOLE,
  type ConsoleDeps,
  GATEWAY,
  type GatewayDeps,
  HEALTH,
  OPERATOR,
  PROGRAM,
} from "./routes.ts";
import { AbandonedStreams } from "./services/chat/abandoned-streams.ts";
import { ItemSeals } from "./services/chat/doors/responses/item-seals.ts";
import { OpenPrompts } from "./services/chat/open-prompts.ts";
import type { ChatProvider } from "./services/chat/protocols/provider.ts";
import { PieceTokens } from "./services/chat/tokens/piece-tokens.ts";
import type { TokenCounter } from "./services/chat/tokens/token-counter.ts";
import type { MailServices } from "./services/mail/mail-services.ts";
import type { MapsProvider } from "./services/maps/providers/provider.ts";
import type { SearchProvider } from "./services/search/providers/provider.ts";
import { toolSearches } from "./services/search/tool-search.ts";
import type { Catalogue } from "./settings/catalogue.ts";
import { frontDoor } from "./site/front-door.ts";

export interface AppDeps {
  readonly accounts: AccountActors;
  readonly keys: KeyDirectory;
  readonly anonymous: AnonymousWindow;
  /** Returns the current catalogue, which can change between calls. */
  readonly catalogue: () => Catalogue;
  readonly chat: ChatProvider;
  readonly tokens: TokenCounter;
  readonly search: SearchProvider;
  readonly maps: MapsProvider;
  readonly mail: MailServices;
  readonly pauses: Pauses;
  readonly averageReply: QuoteDeps["averageReply"];
  readonly receipts: ReceiptsDeps["receipts"];
  /** The receipts that go with replies. */
  readonly awaitedReceipts: ReceiptSource;
  readonly runs: RunsDeps["runs"];
  /** Parses large bodies; without it, that is done in the thread that serves requests. */
  readonly parser?: BodyParser;
  /** Null without a payment provider. */
  readonly payments: WebhookServices | null;
  /** Null in a process that does not serve the console. */
  readonly console: ConsoleServices | null;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly warnings?: HealthWarnings;
  /** The versions of shared configuration and documents that this process runs. */
  readonly versions: () => SharedVersions;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** Counts the ends of calls. */
  readonly meter?: CallMeter;
  /** Makes spans of calls; without it there are no traces. */
  readonly tracer?: CallTracer | undefined;
  /** Addresses and CIDR blocks whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Called once where a request came through a proxy on this machine that is not trusted. */
  readonly onUntrustedProxy?: (address: string) => void;
  readonly keyPeppers: SecretList;
  /** The stored form of a caller's address. */
  readonly clientInfo: (ip: string) => ClientInfo;
  /** The address under which people open the service; null if it is not configured. */
  readonly origin: string | null;
  /** The built pages of the dashboard; null if they were never built. */
  readonly dashboard: () => DashboardFiles | null;
  /** True if the page at /docs/api can send requests. */
  readonly docsTryIt: boolean;
  readonly mcp: McpConfig;
}

/** The parts of the console besides those of every surface. */
export type ConsoleServices = Omit<
  ConsoleDeps & OperatorDeps,
  keyof GatewayDeps | "clock" | "log" | "callApi" | "noSuchPath" | "asking"
>;

/**
 * A person's requests to the console in a minute: twenty times a busy page's. Requests count by
 * person, not by session, because a new sign-in would start a new count (D-563).
 */
const ASKING_RULE = {
  most: 1_200,
  refusal: "You have sent more than 1,200 requests in this minute",
};

/** The base path of the Application API (SPEC 9.1). */
const APPLICATION_PATHS = "/api/";

type PaidEndpoint = Pick<Endpoint<never>, "isBilled" | "path" | "method">;

/** The methods of the endpoints that cost money, by path. */
const PAID = { gateway: methodsOfPaid(GATEWAY), application: methodsOfPaid(APPLICATION) };

function methodsOfPaid(endpoints: readonly PaidEndpoint[]): ReadonlyMap<string, Method> {
  return new Map(
    endpoints.filter(({ isBilled }) => isBilled).map(({ path, method }) => [path, method]),
  );
}

/** The application. Call `listen` of the application with LISTEN_OPTIONS of http/server.ts. */
export function createApp(deps: AppDeps) {
  const shared = sharedDeps(deps);
  const gateway = { ...shared, surface: "gateway" } as const;
  const application = { ...shared, surface: "application" } as const;
  const app = new Elysia({
    // Every endpoint checks its own input, so Elysia's coercions and defaults are not needed.
    normalize: false,
    strictPath: true,
    // A host may be as short as "x".
    handler: { standardHostname: false },
  });
  const noSuchPath = (raw: RawRequest, error?: unknown) => {
    const path = pathOfUrl(raw.request.url);
    const isApplication = path.startsWith(APPLICATION_PATHS);
    const console = deps.console === null ? [] : CONSOLE;
    const routes = isApplication ? APPLICATION : [...GATEWAY, ...AGENTS, ...PROGRAM, ...console];
    return unrouted(isApplication ? application : gateway, raw, {
      error:
        error ??
        noEndpoint(routes, {
          method: raw.request.method,
          path,
          gateway: isApplication ? GATEWAY : [],
        }),
      errorForm: errorFormNear(routes, path, raw.request),
    });
  };
  app.onError(({ code, error, request }) => {
    if (code !== "NOT_FOUND") return noSuchPath({ request, server: app.server }, error);
    const door = namesHost(request) ? frontDoor(deps, request) : null;
    return door ?? noSuchPath({ request, server: app.server });
  });
  for (const one of GATEWAY) addRoute(app, one, (raw) => one.answer(gateway, raw));
  const agents = { ...gateway, catalogue: deps.catalogue, mcp: deps.mcp };
  for (const one of AGENTS) addRoute(app, one, (raw) => one.answer(agents, raw));
  for (const one of APPLICATION) addRoute(app, one, (raw) => one.answer(application, raw));
  // With a malformed Host the router takes a part of the path for the host, and may take another
  // endpoint for the one that is asked. Endpoints with keys look at the Host themselves.
  const addHosted: typeof addRoute = (to, one, answer) =>
    addRoute(to, one, (raw) => (namesHost(raw.request) ? answer(raw) : noSuchPath(raw)));
  const { bodies, clientIp } = shared;
  const refusal = (raw: RawRequest) => refusalOfAnybody(gateway, raw);
  const program = { ...deps, bodies, clientIp, noSuchPath, refusal };
  for (const one of PROGRAM) {
    // Probes of HTTP/1.0 send no Host.
    const add = HEALTH.includes(one) ? addRoute : addHosted;
    add(app, one, (raw) => one.answer(program, raw));
  }
  if (deps.console !== null) {
    const { clock, log } = deps;
    const asking = new MinuteBudget(ASKING_RULE);
    const own = { catalogue: deps.catalogue, clock, log, asking };
    const people: ConsoleDeps = { ...shared, ...deps.console, ...own };
    for (const one of CONSOLE) addHosted(app, one, (raw) => one.answer(people, raw));
    const operators: OperatorDeps = { ...people, ...deps.console, noSuchPath };
    for (const one of OPERATOR) addHosted(app, one, (raw) => one.answer(operators, raw));
  }
  return app;
}

type SharedDeps = Omit<GatewayDeps, "surface">;

/** Calls endpoints of the API as routing does, for quotes, the playground and tools of agents. */
function apiCaller(shared: () => SharedDeps): CallApi {
  return (surface, path, { raw, quote }) => {
    const routes: readonly Endpoint<GatewayDeps>[] = surface === "gateway" ? GATEWAY : APPLICATION;
    const { method } = raw.request;
    const one = routes.find((route) => route.path === path && route.method === method);
    if (one === undefined) throw new Error(`The API has no ${method} ${path}`);
    const deps = { ...shared(), surface };
    if (quote === undefined) return one.answer(deps, raw);
    const { accounts } = quote;
    // A quoted call is no call of anybody.
    const calls = { ...deps.calls, accounts, quote, meter: undefined, tracer: undefined };
    return one.answer({ ...deps, calls }, raw);
  };
}

function addRoute(
  app: Elysia,
  { method, path, hasOpenEnd = false }: Pick<Endpoint<never>, "method" | "path" | "hasOpenEnd">,
  answer: (raw: RawRequest) => Promise<Response>,
): void {
  const route = path.replaceAll(/\{(\w+)\}/g, ":$1");
  for (const pattern of hasOpenEnd ? [route, `${route}/*`] : [route]) {
    // The endpoints read the body themselves. The server is not taken from Elysia's context: for a
    // handler that names it there, Elysia defines a property of the context at every request.
    app.route(
      method,
      pattern,
      ({ request, params }) =>
        answer({
          request,
          server: app.server,
          params: hasOpenEnd ? { id: openEndOf(path, request.url) } : params,
        }),
      { parse: "none" },
    );
  }
}

/** The dependencies that both surfaces share. */
function sharedDeps(deps: AppDeps): SharedDeps {
  const { accounts, chat, tokens, search, maps, clock, log, meter, tracer } = deps;
  const { awaitedReceipts: receipts } = deps;
  const known = {
    abandoned: new AbandonedStreams(clock),
    pieceTokens: new PieceTokens(),
    prompts: new OpenPrompts(),
  };
  const shared: SharedDeps = {
    calls: { accounts, chat, tokens, ...known, search, maps, clock, log, meter, tracer, receipts },
    keys: deps.keys,
    anonymous: deps.anonymous,
    bodies: new BodyShares(),
    answers: new KeptAnswers(deps),
    runRules: () => deps.catalogue().runs,
    parser: deps.parser,
    catalogue: deps.catalogue,
    itemSeals: new ItemSeals(deps.keyPeppers, deps.random),
    toolSearch: toolSearches({ search, offer: () => deps.catalogue().search }),
    pauses: deps.pauses,
    mail: deps.mail,
    random: deps.random,
    keyPeppers: deps.keyPeppers,
    clientIp: createClientIp(deps.trustedProxies, deps.onUntrustedProxy),
    clientInfo: deps.clientInfo,
    averageReply: deps.averageReply,
    receipts: deps.receipts,
    runs: deps.runs,
    paid: PAID,
    callApi: apiCaller(() => shared),
  };
  return shared;
}
