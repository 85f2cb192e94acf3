// Lines of public transport, for every kind of server.

import type { LineAnswer } from "../../transit-answers.ts";
import type { TransitMode } from "../../vocabulary.ts";

/** One entry per line: its directions and variants are not separate lines. */
export function distinctLines(lines: readonly LineAnswer[]): LineAnswer[] {
  const distinct = new Map<string, LineAnswer>();
  for (const one of lines) {
    const key = JSON.stringify([one.mode, one.line, one.operator]);
    if (!distinct.has(key)) distinct.set(key, one);
  }
  return [...distinct.values()];
}

/** MOTIS's names of the modes, including those of older releases. */
export const MOTIS_MODES: Readonly<Record<string, TransitMode>> = {
  WALK: "walk",
  BUS: "bus",
  COACH: "bus",
  TRAM: "tram",
  SUBWAY: "subway",
  METRO: "suburban",
  SUBURBAN: "suburban",
  REGIONAL_RAIL: "regional_rail",
  REGIONAL_FAST_RAIL: "regional_rail",
  RAIL: "regional_rail",
  LONG_DISTANCE: "long_distance_rail",
  HIGHSPEED_RAIL: "long_distance_rail",
  NIGHT_RAIL: "long_distance_rail",
  FERRY: "ferry",
  AIRPLANE: "air",
  FUNICULAR: "cable",
  CABLE_CAR: "cable",
  AERIAL_LIFT: "cable",
  AREAL_LIFT: "cable",
};
