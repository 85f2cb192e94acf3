// Logs for the programs that `npm start` runs to their end: each problem in one line for people.

import type { Log } from "../src/core/log.ts";

/** Prints a problem with the values of its fields. */
function tell(fields: object, message: string): void {
  const about = Object.values(fields).map((one) => (one instanceof Error ? one.message : `${one}`));
  console.error(about.length === 0 ? `${message}.` : `${message} (${about.join(", ")}).`);
}

/** Prints warnings and errors only. */
export const lineLog: Log = { info: () => {}, warn: tell, error: tell };
