// Reads answers of Stripe: all pages of a list, and objects that may be missing. Recognises answers
// that are not Stripe's, and an unreachable Stripe.

import Stripe from "stripe";
import { ProviderAway } from "../provider.ts";

/** The field by which every answer of Stripe names its kind. */
interface StripeObject {
  readonly object: string;
}

/** All pages of a list. @throws ProviderAway */
export async function collected<T extends { id: string }>(
  list: Stripe.ApiListPromise<T>,
): Promise<T[]> {
  const all: T[] = [];
  await answered(list, "list");
  await told(
    (async () => {
      for await (const item of list) all.push(item);
    })(),
  );
  return all;
}

/** Null for an object that Stripe does not have. @throws ProviderAway */
export async function foundOrNull<T extends StripeObject>(
  reading: Promise<T>,
  kind: T["object"],
): Promise<T | null> {
  try {
    return await answered(reading, kind);
  } catch (error) {
    const isMissing =
      error instanceof Stripe.errors.StripeInvalidRequestError && error.code === "resource_missing";
    if (isMissing) return null;
    throw error;
  }
}

/**
 * Stripe's answer, an object of this kind. The id is not checked, because ids of one kind begin in
 * more than one way.
 * @throws ProviderAway if Stripe is away or too busy, or something else answered in its place
 */
export async function answered<T extends StripeObject>(
  asked: Promise<T>,
  kind: T["object"],
): Promise<T> {
  const answer = await told(asked);
  if (answer.object === kind) return answer;
  const cause = new Error(`What came in place of Stripe's '${kind}' is something else`);
  throw new ProviderAway(NO_ANSWER, { cause, isSaved: false });
}

/**
 * Repeats a request with a second idempotency key if Stripe has saved the failure under the first.
 * Only for requests that Stripe carries out at most once whatever their keys are.
 */
export async function askedByTwo<T>(
  ask: (idempotencyKey: string) => Promise<T>,
  [first, second]: readonly [first: string, second: string],
): Promise<T> {
  try {
    return await ask(first);
  } catch (error) {
    if (!(error instanceof ProviderAway && error.isSaved)) throw error;
    return await ask(second);
  }
}

/** Tells "Stripe is away or too busy" from every other error. @throws ProviderAway */
async function told<T>(asked: Promise<T>): Promise<T> {
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
    throw new ProviderAway(NO_ANSWER, { cause: error, isSaved });
  }
}

const NO_ANSWER = "The payment provider did not answer";
/**
 * Stripe's header on the saved answer to an idempotency key. Stripe saves a 500 like any other
 * answer.
 */
const REPLAYED = "idempotent-replayed";
