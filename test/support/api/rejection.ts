import { ApiError } from "../../../src/core/errors.ts";

/** The error of a rejected promise. Fails if the promise resolves. */
export async function rejection(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("This should have failed");
}

/** The refusal that a function throws. Fails if it throws nothing, or another error. */
export function refusalBy(run: () => unknown): ApiError {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("This should have been refused");
}
