// Versions of the layout in Redis (docs/upgrading.md). Every record begins with the version it was
// written in. A bucket's record names the version in force, which all processes write. A release
// also reads the version before its own, so old and new processes can run side by side; `farebox
// migrate --finish` raises the version once only new ones run.

/** The layouts that this release reads. lua/shared/records.lua has the same. */
export const LAYOUT_MIN = 2;
export const LAYOUT_MAX = 2;

/** Redis has a layout that this release does not know: a newer release raised it. */
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
