// Where on a map text can still stand.

interface Rectangle {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

export interface TextPlace {
  readonly x: number;
  /** Of the base line. */
  readonly y: number;
  readonly anchor: "start" | "middle" | "end";
}

/** The mean width of a letter, in its size. */
const LETTER = 0.62;
const GAP = 6;

export class LabelSpace {
  readonly #taken: Rectangle[] = [];

  constructor(
    readonly width: number,
    readonly height: number,
  ) {}

  /** Takes a rectangle whether or not it is free. */
  take(rectangle: Rectangle): void {
    this.#taken.push(rectangle);
  }

  /** Takes the place of a text; false when it is not wholly free, and inside the map. */
  takeText(text: string, { x, y, anchor, size }: TextPlace & { readonly size: number }): boolean {
    const long = [...text].length * size * LETTER;
    const minX = anchor === "start" ? x : anchor === "end" ? x - long : x - long / 2;
    const box = { minX, maxX: minX + long, minY: y - size * 0.85, maxY: y + size * 0.25 };
    if (box.minX < 2 || box.maxX > this.width - 2) return false;
    if (box.minY < 2 || box.maxY > this.height - 2) return false;
    if (this.#taken.some((other) => overlap(box, other))) return false;
    this.#taken.push(box);
    return true;
  }

  /** Finds room for a text beside a dot: right, left, above or below; null where there is none. */
  takeBeside(
    text: string,
    { x, y, size }: { readonly x: number; readonly y: number; readonly size: number },
  ): TextPlace | null {
    const dot = { minX: x - 3, minY: y - 3, maxX: x + 3, maxY: y + 3 };
    if (this.#taken.some((other) => overlap(dot, other))) return null;
    const places: readonly TextPlace[] = [
      { x: x + GAP, y: y + size * 0.35, anchor: "start" },
      { x: x - GAP, y: y + size * 0.35, anchor: "end" },
      { x, y: y - GAP, anchor: "middle" },
      { x, y: y + GAP + size * 0.8, anchor: "middle" },
    ];
    const free = places.find((place) => this.takeText(text, { ...place, size }));
    if (free !== undefined) this.#taken.push(dot);
    return free ?? null;
  }
}

function overlap(a: Rectangle, b: Rectangle): boolean {
  return a.minX < b.maxX && b.minX < a.maxX && a.minY < b.maxY && b.minY < a.maxY;
}
