// Writes the mail to the holder of an account whose webhook was disabled.

import type { ReadBrand } from "../core/brand/brand.ts";
import { serviceMail } from "../core/service-mail.ts";
import type { HolderMail } from "../store/mail/outbox.ts";
import type { WhyDisabled } from "../store/webhooks/webhook-deliveries.ts";

export interface WebhookMailTerms {
  readonly brand: ReadBrand;
  /** The origin where people open the console; null if there is none. */
  readonly origin: string | null;
}

const REASONS: Readonly<Record<WhyDisabled, string>> = {
  gone: "It answered 410 (Gone), which asks for no more events.",
  failing: "It took no event for 24 hours, in spite of many attempts.",
};

/**
 * Says that a webhook gets no more events, and how it gets them again. It names only the host: the
 * path of an address may be a secret.
 */
export function webhookDisabledMail(
  { brand, origin }: WebhookMailTerms,
  why: WhyDisabled,
  { account, url }: { readonly account: string; readonly url: string },
): HolderMail {
  const { host } = new URL(url);
  const page = origin === null ? null : new URL(`/dashboard/${account}/webhooks`, origin).href;
  return {
    kind: "webhook_disabled",
    ...serviceMail({
      brand: brand(),
      subject: `Your webhook at ${host} was disabled`,
      paragraphs: [
        `${REASONS[why]} No more events are sent to it until you enable it again. Events that it ` +
          "did not take in the last 30 days can then be sent again.",
      ],
      facts: [["Webhook", host]],
      ...(page !== null && { button: { label: "Look at your webhooks", url: page } }),
    }),
  };
}
