// The types of home.mjs for TypeScript.

/** The folder of the project. */
export const PROJECT: string;

/** The home that the environment names, or `.farebox` in the project. */
export function homeFolder(): string;

/** Makes a home and its log folder, closed to other users. */
export function makeHome(home: string): void;
