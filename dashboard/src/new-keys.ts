// Keys that were made since this page was loaded, by account. Such keys live in the page's memory
// alone, so that the lines to copy can hold them; reloading the page forgets the keys.

export const newKeys = new Map<string, { readonly id: string; readonly key: string }>();
