// Finds out before the first question if a file can be written after the last one.

import { access, constants, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { thrownMessage } from "../../core/text/error-message.ts";
import { UsageError } from "../command.ts";

/** Checks a file that may be missing, as may its folder. @throws UsageError with the reason */
export async function checkWritable(path: string): Promise<void> {
  try {
    if ((await isFolder(path)) === true) throw new Error("it is a folder");
    await checkFolder(dirname(resolve(path)));
  } catch (error) {
    const reason = thrownMessage(error);
    throw new UsageError(`${path} cannot be written: ${reason}. Nothing was changed`);
  }
}

/** Checks that a file can be made in a folder, or the folder itself in one above it. */
async function checkFolder(folder: string): Promise<void> {
  const isThere = await isFolder(folder);
  if (isThere === null) return await checkFolder(dirname(folder));
  if (!isThere) throw new Error(`${folder} is no folder`);
  await access(folder, constants.W_OK | constants.X_OK);
}

/** Null if there is nothing of this name. */
async function isFolder(path: string): Promise<boolean | null> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
