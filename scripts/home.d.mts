// The types of home.mjs for TypeScript.

/** The folder of the project. */
export const PROJECT: string;

/** The home that the environment names, or `.farebox` in the project. */
export function homeFolder(): string;

export interface Secrets {
  readonly KEY_PEPPER: string;
  readonly IP_HASH_SECRET: string;
}

/** Makes the home and its log folder, closed to other users. */
export function makeHome(home: string): void;

/** The secrets of an installation; with `make`, new ones for a home without data. */
export function secrets(home: string, options: { make: boolean }): Secrets;
