import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { FIGURE_NAMES, type FigureName, type Sample } from "./figures.ts";
import { soak } from "./soak.ts";
import { judge, slope, warmMinutesOf } from "./verdict.ts";

/**
 * An hour of samples that are all 100 MB except for one figure, whose values come from `valueAt`.
 */
function hour(name: FigureName, valueAt: (minute: number) => number): Sample[] {
  const same = Object.fromEntries(FIGURE_NAMES.map((one) => [one, 100e6]));
  return Array.from({ length: 361 }, (_, at) => ({
    atSeconds: at * 10,
    values: { ...same, [name]: valueAt(at / 6) } as Sample["values"],
  }));
}

const grown = (samples: readonly Sample[]) =>
  judge(samples, 600).flatMap(({ name, hasGrown }) => (hasGrown ? [name] : []));

test("a load of every service is answered and booked correctly", async () => {
  const folder = temporaryFolder("farebox-soak-test-");
  const said: string[] = [];
  try {
    const isRight = await soak({
      minutes: 0.08,
      rate: 200,
      seed: 7,
      folder: folder.path,
      isJudged: false,
      say: (line) => said.push(line),
      size: { gateway: 4, application: 2 },
      sampleMs: 1_000,
      ownPostgres: false,
    });
    expect([isRight, said.find((line) => line.startsWith("UNEXPECTED"))]).toEqual([
      true,
      undefined,
    ]);
    const lines = readFileSync(join(folder.path, "soak.csv"), "utf8").trim().split("\n");
    expect(lines[0]).toBe(`seconds,${FIGURE_NAMES.join(",")}`);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.join()).not.toContain("NaN");
    expect(readFileSync(join(folder.path, "soak.svg"), "utf8")).toContain("<polyline");
  } finally {
    folder.remove();
  }
}, 400_000);

test("a figure that grows by a megabyte a minute after the warm-up is reported", () => {
  const leak = hour("apiRss", (minute) => 100e6 + minute * 1e6);
  expect(grown(leak)).toEqual(["apiRss"]);
  const judged = judge(leak, 600).find(({ name }) => name === "apiRss");
  expect(judged?.perHour).toBeCloseTo(60e6, -3);
});

test("a judged soak has warmed up for longer than Redis keeps idle accounts", () => {
  expect([3, 21, 48, 60, 600].map(warmMinutesOf)).toEqual([1, 7, 8, 10, 10]);
});

test("a figure that grows only while it warms up, or swings, has not grown", () => {
  expect(grown(hour("apiRss", (minute) => 100e6 + Math.min(minute, 10) * 20e6))).toEqual([]);
  expect(grown(hour("apiHeap", (minute) => 100e6 + (minute % 3) * 20e6))).toEqual([]);
});

test("a figure that is only shown is not judged", () => {
  expect(grown(hour("rows", (minute) => minute * 100e6))).toEqual([]);
});

test("the slope is that of most points, whatever a few others are", () => {
  const points = Array.from({ length: 50 }, (_, at) => [at, at === 25 ? 9e9 : 3 * at] as const);
  expect(slope(points)).toBe(3);
});
