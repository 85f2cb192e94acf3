// Defines and reads the routes of a model in the configuration file.

import { type Static, Type } from "@sinclair/typebox";
import { closed, line, name, whole } from "../../../core/configuration/fields.ts";
import type { SectionContext } from "../../../core/configuration/section.ts";
import { type ModelEntry, type ProviderEntry, type Route, SPREADS } from "../models/catalogue.ts";
import { bands, rows } from "./price-schema.ts";
import { toPrices } from "./price-section.ts";

const IN_ORDER = "order";
const SPREAD_NAMES = [IN_ORDER, ...SPREADS] as const;

/** The fields of a model about its routes. */
export const ROUTE_FIELDS = {
  spread: Type.Optional(
    Type.Union(
      SPREAD_NAMES.map((spread) => Type.Literal(spread)),
      {
        description:
          "How conversations are divided among the routes: order (the default) tries them in " +
          "order; weight, price and latency keep each conversation at one route",
        errorMessage: `must be one of ${SPREAD_NAMES.join(", ")}`,
      },
    ),
  ),
  routes: Type.Array(
    Type.Object(
      {
        provider: name("A name under providers"),
        model: line("The model's name there"),
        weight: Type.Optional(
          whole(
            0,
            1_000,
            "Its share of conversations beside the weights of other routes; default 1; 0: only " +
              "while no other route answers",
          ),
        ),
        buying: bands("What you pay there, as price bands; left out: not known"),
        buying_prices: rows("What you pay there, as price rows, in place of buying"),
      },
      closed,
    ),
    {
      minItems: 1,
      maxItems: 16,
      description: "Tried in order until one answers, unless there is a spread",
      errorMessage: "must be a list of 1 to 16 routes",
    },
  ),
};

type RoutesFile = Pick<ModelFile, "routes" | "spread">;
type ModelFile = Static<ReturnType<typeof Type.Object<typeof ROUTE_FIELDS>>>;

interface RouteContext extends Pick<SectionContext, "json" | "refuse"> {
  /** The place of the model. */
  readonly pointer: string;
  /** The providers by name. */
  readonly known: ReadonlyMap<string, ProviderEntry>;
}

/** The routes of an entry, and how its conversations are divided among them. */
export function toRoutes(
  file: RoutesFile,
  context: RouteContext,
): Pick<ModelEntry, "routes" | "spread"> {
  const { pointer, known, refuse } = context;
  const routes = file.routes.map((route, index): Route => {
    const at = `${pointer}/routes/${index}`;
    const { provider, model, weight, buying: bands, buying_prices: rows } = route;
    if (!known.has(provider)) refuse(`${at}/provider`, `'${provider}' is not a provider`);
    const where = { bandsAt: `${at}/buying`, rowsAt: `${at}/buying_prices` };
    const buying = toPrices({ bands, rows, ...where }, context);
    return {
      provider,
      model,
      ...(buying !== undefined && { buying }),
      ...(weight !== undefined && { weight }),
    };
  });
  const { spread = IN_ORDER } = file;
  routes.forEach(({ weight, buying }, index) => {
    const at = `${pointer}/routes/${index}`;
    if (spread === IN_ORDER && weight !== undefined) {
      refuse(`${at}/weight`, 'has no effect without a spread, such as "weight"');
    }
    if (spread === "price" && buying === undefined) {
      refuse(`${at}/buying`, "is missing: the spread by price compares it");
    }
  });
  if (routes.every(({ weight }) => weight === 0)) {
    refuse(`${pointer}/routes/0/weight`, "must not be 0 for every route");
  }
  return spread === IN_ORDER ? { routes } : { routes, spread };
}
