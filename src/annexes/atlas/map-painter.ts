// Paints maps as PNG: the drawing, with the shapes and labels for its scale.

import { fileURLToPath } from "node:url";
import { Resvg } from "@resvg/resvg-js";
import { Font } from "./font.ts";
import { type Box, cutAtAntimeridian } from "./geography.ts";
import { drawMap, type MapContent, type MapRequest, viewOf } from "./map-drawing.ts";
import type { PlaceIndex, PlaceLabel } from "./place-index.ts";
import { type Detail, latitudeAt, readWorld, type World } from "./world-shapes.ts";

const LABELS_MAX = 50;
/** From this zoom on, a city is larger than its name. */
const DISTRICTS_ZOOM = 9;

/**
 * A map of this zoom labels only places among this number of the largest, if they fit; null: among
 * all places.
 */
function rankAt(zoom: number): number | null {
  if (zoom <= 3) return 600;
  if (zoom <= 5) return 4_000;
  return zoom <= 7 ? 20_000 : null;
}

function detailAt(zoom: number): Detail {
  if (zoom <= 1) return "110m";
  return zoom <= 5 ? "50m" : "10m";
}

/** The fonts of labels. */
export function readFonts(): MapContent["fonts"] {
  const read = (name: string) =>
    new Font(fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)));
  return { plain: read("DejaVuSans"), bold: read("DejaVuSans-Bold") };
}

export class MapPainter {
  readonly #worlds = new Map<Detail, World>();
  readonly #fonts = readFonts();

  constructor(readonly places: PlaceIndex) {}

  /** Paints a map as PNG. */
  paint(map: MapRequest): Uint8Array {
    const world = this.#worldOf(detailAt(map.zoom));
    const svg = drawMap(map, { world, labels: this.#labelsOf(map), fonts: this.#fonts });
    return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
  }

  #worldOf(detail: Detail): World {
    const world = this.#worlds.get(detail) ?? readWorld(detail);
    this.#worlds.set(detail, world);
    return world;
  }

  #labelsOf(map: MapRequest): PlaceLabel[] {
    const districts = map.zoom >= DISTRICTS_ZOOM;
    const options = { limit: LABELS_MAX, rank: rankAt(map.zoom), districts };
    return boxesOf(map)
      .flatMap((box) => this.places.labels(box, options))
      .sort((a, b) => Number(b.isCapital) - Number(a.isCapital) || b.population - a.population);
  }
}

/** The area of a map: one box, or two at the antimeridian. */
function boxesOf(map: MapRequest): Box[] {
  const { x, y, scale, width, height } = viewOf(map);
  const minLat = latitudeAt(Math.min(1, y + height / scale));
  const maxLat = latitudeAt(Math.max(0, y));
  const minLon = (x - 0.5) * 360;
  const maxLon = (x + width / scale - 0.5) * 360;
  if (maxLon - minLon >= 360) return [{ minLon: -180, minLat, maxLon: 180, maxLat }];
  return cutAtAntimeridian({ minLon, minLat, maxLon, maxLat });
}
