// The parts that all mails about payments share.

import type { ReadBrand } from "../core/brand/brand.ts";
import { type MailContentOf, type MailTexts, mailOfReader } from "../core/mails/mail-texts.ts";
import { failureWords } from "../core/money/payment-failures.ts";
import type { ServiceMailKind } from "../core/service-mail.ts";
import type { HolderMail } from "../store/mail/outbox.ts";

export interface MailTerms {
  readonly brand: ReadBrand;
  /** The page where the holder finds payments and cards. */
  readonly billingUrl: string;
}

/** A mail to the holder of an account. */
export function holderMail(
  { brand }: Pick<MailTerms, "brand">,
  kind: ServiceMailKind,
  contentOf: MailContentOf,
): HolderMail {
  return { kind, write: mailOfReader(brand(), contentOf) };
}

/** The button that opens a receipt, or the payments if there is none. */
export function receiptButton(
  { billingUrl }: MailTerms,
  { buttons }: Pick<MailTexts, "buttons">,
  receiptUrl: string | null,
): { readonly label: string; readonly url: string } {
  return receiptUrl === null
    ? { label: buttons.payments, url: billingUrl }
    : { label: buttons.receipt, url: receiptUrl };
}

/** The reason of a failed charge, in the language of its reader. */
export function reasonText(
  { payments }: Pick<MailTexts, "payments">,
  failure: string | null,
): string {
  return failure === null ? payments.noReason : failureWords(payments.failures, failure);
}
