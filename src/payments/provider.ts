// The interface of a payment provider. The words are ours; amounts are those that the payer pays.

import type { Surface } from "../core/access/services.ts";
import type { NanoUsd } from "../core/money/money.ts";
import type { ProviderName } from "../core/money/payment-names.ts";
import type { ProviderEvent } from "../store/payments/provider-events.ts";
import type { CardDetails } from "../store/payments/saved-cards.ts";
import type { CheckoutPage, TopUp, TopUpKind } from "../store/payments/top-ups.ts";

/** A dispute as the provider has it. An inquiry has moved no money. */
export interface ProviderDispute {
  readonly state: "inquiry" | "open" | "won" | "lost";
  readonly amount: NanoUsd;
}

/** Enough of a top-up to make its row again. */
export interface ProviderOrder {
  readonly accountId: string;
  readonly surface: Surface;
  readonly kind: TopUpKind;
  readonly amount: NanoUsd;
  readonly bonus: NanoUsd;
}

/** A payment as the provider has it at this moment. */
export interface ProviderPayment {
  /** The provider's own id of the payment. */
  readonly intent: string;
  readonly status: "pending" | "succeeded" | "failed";
  readonly currency: string;
  /** The amount that the payer has paid. */
  readonly received: NanoUsd;
  /** The provider's own id of the payer; null where it names none. */
  readonly customer: string | null;
  /** The id of our top-up by its metadata, which may have been changed; null for none. */
  readonly topUpId: string | null;
  /** The order, by the metadata of the payment; null for a payment without such metadata. */
  readonly order: ProviderOrder | null;
  /** When the payment was made; null before. */
  readonly paidAt: Date | null;
  /** The amount that was or will be returned to the payer, without failed refunds. */
  readonly refunded: NanoUsd;
  readonly disputes: readonly ProviderDispute[];
  readonly hasFraudWarning: boolean;
  readonly card: CardDetails | null;
  /** The provider's fingerprint of the card, the same for all its customers; null for none. */
  readonly fingerprint: string | null;
  /** The tax in a charge of a saved card; the tax of a page stands in its `ProviderCheckout`. */
  readonly tax: NanoUsd;
  /** The provider's page with the receipt; null for none. */
  readonly receiptUrl: string | null;
  /** True if the payer agreed that the card is charged again. */
  readonly isCardSaved: boolean;
  readonly failure: PaymentFailure | null;
}

export interface PaymentFailure {
  /** The provider's word for the reason. */
  readonly code: string;
  /** The holder must authenticate: no attempt without them can succeed. */
  readonly needsAuthentication: boolean;
  /** The provider says that the card must not be charged again. */
  readonly isFinal: boolean;
}

/** The page of a provider where a top-up is paid, as it is at this moment. */
export interface ProviderCheckout {
  /** True if the top-up can no longer be paid on the page. */
  readonly isExpired: boolean;
  /** The id of our top-up; null if the page is not ours. */
  readonly topUpId: string | null;
  readonly intent: string | null;
  /** The tax that the page has added. */
  readonly tax: NanoUsd;
}

/** A page, and the id of our top-up by the reference that it was made with. */
export interface CheckoutRef {
  readonly checkout: string;
  readonly topUpId: string | null;
}

/** The object to read because of an event. */
export type EventSubject =
  | { readonly kind: "payment"; readonly intent: string }
  | { readonly kind: "checkout"; readonly checkout: string }
  | { readonly kind: "card_removed"; readonly card: string }
  | { readonly kind: "customer_removed"; readonly customer: string }
  | { readonly kind: "none" };

/** An event that must not be believed; the reason is a metric's label. */
export class EventRefused extends Error {
  override readonly name = "EventRefused";

  constructor(
    readonly reason: "signature" | "stale" | "malformed" | "wrong_account",
    message: string,
  ) {
    super(message);
  }
}

/** The provider did not answer, or not in time: the request may have been carried out. */
export class ProviderAway extends Error {
  override readonly name = "ProviderAway";
  /**
   * The provider has saved the failure under the idempotency key: every repeat with this key fails
   * in the same way.
   */
  readonly isSaved: boolean;

  constructor(message: string, { cause, isSaved }: { cause: unknown; isSaved: boolean }) {
    super(message, { cause });
    this.isSaved = isSaved;
  }
}

/** The provider does not make a refund; the message is its own. */
export class RefundRefused extends Error {
  override readonly name = "RefundRefused";

  constructor(
    /** `reused`: the idempotency key stands for another refund. */
    readonly reason: "reused" | "not_possible",
    message: string,
  ) {
    super(message);
  }
}

export interface CheckoutTerms {
  readonly topUp: TopUp;
  readonly customer: string;
  /** The address to which the page sends the payer; null for the configured address. */
  readonly returnUrl: string | null;
}

export interface ChargeTerms {
  readonly topUp: TopUp;
  readonly customer: string;
  /**
   * The number of the attempt, from 1 on. The same attempt never charges twice; later attempts are
   * of the same payment.
   */
  readonly attempt: number;
}

export interface RefundTerms {
  /** The amount; null for all that is left. */
  readonly amount: NanoUsd | null;
  /** Names the refund, also at the provider. */
  readonly key: string;
  /**
   * The number of the attempt, from 1 on. A further attempt must follow only if no repeat of the
   * last one can refund.
   */
  readonly attempt: number;
}

export interface CreditNoteTerms {
  /** The provider's own id of the refund. */
  readonly refund: string;
  /** The key of the refund, which the credit note has too. */
  readonly key: string;
}

export const DOCUMENT_KINDS = ["invoice", "credit_note"] as const;

/** A document about a payment that its provider has issued. */
export interface PaymentDocument {
  readonly kind: (typeof DOCUMENT_KINDS)[number];
  /** The number that the provider printed on it; null if it has none. */
  readonly number: string | null;
  readonly amount: NanoUsd;
  readonly issuedAt: Date;
  /** The address of the PDF, which ends after some time. */
  readonly url: string;
}

export interface PaymentProvider {
  readonly name: ProviderName;
  /** True if the provider computes taxes and adds them to the amount. */
  readonly addsTax: boolean;
  /** True if each page that is paid has an invoice, and each paid charge is to have one. */
  readonly issuesInvoices: boolean;
  /** Creates a new customer at each call; the first one that is stored counts. */
  createCustomer(account: { readonly id: string; readonly email: string | null }): Promise<string>;
  /** Makes the page of a top-up; a repeat returns the same page. */
  createCheckout(terms: CheckoutTerms): Promise<CheckoutPage>;
  readCheckout(checkout: string): Promise<ProviderCheckout>;
  /** The page on which a payment was made; null for one without a page. */
  findCheckout(intent: string): Promise<CheckoutRef | null>;
  /** Ends a page, which then takes no payment; a page that was paid or has ended stays as it is. */
  endCheckout(checkout: string): Promise<void>;
  /**
   * Charges a saved card. A declined card is a payment that failed, not an error. Null if no
   * payment can be made, because the provider cannot compute its tax.
   */
  chargeCard(terms: ChargeTerms): Promise<ProviderPayment | null>;
  /** Null when the provider has no such payment. */
  readPayment(intent: string): Promise<ProviderPayment | null>;
  /** Looks for the payment of a top-up by our own id of it; null if the top-up has no payment. */
  findPayment(topUp: TopUp, customer: string): Promise<ProviderPayment | null>;
  /**
   * Refunds a payment, unless a refund with this key is there. The same attempt never refunds
   * twice, whenever it comes again. Answers the provider's own id of the refund.
   * @throws RefundRefused, ProviderAway
   */
  refund(intent: string, terms: RefundTerms): Promise<string>;
  /**
   * Issues the invoice of a paid charge of a saved card, unless it is there. The call takes no
   * money.
   * @throws ProviderAway, and an Error if the invoice would be of another amount than was paid
   */
  issueInvoice(topUp: TopUp): Promise<void>;
  /**
   * Issues the credit note of a refund of a payment that has an invoice, unless it is there; false
   * if there is none to issue. @throws ProviderAway
   */
  issueCreditNote(intent: string, terms: CreditNoteTerms): Promise<boolean>;
  /** The invoice of a payment, then its credit notes; none if it has no invoice. */
  documentsOf(intent: string): Promise<readonly PaymentDocument[]>;
  removeCard(card: string): Promise<void>;
  /** Verifies an event. @throws EventRefused */
  verifyEvent(body: string, signature: string): Promise<ProviderEvent>;
  /** The object to read because of an event, found by the ids of the event alone. */
  subjectOf(event: Pick<ProviderEvent, "object" | "objectId" | "type">): Promise<EventSubject>;
  /**
   * All payments of our top-ups that succeeded, whenever they were made: those whose metadata says
   * so, and those whose ids are `known`.
   */
  listPayments(known: ReadonlySet<string>): AsyncIterable<ProviderPayment>;
  /** All events since a time, oldest first, as far back as the provider keeps them. */
  listEvents(since: Date): AsyncIterable<ProviderEvent>;
}
