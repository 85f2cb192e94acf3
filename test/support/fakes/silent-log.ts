import type { Log } from "../../../src/core/log.ts";

/** A log that drops every line. */
export const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };
