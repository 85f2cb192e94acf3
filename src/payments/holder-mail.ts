// The parts that all mails about payments share.

import type { ReadBrand } from "../core/brand/brand.ts";
import { type ServiceMailKind, type ServiceMailParts, serviceMail } from "../core/service-mail.ts";
import type { HolderMail } from "../store/mail/outbox.ts";

export interface MailTerms {
  readonly brand: ReadBrand;
  /** The page where a holder finds payments and cards. */
  readonly billingUrl: string;
}

/** A mail to the holder of an account. */
export function holderMail(
  { brand }: MailTerms,
  kind: ServiceMailKind,
  parts: Omit<ServiceMailParts, "brand">,
): HolderMail {
  return { kind, ...serviceMail({ brand: brand(), ...parts }) };
}
