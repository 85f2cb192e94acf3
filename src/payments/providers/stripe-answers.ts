// Answers of Stripe: all pages of a list, an object that may be missing, and Stripe being away.

import Stripe from "stripe";
import { ProviderAway } from "../provider.ts";

/** All pages of a list. */
export async function collected<T extends { id: string }>(
  list: Stripe.ApiListPromise<T>,
): Promise<T[]> {
  const all: T[] = [];
  await answered(
    (async () => {
      for await (const item of list) all.push(item);
    })(),
  );
  return all;
}

/** Null for an object that Stripe does not have. */
export async function foundOrNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await answered(reading);
  } catch (error) {
    const isMissing =
      error instanceof Stripe.errors.StripeInvalidRequestError && error.code === "resource_missing";
    if (isMissing) return null;
    throw error;
  }
}

/** Tells "Stripe is away or too busy" from every other error. @throws ProviderAway */
export async function answered<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const { StripeAPIError, StripeConnectionError, StripeRateLimitError } = Stripe.errors;
    const isAway =
      error instanceof StripeAPIError ||
      error instanceof StripeConnectionError ||
      error instanceof StripeRateLimitError;
    if (!isAway) throw error;
    const isSaved = error.statusCode === 500 && error.headers?.[REPLAYED] === "true";
    throw new ProviderAway("The payment provider did not answer", { cause: error, isSaved });
  }
}

/** Stripe's header on the saved answer to an idempotency key. It saves a 500 like any other. */
const REPLAYED = "idempotent-replayed";
