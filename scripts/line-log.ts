// The log of the programs that `npm start` runs to their end: problems in a line for people each.

import type { Log } from "../src/core/log.ts";

/** Prints a problem with what it is about. */
function tell(fields: object, message: string): void {
  const about = Object.values(fields).map((one) => (one instanceof Error ? one.message : `${one}`));
  console.error(about.length === 0 ? `${message}.` : `${message} (${about.join(", ")}).`);
}

/** Says nothing of what goes well. */
export const lineLog: Log = { info: () => {}, warn: tell, error: tell };
