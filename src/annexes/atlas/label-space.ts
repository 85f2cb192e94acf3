// Remembers which parts of a map still have room for text.

interface Rectangle {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** The start of a text's base line. */
export interface TextPlace {
  readonly x: number;
  readonly y: number;
}

export interface TextSize {
  readonly width: number;
  /** The font size. */
  readonly size: number;
}

const GAP = 6;

export class LabelSpace {
  readonly #taken: Rectangle[] = [];

  constructor(
    readonly width: number,
    readonly height: number,
  ) {}

  /** Marks a rectangle as used, free or not. */
  take(rectangle: Rectangle): void {
    this.#taken.push(rectangle);
  }

  /** Takes the space of a text; false if that space is not completely free and inside the map. */
  takeText(text: TextSize, { x, y }: TextPlace): boolean {
    const box = {
      minX: x,
      maxX: x + text.width,
      minY: y - text.size * 0.85,
      maxY: y + text.size / 4,
    };
    if (box.minX < 2 || box.maxX > this.width - 2) return false;
    if (box.minY < 2 || box.maxY > this.height - 2) return false;
    if (this.#taken.some((other) => overlap(box, other))) return false;
    this.#taken.push(box);
    return true;
  }

  /**
   * Takes space for a text next to a dot: right, left, above or below; null if no side has room.
   */
  takeBeside(text: TextSize, { x, y }: TextPlace): TextPlace | null {
    const dot = { minX: x - 3, minY: y - 3, maxX: x + 3, maxY: y + 3 };
    if (this.#taken.some((other) => overlap(dot, other))) return null;
    const { size, width } = text;
    const places: readonly TextPlace[] = [
      { x: x + GAP, y: y + size * 0.35 },
      { x: x - GAP - width, y: y + size * 0.35 },
      { x: x - width / 2, y: y - GAP },
      { x: x - width / 2, y: y + GAP + size * 0.8 },
    ];
    const free = places.find((place) => this.takeText(text, place));
    if (free !== undefined) this.#taken.push(dot);
    return free ?? null;
  }
}

function overlap(a: Rectangle, b: Rectangle): boolean {
  return a.minX < b.maxX && b.minX < a.maxX && a.minY < b.maxY && b.minY < a.maxY;
}
