import type { Log } from "../../../src/core/log.ts";

/** A log that nobody reads. */
export const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };
