// Counts latencies in bands with fixed borders. The counts of many calls add up, so a percentile of
// any sum of rows follows from them, to a known percentage.

import { HOUR_MS } from "./durations.ts";

/** A percentile read from bands exceeds the exact one by at most this percentage. */
export const BAND_ERROR_PERCENT = 10;

/** A band's number must fit into a byte. */
const BANDS_MAX = 256;
const VARINT_MORE = 0x80;
const VARINT_MASK = 0x7f;

/** The first millisecond of each band; the last band has no end. */
export const BAND_STARTS: readonly number[] = bandStarts();

function bandStarts(): number[] {
  const starts: number[] = [];
  for (let start = 0; start <= HOUR_MS && starts.length < BANDS_MAX; ) {
    starts.push(start);
    start = Math.floor((start * (100 + BAND_ERROR_PERCENT)) / 100) + 1;
  }
  return starts;
}

/** The number of the band that a latency belongs to. */
export function bandOf(ms: number): number {
  let low = 0;
  let high = BAND_STARTS.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((BAND_STARTS[middle] ?? 0) <= ms) low = middle;
    else high = middle;
  }
  return low;
}

/** The number of latencies in each band. */
export class LatencyCounts {
  readonly #counts = new Map<number, number>();

  /** Adds latencies to a band; a negative count takes them away again. */
  add(band: number, count: number): void {
    this.#counts.set(band, (this.#counts.get(band) ?? 0) + count);
  }

  /** Adds the output of `pack`, or several outputs one after the other. */
  addPacked(bytes: Uint8Array): void {
    this.#merge(bytes, 1);
  }

  /** Takes away the output of `pack`, which was added before. */
  takePacked(bytes: Uint8Array): void {
    this.#merge(bytes, -1);
  }

  #merge(bytes: Uint8Array, sign: 1 | -1): void {
    let at = 0;
    while (at < bytes.length) {
      const band = bytes[at++] ?? 0;
      let count = 0;
      let scale = 1;
      for (;;) {
        const byte = bytes[at++] ?? 0;
        count += (byte & VARINT_MASK) * scale;
        if (byte < VARINT_MORE) break;
        scale *= VARINT_MORE;
      }
      this.add(band, sign * count);
    }
  }

  addAll(other: LatencyCounts): void {
    for (const [band, count] of other.#counts) this.add(band, count);
  }

  /** A byte for each band that has latencies, followed by their count in groups of seven bits. */
  pack(): Uint8Array {
    const bytes: number[] = [];
    for (const [band, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      if (count <= 0) continue;
      bytes.push(band);
      let rest = count;
      while (rest >= VARINT_MORE) {
        bytes.push((rest % VARINT_MORE) | VARINT_MORE);
        rest = Math.floor(rest / VARINT_MORE);
      }
      bytes.push(rest);
    }
    return Uint8Array.from(bytes);
  }

  /**
   * Returns the latency that `percent` of 100 calls did not exceed: never below the exact value,
   * and at most BAND_ERROR_PERCENT above it. Null without latencies.
   */
  percentile(percent: number): number | null {
    const bands = [...this.#counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
    const total = bands.reduce((sum, [, count]) => sum + count, 0);
    const wanted = Math.ceil((total * percent) / 100);
    let seen = 0;
    for (const [band, count] of bands) {
      seen += count;
      // The last millisecond of the band.
      if (seen >= wanted) return (BAND_STARTS[band + 1] ?? HOUR_MS + 1) - 1;
    }
    return null;
  }
}
