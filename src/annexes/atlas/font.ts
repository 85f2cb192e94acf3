// Turns text into outlines, from a TrueType font. The SVG renderer would read a font again for
// every letter, which takes longer than all other steps of a map. Supports only the features that
// labels need: no ligatures, no kerning.

import { readFileSync } from "node:fs";

/** A text as an SVG path; its base line starts at 0,0. */
export interface Outline {
  readonly path: string;
  readonly width: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly isOnCurve: boolean;
}

type Contour = readonly Point[];

interface Glyph {
  readonly advance: number;
  readonly contours: readonly Contour[];
}

// Flags of the table glyf (OpenType 1.9).
const ON_CURVE = 1;
const SHORT_X = 2;
const SHORT_Y = 4;
const REPEATED = 8;
const SAME_X = 16;
const SAME_Y = 32;
const WORDS = 1;
const SCALED = 8;
const MORE = 32;
const SCALED_XY = 64;
const MATRIX = 128;
const NESTING_MAX = 4;

export class Font {
  readonly #data: DataView;
  readonly #tables = new Map<string, number>();
  readonly #glyphs = new Map<number, Glyph | null>();
  readonly #unitsPerEm: number;
  readonly #longOffsets: boolean;
  readonly #metrics: number;

  constructor(path: string) {
    const bytes = Uint8Array.from(readFileSync(path));
    this.#data = new DataView(bytes.buffer);
    for (let index = 0; index < this.#data.getUint16(4); index += 1) {
      const at = 12 + index * 16;
      const tag = String.fromCharCode(...bytes.subarray(at, at + 4));
      this.#tables.set(tag, this.#data.getUint32(at + 8));
    }
    this.#unitsPerEm = this.#data.getUint16(this.#table("head") + 18);
    this.#longOffsets = this.#data.getInt16(this.#table("head") + 50) === 1;
    this.#metrics = this.#data.getUint16(this.#table("hhea") + 34);
  }

  /** Returns the outline of a text at a size; null if the font lacks one of its letters. */
  outline(text: string, size: number): Outline | null {
    const scale = size / this.#unitsPerEm;
    let path = "";
    let x = 0;
    for (const letter of text.normalize("NFC")) {
      const glyph = this.#glyphOf(letter.codePointAt(0) ?? 0);
      if (glyph === null) return null;
      for (const contour of glyph.contours) path += pathOf(contour, x, scale);
      x += glyph.advance * scale;
    }
    return { path, width: x };
  }

  #table(tag: string): number {
    const at = this.#tables.get(tag);
    if (at === undefined) throw new Error(`The font has no table ${tag}`);
    return at;
  }

  #glyphOf(codePoint: number): Glyph | null {
    const known = this.#glyphs.get(codePoint);
    if (known !== undefined) return known;
    const index = this.#indexOf(codePoint);
    const glyph =
      index === 0 ? null : { advance: this.#advanceOf(index), contours: this.#contours(index, 0) };
    this.#glyphs.set(codePoint, glyph);
    return glyph;
  }

  /** Uses the table cmap in format 4, which covers the Basic Multilingual Plane. */
  #indexOf(codePoint: number): number {
    const cmap = this.#table("cmap");
    const data = this.#data;
    for (let index = 0; index < data.getUint16(cmap + 2); index += 1) {
      const at = cmap + data.getUint32(cmap + 4 + index * 8 + 4);
      if (data.getUint16(at) !== 4) continue;
      const twice = data.getUint16(at + 6);
      for (let segment = 0; segment < twice; segment += 2) {
        if (codePoint > data.getUint16(at + 14 + segment)) continue;
        const start = data.getUint16(at + 16 + twice + segment);
        if (codePoint < start) return 0;
        const delta = data.getInt16(at + 16 + twice * 2 + segment);
        const rangeAt = at + 16 + twice * 3 + segment;
        const range = data.getUint16(rangeAt);
        if (range === 0) return (codePoint + delta) & 0xffff;
        const index = data.getUint16(rangeAt + range + (codePoint - start) * 2);
        return index === 0 ? 0 : (index + delta) & 0xffff;
      }
    }
    return 0;
  }

  #advanceOf(index: number): number {
    return this.#data.getUint16(this.#table("hmtx") + Math.min(index, this.#metrics - 1) * 4);
  }

  #contours(index: number, depth: number): Contour[] {
    const loca = this.#table("loca");
    const offset = (at: number) =>
      this.#longOffsets
        ? this.#data.getUint32(loca + at * 4)
        : this.#data.getUint16(loca + at * 2) * 2;
    if (offset(index) === offset(index + 1) || depth > NESTING_MAX) return [];
    const at = this.#table("glyf") + offset(index);
    const count = this.#data.getInt16(at);
    return count < 0 ? this.#composite(at + 10, depth) : this.#simple(at + 10, count);
  }

  #simple(start: number, count: number): Contour[] {
    const data = this.#data;
    const ends = Array.from({ length: count }, (_, index) => data.getUint16(start + index * 2));
    const total = (ends.at(-1) ?? -1) + 1;
    let at = start + count * 2;
    at += 2 + data.getUint16(at);
    const flags: number[] = [];
    while (flags.length < total) {
      const flag = data.getUint8(at++);
      const times = (flag & REPEATED) === 0 ? 1 : data.getUint8(at++) + 1;
      for (let index = 0; index < times; index += 1) flags.push(flag);
    }
    const read = (short: number, same: number) => {
      let value = 0;
      return flags.map((flag) => {
        if ((flag & short) !== 0) value += data.getUint8(at++) * ((flag & same) === 0 ? -1 : 1);
        else if ((flag & same) === 0) {
          value += data.getInt16(at);
          at += 2;
        }
        return value;
      });
    };
    const xs = read(SHORT_X, SAME_X);
    const ys = read(SHORT_Y, SAME_Y);
    const points = flags.map((flag, index) => {
      return { x: xs[index] ?? 0, y: ys[index] ?? 0, isOnCurve: (flag & ON_CURVE) !== 0 };
    });
    return ends.map((end, index) => points.slice((ends[index - 1] ?? -1) + 1, end + 1));
  }

  /** Joins the contours of a letter that is composed of others, such as a letter with an accent. */
  #composite(start: number, depth: number): Contour[] {
    const data = this.#data;
    const contours: Contour[] = [];
    let at = start;
    let flags = MORE;
    while ((flags & MORE) !== 0) {
      flags = data.getUint16(at);
      const part = this.#contours(data.getUint16(at + 2), depth + 1);
      const hasWords = (flags & WORDS) !== 0;
      const dx = hasWords ? data.getInt16(at + 4) : data.getInt8(at + 4);
      const dy = hasWords ? data.getInt16(at + 6) : data.getInt8(at + 5);
      at += hasWords ? 8 : 6;
      const number = () => {
        at += 2;
        return data.getInt16(at - 2) / 16_384;
      };
      let [a, b, c, d] = [1, 0, 0, 1];
      if ((flags & SCALED) !== 0) a = d = number();
      else if ((flags & SCALED_XY) !== 0) [a, d] = [number(), number()];
      else if ((flags & MATRIX) !== 0) [a, b, c, d] = [number(), number(), number(), number()];
      for (const contour of part) {
        contours.push(
          contour.map(({ x, y, isOnCurve }) => {
            return { x: a * x + c * y + dx, y: b * x + d * y + dy, isOnCurve };
          }),
        );
      }
    }
    return contours;
  }
}

/** Between two points off the curve, the font omits a point on the curve. */
function pathOf(contour: Contour, offset: number, scale: number): string {
  const at = (x: number, y: number) =>
    `${Math.round((x * scale + offset) * 100) / 100},${Math.round(-y * scale * 100) / 100}`;
  const first = contour[0];
  const last = contour.at(-1);
  if (first === undefined || last === undefined) return "";
  const start = first.isOnCurve ? first : last.isOnCurve ? last : middle(first, last);
  let path = `M${at(start.x, start.y)}`;
  for (const [index, point] of contour.entries()) {
    if (point.isOnCurve) {
      if (contour[index - 1]?.isOnCurve ?? true) path += `L${at(point.x, point.y)}`;
      continue;
    }
    const next = contour[index + 1] ?? start;
    const end = next.isOnCurve || index === contour.length - 1 ? next : middle(point, next);
    path += `Q${at(point.x, point.y)} ${at(end.x, end.y)}`;
  }
  return `${path}Z`;
}

function middle(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, isOnCurve: true };
}
