// The types of home.mjs for the tests.

/** Makes a home and its log folder, closed to other users. */
export function makeHome(home: string): void;
