import { heapStats } from "bun:jsc";

/** The bytes that this process keeps in its heap and beside it, after a garbage collection. */
export function heapBytes(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}
