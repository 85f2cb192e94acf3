// The colours of the groups of a chart.

import { SERVICE_NAMES } from "../../src/core/access/services.ts";

const SERVICES: readonly string[] = SERVICE_NAMES;

/** The number of colours. A chart puts further groups together in the last colour. */
export const COLOURS_MAX = 8;

/** The colour of the group at this place of a chart, the first one at 0. */
export function seriesColour(index: number): string {
  return `var(--fb-series-${Math.min(index + 1, COLOURS_MAX)})`;
}

/** The colour of a service, which is the same in every chart. */
export function serviceColour(name: string): string {
  const index = SERVICES.indexOf(name);
  return seriesColour(index < 0 ? COLOURS_MAX - 1 : index);
}

/** The colour of the groups that are put together. */
export const OTHERS_COLOUR = seriesColour(COLOURS_MAX - 1);
