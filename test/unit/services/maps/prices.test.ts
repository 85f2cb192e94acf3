import { expect, test } from "bun:test";
import type { PicoUsd } from "../../../../src/core/money/money.ts";
import { ACTIONS, type MapsAction } from "../../../../src/services/maps/actions.ts";
import { costOf, MAPS_PRICES } from "../../../../src/services/maps/prices.ts";

/** SPEC 4.5: $0.0500 per 1,000 calls. */
const STANDARD: readonly MapsAction[] = [
  ...(["closures", "departures", "fuel_prices", "geocode", "incidents", "journey"] as const),
  ...(["place_at", "poi", "rail", "reverse", "road_classes", "route"] as const),
  ...(["route_traffic", "speed_cameras", "stops", "traffic_status", "transit", "weather"] as const),
];
/** SPEC 4.5: $0.0050 per 1,000 calls. */
const TILES: readonly MapsAction[] = ["site_image", "site_images"];

test("every action of SPEC 4.5 has a price, and no other action exists", () => {
  expect(Object.keys(ACTIONS).sort()).toEqual([...STANDARD, ...TILES].sort());
});

test("a standard action costs exactly $0.00005, a tile exactly $0.000005", () => {
  const costs = (actions: readonly MapsAction[]) =>
    actions.map((action) => costOf(action, MAPS_PRICES) as bigint);
  expect(costs(STANDARD)).toEqual(STANDARD.map(() => 50_000n));
  expect(costs(TILES)).toEqual(TILES.map(() => 5_000n));
});

test("configured prices are charged by category, rounded up to a whole nano-USD", () => {
  const prices = { standard: 1_001n as PicoUsd, tiles: 0n as PicoUsd };
  expect(costOf("geocode", prices) as bigint).toBe(2n);
  expect(costOf("site_image", prices) as bigint).toBe(0n);
});
