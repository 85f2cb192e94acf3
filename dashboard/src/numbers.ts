// Numbers as people read them.

/** "1,234" */
export function countText(count: number): string {
  return count.toLocaleString("en");
}
