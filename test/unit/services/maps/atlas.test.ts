import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { temporaryFolder } from "../../../../scripts/local/processes.mjs";
import { Atlas } from "../../../../src/annexes/atlas/atlas.ts";
import { fillPath, linePath, type View } from "../../../../src/annexes/atlas/clip.ts";
import { LabelSpace } from "../../../../src/annexes/atlas/label-space.ts";
import {
  DRAWN_BY,
  drawMap,
  type MapRequest,
  metresPerPixel,
  viewOf,
} from "../../../../src/annexes/atlas/map-drawing.ts";
import { readFonts } from "../../../../src/annexes/atlas/map-painter.ts";
import { readWorld, type Shape, toWorld } from "../../../../src/annexes/atlas/world-shapes.ts";
import { FakeClock, realClock } from "../../../support/fakes/fake-clock.ts";
import { silent } from "../../../support/fakes/silent-log.ts";
import { testDataDirectory } from "../../../support/stores/services.ts";

const ACCOUNT = "acct_maps";
const MAP: MapRequest = {
  lat: 52.5,
  lon: 13.4,
  zoom: 4,
  width: 300,
  height: 200,
  style: "light",
  marker: true,
};

describe("the atlas", () => {
  let atlas: Atlas;
  beforeEach(() => {
    atlas = new Atlas({ directory: testDataDirectory(), clock: realClock, log: silent });
  });
  afterEach(() => atlas.close());

  test("draws a map once, however many calls request it at once or later", async () => {
    const [one, other] = await Promise.all([
      atlas.draw(MAP, ACCOUNT),
      atlas.draw({ ...MAP }, ACCOUNT),
    ]);
    expect(one).toStartWith("data:image/png;base64,");
    expect(other).toBe(one);
    // A cached map needs no thread.
    atlas.close();
    expect(await atlas.draw(MAP, ACCOUNT)).toBe(one);
  });

  test("draws every corner of the world in every size and style", async () => {
    const positions = [
      [85, -180],
      [-85, 180],
      [0, 0],
      [-17, 179.9],
    ] as const;
    for (const [lat, lon] of positions) {
      for (const zoom of [0, 3, 10]) {
        const map = {
          lat,
          lon,
          zoom,
          width: 1024,
          height: 64,
          style: "dark",
          marker: false,
        } as const;
        expect(await atlas.draw(map, ACCOUNT)).toStartWith("data:image/png;base64,");
      }
    }
  });

  test("that was closed fails its calls, and leaves none waiting", async () => {
    const early = new Atlas({ directory: testDataDirectory(), clock: realClock, log: silent });
    const opening = early.draw(MAP, ACCOUNT).catch(String);
    early.close();
    expect(await opening).toContain("The atlas thread ended");
    await atlas.build();
    const drawing = atlas.draw(MAP, ACCOUNT).catch(String);
    await Promise.resolve();
    atlas.close();
    expect(await drawing).toContain("The atlas thread ended");
    expect(await atlas.draw({ ...MAP, zoom: 5 }, ACCOUNT).catch(String)).toContain(
      "The atlas thread ended",
    );
  });

  test("whose data file cannot be built logs that, and fails its calls", async () => {
    const folder = temporaryFolder("farebox-test-atlas-");
    const path = `${folder.path}/file`;
    await Bun.write(path, "no folder");
    const errors: object[] = [];
    const log = { ...silent, error: (fields: object) => void errors.push(fields) };
    const clock = new FakeClock();
    const broken = new Atlas({ directory: path, clock, log });
    expect(await broken.draw(MAP, ACCOUNT).catch(String)).toContain("The atlas thread ended");
    // The build is not tried again with every call.
    expect(await broken.draw(MAP, ACCOUNT).catch(String)).toContain("The atlas thread ended");
    expect(errors).toHaveLength(1);
    clock.advance(10_000);
    expect(await broken.draw(MAP, ACCOUNT).catch(String)).toContain("The atlas thread ended");
    expect(errors).toHaveLength(2);
    broken.close();
    folder.remove();
  });
});

describe("a map", () => {
  const content = { world: readWorld("110m"), fonts: readFonts() };

  test("has the site in its middle, and a scale that holds there", () => {
    const view = viewOf(MAP);
    const { x, y } = toWorld(MAP);
    expect((x - view.x) * view.scale).toBeCloseTo(150, 6);
    expect((y - view.y) * view.scale).toBeCloseTo(100, 6);
    expect(metresPerPixel(0, 0)).toBeCloseTo(156_543, 0);
    expect(metresPerPixel(60, 1)).toBeCloseTo(39_136, 0);
  });

  test("shows labels whose letters the font has, and names the sources of its data", () => {
    const draw = (...names: string[]) => {
      const labels = names.map((name) => ({ ...MAP, name, population: 5, isCapital: false }));
      return drawMap({ ...MAP, marker: false }, { ...content, labels });
    };
    const texts = (svg: string) => svg.split("paint-order").length - 1;
    // The footer has two texts: the scale, and the sources.
    expect(texts(draw())).toBe(2);
    expect(texts(draw("Zürich"))).toBe(3);
    expect(texts(draw("東京"))).toBe(2);
    expect(draw("<b>&\"'</b>")).not.toContain("<b>");
    expect(DRAWN_BY.join()).toMatch(/Natural Earth.*GeoNames \(CC BY 4.0\)/);
  });

  test("over the antimeridian shows the land of both sides, without lines across", () => {
    const svg = drawMap({ ...MAP, lat: 66, lon: 180, zoom: 3 }, { ...content, labels: [] });
    const land = /<path d="([^"]+)"/.exec(svg)?.[1] ?? "";
    const xs = [...land.matchAll(/(-?[\d.]+),-?[\d.]+/g)].map(([, x]) => Number(x));
    expect(Math.min(...xs)).toBeLessThan(100);
    expect(Math.max(...xs)).toBeGreaterThan(200);
    expect(Math.max(...xs)).toBeLessThanOrEqual(304);
  });

  test("wider than the world repeats the world to both edges", () => {
    for (const lon of [-180, 0, 180]) {
      const svg = drawMap({ ...MAP, lon, zoom: 0, width: 1024 }, { ...content, labels: [] });
      const land = /<path d="([^"]+)"/.exec(svg)?.[1] ?? "";
      const columns = [...land.matchAll(/(-?[\d.]+),-?[\d.]+/g)].map(([, x]) => Number(x) >> 6);
      const seen = new Set(columns.filter((column) => column >= 0 && column < 16));
      expect(seen.size).toBe(16);
    }
  });
});

const VIEW: View = { x: 0, y: 0, scale: 100, width: 100, height: 100 };

function shape(...numbers: number[]): Shape {
  const points = Float64Array.from(numbers);
  const xs = numbers.filter((_, at) => at % 2 === 0);
  const ys = numbers.filter((_, at) => at % 2 === 1);
  const [minX, maxX] = [Math.min(...xs), Math.max(...xs)];
  return { points, minX, maxX, minY: Math.min(...ys), maxY: Math.max(...ys) };
}

test("shapes are cut to the picture: a covering shape fills it, an outside one is left out", () => {
  const around = shape(-5, -5, 5, -5, 5, 5, -5, 5, -5, -5);
  expect(fillPath([around], VIEW)).toMatch(/^M.*Z/);
  const xs = [...fillPath([around], VIEW).matchAll(/(-?\d+),/g)].map(([, x]) => Number(x));
  expect([Math.min(...xs), Math.max(...xs)]).toEqual([-4, 104]);
  expect(fillPath([shape(3, 3, 4, 3, 4, 4, 3, 3)], VIEW)).toBe("");
  expect(linePath([shape(0.2, 0.5, 0.8, 0.5)], VIEW)).toBe("M20,50L80,50");
  expect(linePath([shape(0.5, 0.5, 0.5, 9, 0.6, 9, 0.6, 0.5)], VIEW)).toBe(
    "M50,50L50,900M60,900L60,50",
  );
});

test("labels never overlap, nor leave the map", () => {
  const space = new LabelSpace(200, 100);
  const text = { width: 40, size: 10 };
  expect(space.takeText(text, { x: 10, y: 50 })).toBe(true);
  expect(space.takeText(text, { x: 20, y: 52 })).toBe(false);
  expect(space.takeText(text, { x: 170, y: 20 })).toBe(false);
  expect(space.takeBeside(text, { x: 195, y: 80 })).toEqual({ x: 149, y: 83.5 });
});

test("outlines are those of the font: straight, curved, and made of parts", () => {
  const { plain, bold } = readFonts();
  // DejaVu Sans has 2048 units; an l is 569 of them wide, a bold one 702.
  expect(plain.outline("l", 2048)).toEqual({
    path: "M193,-1556L193,-1556L377,-1556L377,0L193,0Z",
    width: 569,
  });
  expect(bold.outline("l", 2048)?.width).toBe(702);
  expect(plain.outline("ll", 20.48)?.width).toBeCloseTo(11.38, 6);
  const [o, umlaut] = ["o", "ö"].map((letter) => plain.outline(letter, 100)?.path ?? "");
  expect(o).toContain("Q");
  expect(umlaut).toContain(o ?? "");
  expect((umlaut ?? "").split("Z").length).toBeGreaterThan((o ?? "").split("Z").length);
  expect(plain.outline("o\u0308", 100)).toEqual(plain.outline("ö", 100));
  expect(plain.outline("東", 100)).toBeNull();
  expect(plain.outline("", 100)).toEqual({ path: "", width: 0 });
});
