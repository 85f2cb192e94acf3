// Draws a map as SVG: land and borders, names of places, the site, a scale, and the attribution.

import { fillPath, linePath, type View, worldsIn } from "./clip.ts";
import type { Font, Outline } from "./font.ts";
import type { Position } from "./geography.ts";
import { LabelSpace, type TextPlace } from "./label-space.ts";
import type { PlaceLabel } from "./place-index.ts";
import { toWorld, type World } from "./world-shapes.ts";

export interface MapRequest extends Position {
  readonly zoom: number;
  readonly width: number;
  readonly height: number;
  readonly style: "light" | "dark";
  readonly marker: boolean;
}

interface Colours {
  readonly sea: string;
  readonly land: string;
  readonly coast: string;
  readonly border: string;
  readonly text: string;
  readonly halo: string;
  readonly country: string;
  readonly marker: string;
}

const COLOURS: Record<MapRequest["style"], Colours> = {
  light: {
    sea: "#c9dfee",
    land: "#f7f4ec",
    coast: "#8fb3cc",
    border: "#b9a7a0",
    text: "#333333",
    halo: "#ffffff",
    country: "#8a7f7a",
    marker: "#d7263d",
  },
  dark: {
    sea: "#16222e",
    land: "#2b343c",
    coast: "#466079",
    border: "#5d6670",
    text: "#e6e6e6",
    halo: "#1b242c",
    country: "#8b97a3",
    marker: "#ff5c6c",
  },
};

const TILE_PIXELS = 256;
const EQUATOR_METRES = 40_075_016.686;
const SCALE_BAR_PIXELS = 110;
const SOURCE_SIZE = 8;
/** A country with fewer square pixels gets no name on the map. */
const COUNTRY_PIXELS = 3_500;
/** From this zoom on, names of countries would only take room from names of places. */
const COUNTRIES_ZOOM_MAX = 6;

export const DRAWN_BY = ["Natural Earth", "GeoNames (CC BY 4.0)"] as const;

/** Returns the part of the world that a map shows. */
export function viewOf({ zoom, width, height, ...site }: MapRequest): View {
  const scale = TILE_PIXELS * 2 ** zoom;
  const { x, y } = toWorld(site);
  return { x: x - width / 2 / scale, y: y - height / 2 / scale, scale, width, height };
}

/** The width of one pixel in metres at a latitude. */
export function metresPerPixel(lat: number, zoom: number): number {
  return (EQUATOR_METRES * Math.cos((lat * Math.PI) / 180)) / (TILE_PIXELS * 2 ** zoom);
}

/** The content of a map besides the request. Labels are sorted by inhabitants, most first. */
export interface MapContent {
  readonly world: World;
  readonly labels: readonly PlaceLabel[];
  readonly fonts: { readonly plain: Font; readonly bold: Font };
}

/** Draws the map as SVG. */
export function drawMap(request: MapRequest, content: MapContent): string {
  const { width, height, style, zoom } = request;
  const { world } = content;
  const colours = COLOURS[style];
  const view = viewOf(request);
  const canvas = { ...content, view, colours, space: new LabelSpace(width, height) };
  const pin = request.marker ? drawPin(canvas) : "";
  const footer = drawFooter(request, canvas);
  const places = drawPlaces(canvas);
  const countries = zoom <= COUNTRIES_ZOOM_MAX ? drawCountries(canvas) : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
  <rect width="100%" height="100%" fill="${colours.sea}"/>
  <path d="${fillPath(world.land, view)}" fill="${colours.land}" fill-rule="evenodd"
  stroke="${colours.coast}" stroke-width="0.8" stroke-linejoin="round"/>
  <path d="${linePath(world.borders, view)}" fill="none" stroke="${colours.border}"
  stroke-width="1" stroke-dasharray="4 2"/>${countries}${places}${pin}${footer}</svg>`;
}

interface Canvas extends MapContent {
  readonly view: View;
  readonly colours: Colours;
  readonly space: LabelSpace;
}

function drawCountries({ world, view, colours, space, fonts }: Canvas): string {
  let drawn = "";
  for (const { name, x, y, area } of world.countries) {
    const pixels = area * view.scale ** 2;
    if (pixels < COUNTRY_PIXELS) continue;
    const size = Math.min(15, 8 + Math.log10(pixels / COUNTRY_PIXELS) * 4);
    const outline = fonts.plain.outline(name.toUpperCase(), size);
    if (outline === null) continue;
    for (const offset of worldsIn(view)) {
      const px = (x + offset - view.x) * view.scale - outline.width / 2;
      const py = (y - view.y) * view.scale;
      if (!space.takeText({ ...outline, size }, { x: px, y: py })) continue;
      drawn += `<path ${moved(px, py)} d="${outline.path}" fill="${colours.country}"/>`;
    }
  }
  return drawn;
}

function drawPlaces({ labels, view, colours, space, fonts }: Canvas): string {
  let drawn = "";
  for (const label of labels) {
    const at = toWorld(label);
    const size = label.isCapital || label.population > 1_000_000 ? 12 : 10.5;
    const inWorld = [-1, 0, 1].map((offset) => (at.x + offset - view.x) * view.scale);
    const x = inWorld.find((one) => one >= 0 && one <= view.width);
    const y = (at.y - view.y) * view.scale;
    if (x === undefined || y < 0 || y > view.height) continue;
    const outline = (label.isCapital ? fonts.bold : fonts.plain).outline(label.name, size);
    const text = outline === null ? null : space.takeBeside({ ...outline, size }, { x, y });
    if (outline === null || text === null) continue;
    const dot = label.isCapital
      ? `<rect x="${round(x - 2.5)}" y="${round(y - 2.5)}" width="5" height="5"`
      : `<circle cx="${round(x)}" cy="${round(y)}" r="2.2"`;
    drawn += `${dot} fill="${colours.text}" stroke="${colours.halo}"/>`;
    drawn += drawText(outline, text, colours);
  }
  return drawn;
}

/** Text with a halo, to be readable on any background. */
function drawText({ path }: Outline, { x, y }: TextPlace, colours: Colours): string {
  return `<path ${moved(x, y)} d="${path}" fill="${colours.text}" stroke="${colours.halo}"
    stroke-width="2.5" stroke-linejoin="round" paint-order="stroke"/>`;
}

/** Draws a pin; its tip is at the site, in the middle of the map. */
function drawPin({ view, colours, space }: Canvas): string {
  const [x, y] = [view.width / 2, view.height / 2];
  space.take({ minX: x - 10, minY: y - 28, maxX: x + 10, maxY: y - 10 });
  // Keeps the area next to the tip free for the name of the place itself.
  space.take({ minX: x - 5, minY: y - 10, maxX: x + 5, maxY: y - 4 });
  return `<path d="M${x},${y}c-2,-6 -9,-10 -9,-18a9,9 0 1 1 18,0c0,8 -7,12 -9,18z"
    fill="${colours.marker}" stroke="${colours.halo}" stroke-width="1.5"/><circle cx="${x}"
    cy="${y - 18}" r="3.2" fill="${colours.halo}"/>`;
}

/** Draws the scale on the left, and the attribution on the right. */
function drawFooter(request: MapRequest, { colours, space, fonts }: Canvas): string {
  const { width, height, lat, zoom } = request;
  const perPixel = metresPerPixel(lat, zoom);
  const metres = roundLength(Math.min(SCALE_BAR_PIXELS, width / 3) * perPixel);
  const bar = metres / perPixel;
  const y = height - 8;
  space.take({ minX: 0, minY: height - 24, maxX: bar + 20, maxY: height });
  const length = fonts.plain.outline(metres >= 1_000 ? `${metres / 1_000} km` : `${metres} m`, 9);
  const source = `© ${DRAWN_BY.join(", ")}`;
  const whole = fonts.plain.outline(source, SOURCE_SIZE);
  if (length === null || whole === null) throw new Error("The font lacks letters of the footer");
  const size = SOURCE_SIZE * Math.min(1, (width - bar - 30) / whole.width);
  const fitting = fonts.plain.outline(source, size) ?? whole;
  const sourceX = width - fitting.width - 5;
  space.take({ minX: sourceX - 3, minY: height - 14, maxX: width, maxY: height });
  const line = `d="M8,${y - 4}v4h${round(bar)}v-4" fill="none"`;
  return `<path ${line} stroke="${colours.halo}" stroke-width="3.5"/>
    <path ${line} stroke="${colours.text}" stroke-width="1.3"/>
    ${drawText(length, { x: 8 + (bar - length.width) / 2, y: y - 3 }, colours)}
    ${drawText(fitting, { x: sourceX, y: height - 5 }, colours)}`;
}

/**
 * Returns the greatest length of 1, 2 or 5 times a power of ten that is not longer than `metres`.
 */
function roundLength(metres: number): number {
  const power = 10 ** Math.floor(Math.log10(metres));
  return ([5, 2, 1].find((one) => one * power <= metres) ?? 1) * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function moved(x: number, y: number): string {
  return `transform="translate(${round(x)},${round(y)})"`;
}
