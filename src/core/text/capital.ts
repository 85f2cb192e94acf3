// Writes words as the beginning of a sentence or a title.

/** The words, of which the first letter is a capital; scripts without capitals stay unchanged. */
export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
