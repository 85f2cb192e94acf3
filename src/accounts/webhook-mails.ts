// Writes the mail to the holder of an account whose webhook was disabled.

import { accountPage } from "../core/account-page.ts";
import type { ReadBrand } from "../core/brand/brand.ts";
import { mailOfReader } from "../core/mails/mail-texts.ts";
import type { HolderMail } from "../store/mail/outbox.ts";
import type { WhyDisabled } from "../store/webhooks/webhook-deliveries.ts";

export interface WebhookMailTerms {
  readonly brand: ReadBrand;
  /** The origin where people open the console; null if there is none. */
  readonly origin: string | null;
}

/**
 * Says that a webhook gets no more events, and how it gets them again. The mail names only the
 * host: the path of an address may be a secret.
 */
export function webhookDisabledMail(
  { brand, origin }: WebhookMailTerms,
  why: WhyDisabled,
  { account, url }: { readonly account: string; readonly url: string },
): HolderMail {
  const { host } = new URL(url);
  const page = origin === null ? null : accountPage(origin, account, "webhooks").href;
  return {
    kind: "webhook_disabled",
    write: mailOfReader(brand(), ({ webhookDisabled: words, facts, buttons, gap }) => ({
      subject: words.subject(host),
      paragraphs: [`${words.why[why]}${gap}${words.after}`],
      facts: [[facts.webhook, host]],
      ...(page !== null && { button: { label: buttons.webhooks, url: page } }),
    })),
  };
}
