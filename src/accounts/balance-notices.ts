// Says that a balance runs low, or that free credit is about to end: by mails to holders, and by
// events to the receivers of webhooks.

import type { BillingUrl } from "../core/account-page.ts";
import type { ReadBrand } from "../core/brand/brand.ts";
import { DAY_MS } from "../core/durations.ts";
import { type MailContentOf, mailOfReader, type WriteMail } from "../core/mails/mail-texts.ts";
import { usd } from "../core/money/money.ts";
import { type NewWebhookEvent, webhookEvent } from "../core/webhooks/webhook-events.ts";
import type {
  BalanceNotices,
  EndingCredit,
  LowBalance,
  LowBalanceEvent,
} from "../store/accounts/balance-notices.ts";
import { addServiceMail, type NewServiceMail } from "../store/mail/outbox.ts";
import { addWebhookEvents } from "../store/webhooks/webhook-outbox.ts";

/** Percentages of the last top-up. */
const LOW = { low: 20, veryLow: 5 } as const;
/** With less than this, nearly every call is refused. */
const EMPTY = usd("0.01");
const ENDING_MS = 7 * DAY_MS;
/** The most accounts of one run; the next run finds the others. */
const AT_ONCE = 500;

export interface BalanceMailDeps {
  readonly notices: BalanceNotices;
  readonly brand: ReadBrand;
  /** The page where a holder tops up; null if no payment provider is configured. */
  readonly billingUrl: BillingUrl | null;
  readonly now: () => number;
}

/** Adds the mails that are due; returns how many. Each is sent once, however often this runs. */
export async function sendBalanceMails(deps: BalanceMailDeps): Promise<number> {
  const { notices } = deps;
  const now = new Date(deps.now());
  const low = await notices.lowBalances(LOW, AT_ONCE);
  const ending = await notices.endingCredits(endingBy(now), AT_ONCE);
  const mails = [
    ...low.map((one) => lowBalanceMail(deps, one)),
    ...ending.map((one) => endingMail(deps, one)),
  ];
  for (const mail of mails) {
    await notices.database.db.transaction((tx) => addServiceMail(tx, mail, now));
  }
  return mails.length;
}

function endingBy(now: Date) {
  return { now, before: new Date(now.getTime() + ENDING_MS) };
}

/**
 * Adds the events that are due; returns how many were found. Each is sent once, however often this
 * runs.
 */
export async function addBalanceEvents({
  notices,
  now,
}: Pick<BalanceMailDeps, "notices" | "now">): Promise<number> {
  const { database } = notices;
  const low = await notices.lowBalanceEvents({ ...LOW, empty: EMPTY }, AT_ONCE);
  const ending = await notices.endingCreditEvents(endingBy(new Date(now())), AT_ONCE);
  const due = [
    ...low.map((one) => [one.account, lowBalanceEvent(one)] as const),
    ...ending.map(({ account, uniqueKey, left: free, endsAt }) => {
      const event = webhookEvent("free_credit.ending", uniqueKey, { free, endsAt });
      return [account, event] as const;
    }),
  ];
  for (const [account, event] of due) {
    await database.db.transaction((tx) => addWebhookEvents(tx, account, [event]));
  }
  return due.length;
}

function lowBalanceEvent(low: LowBalanceEvent): NewWebhookEvent {
  const { type, percent, paid, topUp, uniqueKey } = low;
  return type === "balance.low"
    ? webhookEvent(type, uniqueKey, { percent, paid, topUp })
    : webhookEvent(type, uniqueKey, { paid, topUp });
}

type BalanceMailTerms = Pick<BalanceMailDeps, "brand" | "billingUrl">;

function lowBalanceMail(terms: BalanceMailTerms, low: LowBalance): NewServiceMail {
  const { account, email, percent, paid, topUp, uniqueKey } = low;
  return {
    kind: "low_balance",
    account,
    to: email,
    uniqueKey,
    write: withTopUp(terms, low, ({ lowBalance: words, facts, usd: written }) => ({
      subject: words.subject(percent),
      paragraphs: [words.paragraph(written(paid))],
      facts: [
        [facts.paidBalance, written(paid)],
        [facts.lastTopUp, written(topUp)],
      ],
    })),
  };
}

function endingMail(terms: BalanceMailTerms, ending: EndingCredit): NewServiceMail {
  const { account, email, left, endsAt, uniqueKey } = ending;
  return {
    kind: "free_credit_ending",
    account,
    to: email,
    uniqueKey,
    write: withTopUp(terms, ending, ({ freeEnding: words, facts, usd: written, day, time }) => ({
      subject: words.subject(day(endsAt)),
      paragraphs: [words.paragraph(written(left), day(endsAt))],
      facts: [
        [facts.freeCredit, written(left)],
        [facts.ends, time(endsAt)],
      ],
    })),
  };
}

/** A mail with a button that leads to a top-up, where that is possible. */
function withTopUp(
  { brand, billingUrl }: BalanceMailTerms,
  { accountId }: Pick<LowBalance, "accountId">,
  contentOf: MailContentOf,
): WriteMail {
  const url = billingUrl?.(accountId);
  return mailOfReader(brand(), (texts) => ({
    ...contentOf(texts),
    ...(url !== undefined && { button: { label: texts.buttons.topUp, url } }),
  }));
}
