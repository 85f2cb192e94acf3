// Serves an action by its providers in order: the first that supports the parameters and answers.
// Skips a provider that is known to be down.

import { MAPS_PENDING_MAX } from "../../../annexes/atlas/atlas.ts";
import { ApiError } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import type { PicoUsd } from "../../../core/money/money.ts";
import { Fallback, type FallbackDeps } from "../../../upstream/fallback.ts";
import type { Server } from "../../../upstream/known-servers.ts";
import type { UpstreamBoard } from "../../../upstream/upstream-board.ts";
import type { Fetch } from "../../../upstream/upstream-http.ts";
import type { MapsAction, ParametersOf } from "../actions.ts";
import { EMBEDDED, type MapsConfig, type MapsServer } from "../servers.ts";
import {
  type AskOptions,
  type ConnectServer,
  type MapsProvider,
  type MapsReply,
  refusalFor,
  type Service,
  type Services,
  type Unable,
} from "./provider.ts";

export interface MapsProviderDeps {
  /** The current configuration; it may differ at the next call. */
  readonly config: () => MapsConfig;
  readonly embedded: Services;
  readonly connect: ConnectServer;
  readonly fetch: Fetch;
  readonly clock: FallbackDeps["clock"];
  readonly log: Log;
  readonly meter?: FallbackDeps["meter"];
  /** Shows operators the state of the servers. */
  readonly board?: UpstreamBoard;
}

interface Candidate<A extends MapsAction> {
  readonly server: Server;
  readonly kind: string;
  readonly buying: PicoUsd | undefined;
  readonly service: Service<A>;
}

/** The most look-ups of places that may wait for their turn. */
export const LOOKUPS_MAX = 256;
const EMBEDDED_SERVER: Server = { name: EMBEDDED, baseUrl: "", concurrencyMax: LOOKUPS_MAX };
/**
 * The server of drawn maps: it has as many slots as the atlas's queue has places, so that no
 * account fills the queue (D-545).
 */
const ATLAS: Server = { name: EMBEDDED, baseUrl: "atlas", concurrencyMax: MAPS_PENDING_MAX };
const DRAWN: ReadonlySet<MapsAction> = new Set(["site_image", "site_images"]);

export function createMapsProvider(deps: MapsProviderDeps): MapsProvider {
  const fallback = new Fallback(deps);
  deps.board?.add("maps", fallback);
  // A configured server stays the same object until the file is read again.
  const connected = new WeakMap<MapsServer, Services>();

  function servicesOf(server: MapsServer): Services {
    const services = connected.get(server) ?? deps.connect(server, { fetch: deps.fetch });
    connected.set(server, services);
    return services;
  }

  function candidatesOf<A extends MapsAction>(action: A): Candidate<A>[] {
    const { providers, servers } = deps.config();
    return (providers.get(action) ?? [EMBEDDED]).flatMap((name) => {
      const server = servers.get(name);
      const services = server === undefined ? deps.embedded : servicesOf(server);
      const service: Service<A> | undefined = services[action];
      if (service === undefined) return [];
      const kind = server?.kind ?? EMBEDDED;
      const builtIn = DRAWN.has(action) ? ATLAS : EMBEDDED_SERVER;
      return [{ server: server ?? builtIn, kind, buying: server?.buying, service }];
    });
  }

  /** The providers that support the parameters, or the refusal. */
  function ableOf<A extends MapsAction>(action: A, parameters: ParametersOf<A>): Candidate<A>[] {
    const all = candidatesOf(action);
    if (all.length === 0) throw unserved(action);
    let first: Unable | null = null;
    const able = all.filter(({ service }) => {
      const unable = service.unable?.(parameters) ?? null;
      first ??= unable;
      return unable === null;
    });
    if (able.length === 0) throw unableError(first);
    return able;
  }

  async function ask<A extends MapsAction>(
    action: A,
    parameters: ParametersOf<A>,
    options: AskOptions,
  ): Promise<MapsReply<A>> {
    return await fallback.first({
      candidates: ableOf(action, parameters),
      attempt: ({ service }) => service.ask(parameters, options),
      take({ candidate: { kind: provider, buying }, result, use }) {
        use.end("ok");
        return { ...result, provider, buying };
      },
      ...options,
      subject: action,
      message: `No provider of the action ${action} answers right now`,
    });
  }

  return {
    serves: (action) => candidatesOf(action).length > 0,
    check: (action, parameters) => void ableOf(action, parameters),
    ask,
  };
}

function unserved(action: MapsAction): ApiError {
  const setting = `maps.actions.${action} of the configuration file`;
  return new ApiError("maps_unavailable", `Nobody serves ${action} here; ${setting} can name one`);
}

function unableError(unable: Unable | null): ApiError {
  if (unable === null) throw new Error("Of no provider it was asked what it can honour");
  return refusalFor(unable);
}
