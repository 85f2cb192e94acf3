// Writes words as the beginning of a sentence or a title.

/** The words with a capital letter at their beginning; scripts without capitals stay as they are. */
export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
