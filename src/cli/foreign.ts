// Reads files of others for commands.

import { ForeignFileError } from "../core/text/foreign-file.ts";
import { UsageError } from "./command.ts";

/** Calls `read`. An unreadable file is wrong usage: its exit code is not that of a drift. */
export function foreign<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof ForeignFileError) throw new UsageError(error.message);
    throw error;
  }
}
