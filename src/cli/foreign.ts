// Reads files of others for commands.

import { readFile } from "node:fs/promises";
import { thrownMessage } from "../core/text/error-message.ts";
import { ForeignFileError } from "../core/text/foreign-file.ts";
import { UsageError } from "./command.ts";

/** The bytes of a file; `name` is what messages call the file. @throws UsageError */
export async function bytesOfFile(path: string, name: string): Promise<Uint8Array> {
  return await readFile(path).catch((error: unknown) => {
    throw new UsageError(`${name} cannot be read: ${thrownMessage(error)}`);
  });
}

/** Calls `read`. An unreadable file is wrong usage: its exit code is not that of a drift. */
export function foreign<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof ForeignFileError) throw new UsageError(error.message);
    throw error;
  }
}
