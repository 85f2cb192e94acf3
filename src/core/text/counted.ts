// Writes counts with their nouns.

/** A count with its noun: "1 model", "2 models". `plural`, for a noun that needs more than an s. */
export function counted(count: number | bigint, noun: string, plural = `${noun}s`): string {
  return `${count} ${Number(count) === 1 ? noun : plural}`;
}
