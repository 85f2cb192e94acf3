// Top-ups that a holder orders: on the provider's page, or by a saved card.

import { DAY_MS, HOUR_MS } from "../core/durations.ts";
import { AdministrationError } from "../core/errors.ts";
import { CONSENT_VERSION } from "../core/money/consent.ts";
import { add, dollars, type NanoUsd, subtract, toCents, ZERO } from "../core/money/money.ts";
import { TOP_UP_MIN, topUpCapsOf } from "../core/money/top-up-caps.ts";
import { bonusOf, feeOf } from "../core/money/top-up-terms.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { createRequested, type TopUpFacts } from "../store/payments/top-up-facts.ts";
import type { NewTopUp, TopUp } from "../store/payments/top-ups.ts";
import { chargeableCard } from "./cards.ts";
import { ATTEMPT_MS, attempt } from "./charge.ts";
import { ProviderAway } from "./provider.ts";
import { endPage, type PaymentDeps } from "./read-top-up.ts";

/** A page ends within a day of its order, and Stripe makes none that ends within half an hour. */
const PAGELESS_MS = 23 * HOUR_MS;
/** The most pages that end for one order; each takes a request to the provider. */
const PAGES_MAX = 20;

type Payer = Pick<AccountRow, "number" | "id" | "email">;

export interface CheckoutOrder {
  readonly amount: NanoUsd;
  /** The page says that the card is saved and may be charged later. */
  readonly savesCard: boolean;
  /** The payer's own id of the order: repeated orders with the same id make one page. */
  readonly request?: string;
  /** The address to which the page sends the payer; left out for the configured address. */
  readonly returnUrl?: (topUpId: string) => string;
}

export interface ChargeOrder {
  readonly amount: NanoUsd;
  /** The id of the card; null for the newest card. */
  readonly cardId: string | null;
  /** The payer's own id of the order: repeated orders with the same id charge once. */
  readonly request?: string;
}

/**
 * Makes a page of the provider where this amount is paid. With `savesCard`, paying there is the
 * holder's consent.
 * @throws AdministrationError, ProviderAway
 */
export async function startCheckout(
  deps: PaymentDeps,
  payer: Payer,
  { amount, savesCard, request, returnUrl }: CheckoutOrder,
): Promise<TopUp> {
  const consent = savesCard ? { consentVersion: CONSENT_VERSION } : {};
  const terms = { kind: "checkout", amount, ...consent, ...asked(request) } as const;
  const { topUp, isRepeat } = await create(deps, payer, terms);
  if (isRepeat) refuseOther(topUp, { kind: "checkout", amount, savesCard, cardId: null });
  // This is a repeat of an order that has its page, or that has ended.
  if (topUp.url !== null || topUp.status !== "open") return topUp;
  if (deps.now() - topUp.createdAt.getTime() > PAGELESS_MS) {
    throw new AdministrationError(
      "wrong_state",
      `The page of the top-up ${topUp.id} was never made, and it is too late for it: order anew`,
    );
  }
  const customer = await customerOf(deps, payer);
  const back = returnUrl?.(topUp.id) ?? null;
  const page = await deps.provider.createCheckout({ topUp, customer, returnUrl: back });
  await deps.topUps.setCheckout(topUp.number, page);
  return { ...topUp, ...page };
}

/**
 * Charges a saved card at once, by its holder's order. A repeat of the order returns the first
 * one's result.
 * @throws AdministrationError, ProviderAway
 */
export async function chargeCard(
  deps: PaymentDeps,
  payer: Payer,
  order: ChargeOrder,
): Promise<TopUp> {
  const { topUp, isRepeat } = await ordered(deps, payer, order);
  return isRepeat ? topUp : await attempt(deps, topUp);
}

/**
 * Charges a saved card by `chargeCard` while the payer waits for the reply. If the charge fails
 * after the order is stored, the reply has the open top-up (D-507). A worker then repeats the
 * request, and the card is charged once.
 * @throws AdministrationError
 */
export async function orderCharge(
  deps: PaymentDeps,
  payer: Payer,
  order: ChargeOrder & { readonly request: string },
): Promise<TopUp> {
  const { topUp, isRepeat } = await ordered(deps, payer, order);
  if (isRepeat) return topUp;
  try {
    return await attempt(deps, topUp);
  } catch (error) {
    const { id } = topUp;
    if (error instanceof ProviderAway) {
      deps.log.warn({ topUpId: id, err: error }, "A charge waits for the payment provider");
    } else {
      deps.log.error({ topUpId: id, err: error }, "A charge could not be made; it is tried again");
    }
    return (await deps.topUps.find({ id })) ?? topUp;
  }
}

/** The top-up of an order, stored before anything is charged. @throws AdministrationError */
async function ordered(
  deps: PaymentDeps,
  payer: Payer,
  { amount, cardId, request }: ChargeOrder,
): Promise<Created> {
  const order = { kind: "card", amount, ...asked(request) } as const;
  const repeat = { kind: "card", amount, savesCard: false, cardId } as const;
  const first = request === undefined ? null : await deps.topUps.findRequest(payer.number, request);
  if (first !== null) return { topUp: refuseOther(first, repeat), isRepeat: true };
  const card = await chargeableCard(deps, payer, cardId);
  const nextAttemptAt = new Date(deps.now() + ATTEMPT_MS);
  const created = await create(deps, payer, { ...order, card: card.number, nextAttemptAt });
  // Another order with the same id may have been stored meanwhile.
  if (created.isRepeat) refuseOther(created.topUp, repeat);
  return created;
}

function asked(request: string | undefined): Pick<NewTopUp, "request"> {
  return request === undefined ? {} : { request };
}

/** The provider's customer for an account, made when it is first needed. */
async function customerOf(deps: PaymentDeps, payer: Payer): Promise<string> {
  const { cards, provider } = deps;
  const known = await cards.customer(payer.number, provider.name);
  if (known !== null) return known;
  return await cards.setCustomer(payer.number, provider.name, await provider.createCustomer(payer));
}

interface Created {
  readonly topUp: TopUp;
  readonly isRepeat: boolean;
}

type AskedTopUp = Pick<
  NewTopUp,
  "kind" | "amount" | "card" | "consentVersion" | "nextAttemptAt" | "request"
>;

/** The order is too large for the cap now, and fits after unpaid pages have been ended. */
class PagesInTheWay extends AdministrationError {
  constructor(
    message: string,
    /** The amount by which the order exceeds the cap. */
    readonly excess: NanoUsd,
  ) {
    super("too_large", message);
  }
}

/** Stores a top-up. If the limits leave no room for it, unpaid pages end (D-202). */
async function create(deps: PaymentDeps, payer: Payer, terms: AskedTopUp): Promise<Created> {
  try {
    return await createOnce(deps, payer, terms);
  } catch (error) {
    if (!(error instanceof PagesInTheWay)) throw error;
    await endPages(deps, payer, error.excess).catch((cause: unknown) => {
      if (!(cause instanceof ProviderAway)) throw cause;
      deps.log.warn({ accountId: payer.id, err: cause }, "An unpaid page could not be ended");
      throw error;
    });
    return await createOnce(deps, payer, terms);
  }
}

/** Ends pages, the oldest ones first, until their sum reaches this amount. */
async function endPages(deps: PaymentDeps, { number }: Payer, amount: NanoUsd): Promise<void> {
  const { topUps, provider, now } = deps;
  const dayMs = now() - DAY_MS;
  let ended = ZERO;
  for (const page of await topUps.unpaidPages(provider.name, number, PAGES_MAX)) {
    if (ended >= amount) return;
    const { status, createdAt } = await endPage(deps, page);
    // An older page, whose end was not read yet, took no room in the cap.
    if (status === "expired" && createdAt.getTime() > dayMs) ended = add(ended, page.amount);
  }
}

async function createOnce(
  { topUps, provider, now, terms: rules, also }: PaymentDeps,
  payer: Payer,
  terms: AskedTopUp,
): Promise<Created> {
  const createdAt = new Date(now());
  const { request = null } = terms;
  const { id, isRepeat } = await createRequested(
    topUps.deps,
    { account: payer.number, now: createdAt, request, also },
    (facts) => {
      checkAmount(terms.amount, facts, createdAt.getTime());
      const fee = feeOf(terms.amount, rules);
      const bonus = facts.hasPaid ? ZERO : bonusOf(terms.amount, rules);
      return { ...terms, fee, bonus, account: payer.number, provider: provider.name, createdAt };
    },
  );
  const topUp = await topUps.find({ id });
  if (topUp === null) throw new Error("A top-up was not stored");
  return { topUp, isRepeat };
}

interface Repeat extends Pick<AskedTopUp, "kind" | "amount"> {
  readonly savesCard: boolean;
  /** The card; null for the card that the first order charged. */
  readonly cardId: string | null;
}

/** The first order. @throws AdministrationError if the id was used for another one */
function refuseOther(first: TopUp, { kind, amount, savesCard, cardId }: Repeat): TopUp {
  const isSame =
    first.kind === kind &&
    first.amount === amount &&
    (first.consentVersion !== null) === savesCard &&
    (cardId === null || first.cardId === cardId);
  if (isSame) return first;
  throw new AdministrationError(
    "reference_reused",
    `The request '${first.request}' was for another top-up: ${first.id} of ` +
      `${dollars(first.amount)}${first.cardId === null ? "" : ` by ${first.cardId}`}`,
  );
}

function checkAmount(amount: NanoUsd, facts: TopUpFacts, nowMs: number): void {
  const { account, document, manualDay, unpaidPages } = facts;
  if (account.state === "closed") {
    throw new AdministrationError("closed", `The account ${account.id} is closed`);
  }
  const caps = topUpCapsOf(document.tierInputs, nowMs);
  if (amount < TOP_UP_MIN || amount > caps.manual) {
    throw new AdministrationError(
      "too_large",
      `A top-up of this account must be from ${dollars(TOP_UP_MIN)} to ${dollars(caps.manual)}, ` +
        `but is ${dollars(amount)}`,
    );
  }
  checkCents(amount);
  const sum = add(manualDay, amount);
  if (sum <= caps.manualDay) return;
  const excess = subtract(sum, caps.manualDay);
  const message =
    `An account of this tier may be topped up by ${dollars(caps.manualDay)} in 24 hours; ` +
    `${dollars(manualDay)} of it are used, pages that are not paid yet included`;
  if (excess <= unpaidPages) throw new PagesInTheWay(message, excess);
  throw new AdministrationError("too_large", message);
}

/** @throws AdministrationError for an amount that no card can be charged */
export function checkCents(amount: NanoUsd): void {
  try {
    toCents(amount);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AdministrationError("too_large", error.message);
  }
}
