// The parts that all mails about payments share.

import { type ServiceMailKind, type ServiceMailParts, serviceMail } from "../core/service-mail.ts";
import type { HolderMail } from "../store/mail/outbox.ts";

export interface MailTerms {
  /** The name of the service, as recipients read it. */
  readonly service: string;
  /** The page where a holder finds payments and cards. */
  readonly billingUrl: string;
}

/** A mail to the holder of an account. */
export function holderMail(
  { service }: MailTerms,
  kind: ServiceMailKind,
  parts: Omit<ServiceMailParts, "service">,
): HolderMail {
  return { kind, ...serviceMail({ service, ...parts }) };
}
