// Draws the samples of a soak as one picture: a small chart for each figure.

import { FIGURE_NAMES, FIGURES, type FigureName, type Sample, shown } from "./figures.ts";

const COLUMNS = 2;
const WIDTH = 460;
const HEIGHT = 120;
const LEFT = 10;
const TOP = 24;

/** Returns an SVG; the line across marks the end of the warm-up. */
export function plotOf(samples: readonly Sample[], warmSeconds: number): string {
  const charts = FIGURE_NAMES.map((name, index) => {
    const x = (index % COLUMNS) * (WIDTH + 2 * LEFT) + LEFT;
    const y = Math.floor(index / COLUMNS) * (HEIGHT + 2 * TOP) + TOP;
    return `<g transform="translate(${x} ${y})">${chartOf(name, samples, warmSeconds)}</g>`;
  });
  const width = COLUMNS * (WIDTH + 2 * LEFT);
  const height = Math.ceil(FIGURE_NAMES.length / COLUMNS) * (HEIGHT + 2 * TOP);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"`,
    `  font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>`,
    ...charts,
    "</svg>\n",
  ].join("\n");
}

/** The axis of values begins at zero, so that a change looks as large as it is. */
function chartOf(name: FigureName, samples: readonly Sample[], warmSeconds: number): string {
  const values = samples.map((sample) => sample.values[name]);
  const most = Math.max(...values, 0);
  const end = Math.max(samples.at(-1)?.atSeconds ?? 0, 1);
  const xOf = (seconds: number) => ((seconds / end) * WIDTH).toFixed(1);
  const yOf = (value: number) => (HEIGHT * (1 - value / (most || 1))).toFixed(1);
  const points = samples.map(({ atSeconds }, at) => `${xOf(atSeconds)},${yOf(values[at] ?? 0)}`);
  const { title, unit } = FIGURES[name];
  const label = `${title}: at most ${shown(name, most)} ${unit}`.trimEnd();
  const warm = xOf(Math.min(warmSeconds, end));
  return [
    `<text y="-6">${label}</text>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#ccc"/>`,
    `<line x1="${warm}" x2="${warm}" y2="${HEIGHT}" stroke="#c60" stroke-dasharray="4"/>`,
    `<polyline points="${points.join(" ")}" fill="none" stroke="#06c"/>`,
  ].join("");
}
