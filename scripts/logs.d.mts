// The types of logs.mjs for the tests.

/** Sets aside each log of a folder that is too large. */
export function rotateLogs(folder: string, limits?: { bytesMax?: number; kept?: number }): void;
