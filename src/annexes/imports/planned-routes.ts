// Groups providers and models of another product: one provider for each server and key, one model
// for each name, with a route for each server that offers it.

import {
  familyOf,
  isModelId,
  keyVariableOf,
  labelFrom,
  type PlannedCatalogue,
  type PlannedModel,
  type PlannedProvider,
  providerNameOf,
  ROUTES_MAX,
} from "./plan.ts";

/** A server and a key there; two servers with the same `identity` are one provider. */
export interface ForeignServer {
  readonly identity: string;
  /** The preferred name of the provider, if it is still free. */
  readonly name: string;
  readonly baseUrl: string;
  /** The variable with its key; null if we name the variable, or if it needs no key. */
  readonly keyVariable: string | null;
  readonly hasKey: boolean;
}

/** A model on one server. */
export interface Offer {
  readonly id: string;
  readonly upstreamName: string;
  readonly server: ForeignServer;
  readonly contextLength: number;
  readonly prices: PlannedModel["pricing"][0];
}

const MODELS_MAX = 2_000;
/** The highest price of a million tokens in the configuration file. */
const PRICE_MAX = 10_000;

/** Collects offers into the two sections of the configuration file. */
export class PlannedRoutes {
  readonly #providers = new Map<
    string,
    { readonly name: string; readonly server: ForeignServer }
  >();
  readonly #models = new Map<string, PlannedModel>();
  readonly notes: string[] = [];

  /** Adds a route; the first offer of a model decides its prices. */
  add(offer: Offer): void {
    const { id, prices } = offer;
    if (!isModelId(id)) {
      this.notes.push(`model '${id}': such a name is not possible here; left out`);
      return;
    }
    if (!Object.values(prices).every((usd) => Number(usd) <= PRICE_MAX)) {
      this.notes.push(
        `model '${id}': a price above ${PRICE_MAX} USD is not possible here; left out`,
      );
      return;
    }
    const earlier = this.#models.get(id);
    if (earlier === undefined && this.#models.size === MODELS_MAX) {
      this.notes.push(`model '${id}': a file has at most ${MODELS_MAX} models; left out`);
      return;
    }
    const route = {
      provider: this.#providerOf(offer.server),
      model: labelFrom(offer.upstreamName),
    };
    if (earlier === undefined) {
      this.#models.set(id, {
        id,
        label: labelFrom(id),
        family: familyOf(id),
        owned_by: route.provider,
        context_length: offer.contextLength,
        pricing: [prices],
        routes: [route],
      });
      return;
    }
    if (JSON.stringify(earlier.pricing[0]) !== JSON.stringify(prices)) {
      this.notes.push(
        `model '${id}': its places have different prices; it has those of ` +
          `${earlier.routes[0]?.provider}, not those of ${route.provider}`,
      );
    }
    this.#models.set(id, this.#withRoute(earlier, route));
  }

  /**
   * Returns the sections of the configuration file, after the last `add`; notes the variables of
   * keys.
   */
  catalogue(): PlannedCatalogue {
    const all = [...this.#providers.values()];
    // If two keys had the same variable, one key would be sent to the server of the other.
    const taken = new Set(all.flatMap(({ server }) => server.keyVariable ?? []));
    const providers = all.map(({ name, server }): [string, PlannedProvider] => {
      const variable = server.hasKey ? (server.keyVariable ?? freeVariable(name, taken)) : null;
      if (variable !== null && server.keyVariable === null) {
        taken.add(variable);
        this.notes.push(`provider '${name}': put its API key into the variable ${variable}`);
      }
      return [name, { base_url: server.baseUrl, ...(variable && { api_key_env: variable }) }];
    });
    return { providers: Object.fromEntries(providers), models: [...this.#models.values()] };
  }

  #withRoute(model: PlannedModel, route: PlannedModel["routes"][number]): PlannedModel {
    const known = model.routes.some(
      ({ provider, model: name }) => provider === route.provider && name === route.model,
    );
    if (known) return model;
    if (model.routes.length < ROUTES_MAX) return { ...model, routes: [...model.routes, route] };
    this.notes.push(
      `model '${model.id}': it has ${ROUTES_MAX} routes, the most; ${route.provider} is left out`,
    );
    return model;
  }

  #providerOf(server: ForeignServer): string {
    const known = this.#providers.get(server.identity);
    if (known !== undefined) return known.name;
    const name = this.#freeName(providerNameOf(server.name));
    this.#providers.set(server.identity, { name, server });
    return name;
  }

  #freeName(wish: string): string {
    const taken = new Set([...this.#providers.values()].map(({ name }) => name.toUpperCase()));
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? wish : `${wish}-${count}`;
      if (!taken.has(name.toUpperCase())) return name;
    }
  }
}

function freeVariable(provider: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count += 1) {
    const name = keyVariableOf(count === 1 ? provider : `${provider}-${count}`);
    if (!taken.has(name)) return name;
  }
}
