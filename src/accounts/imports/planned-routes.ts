// Puts providers and models of another product together: one provider for each server and key, one
// model for each name, with a route for each place that serves it.

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

/** A server with a key there; two places with the same `identity` are one provider. */
export interface Place {
  readonly identity: string;
  /** What it is called, where that is still free. */
  readonly name: string;
  readonly baseUrl: string;
  /** The variable with its key; null if it needs a key and the variable is ours to name. */
  readonly keyVariable: string | null;
  readonly hasKey: boolean;
}

/** A model at one place. */
export interface Offer {
  readonly id: string;
  readonly upstreamName: string;
  readonly place: Place;
  readonly contextLength: number;
  readonly prices: PlannedModel["pricing"][0];
}

const MODELS_MAX = 2_000;

/** Collects offers into the two sections of the configuration file. */
export class PlannedRoutes {
  readonly #providers = new Map<string, { name: string; provider: PlannedProvider }>();
  readonly #models = new Map<string, PlannedModel>();
  readonly notes: string[] = [];

  /** Adds a route; the first offer of a model decides its prices. */
  add(offer: Offer): void {
    const { id, prices } = offer;
    if (!isModelId(id)) {
      this.notes.push(`model '${id}': such a name is not possible here; left out`);
      return;
    }
    const earlier = this.#models.get(id);
    if (earlier === undefined && this.#models.size === MODELS_MAX) {
      this.notes.push(`model '${id}': a file has at most ${MODELS_MAX} models; left out`);
      return;
    }
    const route = { provider: this.#providerOf(offer.place), model: labelFrom(offer.upstreamName) };
    if (earlier === undefined) {
      this.#models.set(id, {
        ...{ id, label: labelFrom(id), family: familyOf(id), owned_by: route.provider },
        ...{ context_length: offer.contextLength, pricing: [prices], routes: [route] },
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

  /** The sections of the configuration file. */
  catalogue(): PlannedCatalogue {
    const providers = [...this.#providers.values()].map(
      ({ name, provider }) => [name, provider] as const,
    );
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

  #providerOf({ identity, name, baseUrl, keyVariable, hasKey }: Place): string {
    const known = this.#providers.get(identity);
    if (known !== undefined) return known.name;
    const free = this.#freeName(providerNameOf(name));
    const variable = hasKey ? (keyVariable ?? keyVariableOf(free)) : undefined;
    const provider = { base_url: baseUrl, ...(variable && { api_key_env: variable }) };
    this.#providers.set(identity, { name: free, provider });
    if (variable !== undefined && keyVariable === null) {
      this.notes.push(`provider '${free}': put its API key into the variable ${variable}`);
    }
    return free;
  }

  #freeName(wish: string): string {
    const taken = new Set([...this.#providers.values()].map(({ name }) => name.toUpperCase()));
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? wish : `${wish}-${count}`;
      if (!taken.has(name.toUpperCase())) return name;
    }
  }
}
