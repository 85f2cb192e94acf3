// Keys that were made since this page was loaded, by account. They live in its memory alone, so
// that the lines to copy can hold them; reloading the page forgets them.

export const newKeys = new Map<string, { readonly id: string; readonly key: string }>();
