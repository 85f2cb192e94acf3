// The API as one Elysia application, put together from what the composition root made.

import { Elysia } from "elysia";
import type { AccountActors } from "../actors/hold.ts";
import { applicationChat } from "./application/chat.ts";
import { applicationModels } from "./application/models.ts";
import type { Mailroom } from "./calls/mailroom.ts";
import type { Catalogue } from "./core/catalogue.ts";
import type { Clock } from "./core/clock.ts";
import { ApiError } from "./core/errors.ts";
import type { RandomBytes } from "./core/ids.ts";
import type { Log } from "./core/log.ts";
import { chat } from "./gateway/chat.ts";
import type { GatewayDeps } from "./gateway/deps.ts";
import { health, type ReadinessCheck } from "./gateway/health.ts";
import { mail } from "./gateway/mail.ts";
import { maps } from "./gateway/maps.ts";
import { me } from "./gateway/me.ts";
import { models } from "./gateway/models.ts";
import { search } from "./gateway/search.ts";
import { createCallerFacts } from "./http/caller-facts.ts";
import type { ChatDeps } from "./http/chat/answer-chat.ts";
import type { Switches } from "./http/chat/chat-request.ts";
import { createClientIp } from "./http/client-ip.ts";
import { type AnonymousWindow, type KeyDirectory, unrouted } from "./http/endpoint.ts";
import type { ChatProvider } from "./providers/chat/provider.ts";
import type { MapsProvider } from "./providers/maps/provider.ts";
import type { SearchProvider } from "./providers/search/provider.ts";

export interface AppDeps {
  readonly accounts: AccountActors;
  readonly keys: KeyDirectory;
  readonly anonymous: AnonymousWindow;
  /** The catalogue of this moment; it may be another one at the next call. */
  readonly catalogue: () => Catalogue;
  readonly chat: ChatProvider;
  readonly search: SearchProvider;
  readonly maps: MapsProvider;
  readonly mail: Mailroom;
  readonly switches: Switches;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** Addresses and CIDR blocks whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly keyPepper: string;
  readonly ipHashSecret: string;
}

/** Where the paths of the Application API begin (SPEC 9.1). */
const APPLICATION_PATHS = "/api/";

/** The application; let it `listen` with LISTEN_OPTIONS of http/server.ts. */
export function createApp(deps: AppDeps) {
  const shared = sharedDeps(deps);
  const gateway: GatewayDeps = { ...shared, surface: "gateway", mail: deps.mail };
  const application: ChatDeps = { ...shared, surface: "application" };
  const methods = new Map<string, string[]>();
  const app = new Elysia({
    // Every route checks its own input, so none needs Elysia's coercions or defaults.
    normalize: false,
    strictPath: true,
    // A host may be as short as "x".
    handler: { standardHostname: false },
  })
    .onError(({ code, error, request, server }) =>
      unrouted(
        pathOf(request.url).startsWith(APPLICATION_PATHS) ? application : gateway,
        { request, server },
        code === "NOT_FOUND" ? noRoute(methods, request) : error,
      ),
    )
    .use(chat(gateway))
    .use(search(gateway))
    .use(models(gateway))
    .use(maps(gateway))
    .use(mail(gateway))
    .use(me(gateway))
    .use(applicationChat(application))
    .use(applicationModels(application))
    .use(health(deps));
  for (const { method, path } of app.routes) {
    const more = method === "GET" ? ["GET", "HEAD"] : [method];
    methods.set(path, [...(methods.get(path) ?? []), ...more]);
  }
  return app;
}

/** What both surfaces are given alike. */
function sharedDeps(deps: AppDeps): Omit<ChatDeps, "surface"> {
  const { accounts, chat, search, maps, clock, log } = deps;
  return {
    calls: { accounts, chat, search, maps, clock, log },
    keys: deps.keys,
    anonymous: deps.anonymous,
    catalogue: deps.catalogue,
    switches: deps.switches,
    random: deps.random,
    keyPepper: deps.keyPepper,
    clientIp: createClientIp(deps.trustedProxies),
    callerFacts: createCallerFacts({ ipHashSecret: deps.ipHashSecret }),
  };
}

function noRoute(methods: ReadonlyMap<string, readonly string[]>, request: Request): ApiError {
  const path = pathOf(request.url);
  const template = [...methods.keys()].find((one) => fits(one, path));
  const allowed = methods.get(template ?? "");
  if (allowed === undefined) return new ApiError("not_found", "There is nothing at this path");
  const allow = allowed.join(", ");
  return new ApiError("method_not_allowed", `Use one of: ${allow}`, { allow });
}

/** Whether a path is one of a route, whose parts that begin with ":" stand for any one part. */
function fits(template: string, path: string): boolean {
  const parts = path.split("/");
  const wanted = template.split("/");
  const isSame = (part: string, i: number) => part.startsWith(":") || part === parts[i];
  return wanted.length === parts.length && wanted.every(isSame);
}

/** The path of a URL; with a strange Host a URL is only a path, which no URL parser takes. */
function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query);
}
