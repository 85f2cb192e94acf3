// Tests latencies in bands: the accuracy of their percentiles, and that packing loses nothing.

import { expect, test } from "bun:test";
import { BAND_STARTS, bandOf, LatencyCounts } from "../../../src/core/latency-bands.ts";
import { Random } from "../../support/random.ts";

const SIZES: readonly (readonly [band: number, count: number])[] = [
  [0, 1],
  [3, 127],
  [4, 128],
  [90, 16_384],
  [149, 70_000_000],
];

test("a percentile of bands is never below the exact one, and at most ten percent above", () => {
  const random = new Random(7);
  for (let round = 0; round < 200; round += 1) {
    const latencies = Array.from({ length: 1 + Math.floor(random.next() * 300) }, () =>
      Math.floor(10 ** (random.next() * 6)),
    ).sort((a, b) => a - b);
    const counts = new LatencyCounts();
    for (const ms of latencies) counts.add(bandOf(ms), 1);
    const packed = new LatencyCounts();
    packed.addPacked(counts.pack());
    const exact = latencies[Math.ceil(latencies.length * 0.95) - 1] ?? 0;
    const read = packed.percentile(95) ?? -1;
    expect(read).toBeGreaterThanOrEqual(exact);
    expect(read).toBeLessThanOrEqual(exact * 1.1);
  }
  expect(new LatencyCounts().percentile(95)).toBeNull();
});

test("a band's number fits into a byte, and each band begins where the previous one ends", () => {
  expect(BAND_STARTS.length).toBeLessThanOrEqual(256);
  for (const [band, start] of BAND_STARTS.entries()) {
    expect(bandOf(start)).toBe(band);
    if (band > 0) expect(bandOf(start - 1)).toBe(band - 1);
  }
});

test("counts of any size are packed and read again, even several texts in a row", () => {
  const counts = new LatencyCounts();
  for (const [band, count] of SIZES) counts.add(band, count);
  const twice = new LatencyCounts();
  twice.addPacked(Buffer.concat([counts.pack(), counts.pack()]));
  for (const [band, count] of SIZES) twice.add(band, -count);
  expect(twice.pack()).toEqual(counts.pack());
});
