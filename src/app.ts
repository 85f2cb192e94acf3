// The API as one Elysia application, put together from what the composition root made.

import { Elysia } from "elysia";
import type { AccountActors } from "../actors/account.ts";
import { me } from "./account/me.ts";
import { applicationChat } from "./application/chat.ts";
import { applicationModels } from "./application/models.ts";
import type { Pauses } from "./calls/pauses.ts";
import type { Clock } from "./core/clock.ts";
import { ApiError } from "./core/errors.ts";
import type { RandomBytes } from "./core/ids.ts";
import type { Log } from "./core/log.ts";
import { createClientInfo } from "./http/client-info.ts";
import { createClientIp } from "./http/client-ip.ts";
import { type AnonymousWindow, type KeyDirectory, unrouted } from "./http/endpoint.ts";
import { health, type ReadinessCheck } from "./http/health.ts";
import type { ChatDeps } from "./services/chat/answer-chat.ts";
import { chat } from "./services/chat/chat-route.ts";
import { models } from "./services/chat/models-route.ts";
import type { ChatProvider } from "./services/chat/providers/provider.ts";
import { mail } from "./services/mail/mail-routes.ts";
import type { MailServices } from "./services/mail/mail-services.ts";
import { type MapsDeps, maps } from "./services/maps/maps-route.ts";
import type { MapsProvider } from "./services/maps/providers/provider.ts";
import type { SearchProvider } from "./services/search/providers/provider.ts";
import { type SearchDeps, search } from "./services/search/search-routes.ts";
import type { Catalogue } from "./settings/catalogue.ts";

export interface AppDeps {
  readonly accounts: AccountActors;
  readonly keys: KeyDirectory;
  readonly anonymous: AnonymousWindow;
  /** The catalogue of this moment; it may be another one at the next call. */
  readonly catalogue: () => Catalogue;
  readonly chat: ChatProvider;
  readonly search: SearchProvider;
  readonly maps: MapsProvider;
  readonly mail: MailServices;
  readonly pauses: Pauses;
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
  const gateway = { ...shared, surface: "gateway", mail: deps.mail } as const;
  const application = { ...shared, surface: "application" } as const;
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
function sharedDeps(deps: AppDeps): Omit<ChatDeps & SearchDeps & MapsDeps, "surface"> {
  const { accounts, chat, search, maps, clock, log } = deps;
  return {
    calls: { accounts, chat, search, maps, clock, log },
    keys: deps.keys,
    anonymous: deps.anonymous,
    catalogue: deps.catalogue,
    pauses: deps.pauses,
    random: deps.random,
    keyPepper: deps.keyPepper,
    clientIp: createClientIp(deps.trustedProxies),
    clientInfo: createClientInfo({ ipHashSecret: deps.ipHashSecret }),
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
