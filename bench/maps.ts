// `bun bench/maps.ts` measures the cost of the built-in maps. CPU is that of the whole process, its
// threads included; a figure is the median over its samples, so that other work on the machine
// hardly shows.

import { temporaryFolder } from "../scripts/local/processes.mjs";
import { Atlas } from "../src/annexes/atlas/atlas.ts";
import type { MapRequest } from "../src/annexes/atlas/map-drawing.ts";
import { placeFile } from "../src/annexes/atlas/place-file.ts";
import { PlaceIndex } from "../src/annexes/atlas/place-index.ts";
import { readPlaces } from "../src/annexes/atlas/place-sources.ts";
import { openDataFile } from "../src/upstream/data-file.ts";
import { realClock } from "../test/support/fakes/fake-clock.ts";

interface Figure {
  readonly what: string;
  readonly aim: string;
  readonly value: number;
  readonly unit: "s" | "ms";
}

const BATCH = 20;
const BATCHES = 100;
const ACCOUNT = "acct_maps";
const MAPS = 30;
const EVERY_NTH_PLACE = 97;
const log = { info: progress, warn: progress, error: progress };

function progress(fields: object, message: string): void {
  console.log(`  ${message} ${JSON.stringify(fields)}`);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN;
}

/** The median CPU of one call, measured in batches since one is too short for the clock. */
function perCall(call: (index: number) => void): number {
  for (let index = 0; index < BATCH * 10; index += 1) call(index);
  return median(
    Array.from({ length: BATCHES }, (_, batch) => {
      const before = cpuMs();
      for (let index = 0; index < BATCH; index += 1) call(batch * BATCH + index);
      return (cpuMs() - before) / BATCH;
    }),
  );
}

/** CPU and time of one awaited piece of work. */
async function timed(work: () => Promise<unknown>): Promise<{ cpu: number; wall: number }> {
  const before = cpuMs();
  const start = performance.now();
  await work();
  return { cpu: cpuMs() - before, wall: performance.now() - start };
}

async function main(): Promise<void> {
  const folder = temporaryFolder("farebox-bench-maps-");
  try {
    print(await measure(folder.path));
  } finally {
    folder.remove();
  }
}

async function measure(directory: string): Promise<Figure[]> {
  const file = placeFile(directory, log);
  const build = await timed(async () => (await openDataFile(file)).close());
  const reopen = await timed(async () => (await openDataFile(file)).close());
  const index = new PlaceIndex(await openDataFile(file));
  const sample = [...readPlaces()].filter((_, at) => at % EVERY_NTH_PLACE === 0);
  const placeAt = (at: number) => sample[at % sample.length] ?? { name: "", lat: 0, lon: 0 };
  const geocode = perCall((at) => {
    index.find({ query: placeAt(at).name, limit: 5, country: null, near: null });
  });
  // A common name in a country that has no place of this name.
  const elsewhere = perCall(() => {
    index.find({ query: "san", limit: 20, country: "AQ", near: null });
  });
  const reverse = perCall((at) => {
    const { lat, lon } = placeAt(at);
    index.nearest({ lat: lat + 0.01, lon: lon * 0.999 });
  });
  const atlas = new Atlas({ directory, clock: realClock, log });
  const size = { width: 600, height: 400, style: "light", marker: true } as const;
  const mapAt = (at: number): MapRequest => {
    const { lat, lon } = placeAt(at * 7);
    return { lat: Math.max(-80, Math.min(80, lat)), lon, zoom: 4 + (at % 7), ...size };
  };
  // The first maps read shapes and compile code, so these later ones are measured.
  for (let at = MAPS; at < 2 * MAPS; at += 1) await atlas.draw(mapAt(at), ACCOUNT);
  const fresh: { cpu: number; wall: number }[] = [];
  for (let at = 0; at < MAPS; at += 1)
    fresh.push(await timed(() => atlas.draw(mapAt(at), ACCOUNT)));
  const cached: number[] = [];
  for (let at = 0; at < MAPS; at += 1) {
    cached.push((await timed(() => atlas.draw(mapAt(at), ACCOUNT))).cpu);
  }
  atlas.close();
  return [
    { what: "building the data file, CPU", aim: "< 5 s", value: build.cpu / 1_000, unit: "s" },
    { what: "building the data file, time", aim: "< 5 s", value: build.wall / 1_000, unit: "s" },
    { what: "opening it again", aim: "< 50 ms", value: reopen.wall, unit: "ms" },
    { what: "geocode", aim: "<= 1 ms", value: geocode, unit: "ms" },
    { what: "geocode, nothing found", aim: "<= 8 ms", value: elsewhere, unit: "ms" },
    { what: "reverse", aim: "<= 0.2 ms", value: reverse, unit: "ms" },
    { what: "a new map", aim: "< 60 ms", value: median(fresh.map(({ cpu }) => cpu)), unit: "ms" },
    { what: "a map of the cache", aim: "< 1 ms", value: median(cached), unit: "ms" },
  ];
}

function print(figures: readonly Figure[]): void {
  for (const { what, aim, value, unit } of figures) {
    console.log(`${what.padEnd(30)} ${aim.padEnd(10)} ${value.toPrecision(3)} ${unit}`);
  }
}

await main();
