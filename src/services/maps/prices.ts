// Prices a maps call (SPEC 4.5): each category has one price, known before the call is made.

import { charge, type NanoUsd, type PicoUsd, price } from "../../core/money/money.ts";
import { ACTIONS, type Category, type MapsAction } from "./actions.ts";

export type MapsPrices = Readonly<Record<Category, PicoUsd>>;

/** SPEC 4.5: USD per 1,000 calls. */
export const MAPS_PRICES: MapsPrices = {
  standard: price("0.0500", 1_000),
  tiles: price("0.0050", 1_000),
};

/** The exact cost of one call, which is also its upper bound. */
export function costOf(action: MapsAction, prices: MapsPrices): NanoUsd {
  return charge([[1, prices[ACTIONS[action].category]]]);
}
