// Passes our refusals through better-auth, which answers 500 to errors that it does not know.

import { APIError } from "better-auth/api";
import { ConsoleError } from "../core/console-errors.ts";

/** Hands our refusals to better-auth, with the status that each has. */
export async function refused<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ConsoleError)) throw error;
    const { code, message, status } = error;
    throw new APIError(status as ConstructorParameters<typeof APIError>[0], { code, message });
  }
}
