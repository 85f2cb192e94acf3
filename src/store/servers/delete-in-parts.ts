// Deletes many rows in statements of their own, so that none of them is long.

const DELETED_AT_ONCE = 1_000;

/**
 * Calls `part`, which deletes at most so many rows and returns how many, until it finds fewer.
 * Returns how many were deleted in all.
 */
export async function deleteInParts(part: (most: number) => Promise<number>): Promise<number> {
  for (let deleted = 0; ; ) {
    const count = await part(DELETED_AT_ONCE);
    deleted += count;
    if (count < DELETED_AT_ONCE) return deleted;
  }
}
