// Versions of the layout in Redis (docs/upgrading.md). Every record begins with the one it was
// written in, and a bucket's record names the one in force: what all processes write. A release
// reads the layout before its own too, so that old and new processes can run side by side;
// `farebox migrate --finish` raises it once only new ones run.

/** What this release reads; lua/records.lua says the same. */
export const LAYOUT_MIN = 2;
export const LAYOUT_MAX = 2;

/** Redis is in a layout that this release does not know: a newer release raised it. */
export class UnknownLayout extends Error {
  override readonly name = "UnknownLayout";

  constructor(layout: number) {
    super(
      `Redis is in layout ${layout}, and this release knows ${knownLayouts()}: another release ` +
        "raised it. Run that release here.",
    );
  }
}

/** @throws UnknownLayout */
export function checkLayout(layout: number): void {
  if (!isKnownLayout(layout)) throw new UnknownLayout(layout);
}

export function isKnownLayout(layout: number): boolean {
  return layout >= LAYOUT_MIN && layout <= LAYOUT_MAX;
}

function knownLayouts(): string {
  return LAYOUT_MIN === LAYOUT_MAX ? `only ${LAYOUT_MAX}` : `${LAYOUT_MIN} to ${LAYOUT_MAX}`;
}
