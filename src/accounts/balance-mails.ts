// Mails holders that a balance runs low, or that free credit is about to end.

import type { ReadBrand } from "../core/brand/brand.ts";
import { DAY_MS } from "../core/durations.ts";
import { toDollars } from "../core/money/money.ts";
import { mailTime, type ServiceMailParts, serviceMail } from "../core/service-mail.ts";
import type {
  BalanceNotices,
  EndingCredit,
  LowBalance,
} from "../store/accounts/balance-notices.ts";
import { addServiceMail, type NewServiceMail } from "../store/mail/outbox.ts";

/** Percentages of the last top-up. */
const LOW = { low: 20, veryLow: 5 } as const;
const ENDING_MS = 7 * DAY_MS;
/** The most accounts of one run; the next run finds the others. */
const AT_ONCE = 500;

export interface BalanceMailDeps {
  readonly notices: BalanceNotices;
  readonly brand: ReadBrand;
  /** The page where a holder tops up; null if no payment provider is configured. */
  readonly billingUrl: string | null;
  readonly now: () => number;
}

/** Adds the mails that are due; returns how many. Each is sent once, however often this runs. */
export async function sendBalanceMails(deps: BalanceMailDeps): Promise<number> {
  const { notices } = deps;
  const now = new Date(deps.now());
  const low = await notices.lowBalances(LOW, AT_ONCE);
  const ending = await notices.endingCredits(now, new Date(now.getTime() + ENDING_MS), AT_ONCE);
  const mails = [
    ...low.map((one) => lowBalanceMail(deps, one)),
    ...ending.map((one) => endingMail(deps, one)),
  ];
  for (const mail of mails) {
    await notices.database.db.transaction((tx) => addServiceMail(tx, mail, now));
  }
  return mails.length;
}

type BalanceMailTerms = Pick<BalanceMailDeps, "brand" | "billingUrl">;

function lowBalanceMail(terms: BalanceMailTerms, low: LowBalance): NewServiceMail {
  const { account, email, percent, paid, topUp, uniqueKey } = low;
  return {
    kind: "low_balance",
    account,
    to: email,
    uniqueKey,
    ...content(terms, {
      subject: `Your balance is below ${percent} % of your last top-up`,
      paragraphs: [
        `${toDollars(paid)} of paid balance are left. Calls that cost more than what is left are ` +
          "refused, and nothing is charged for them.",
      ],
      facts: [
        ["Paid balance", toDollars(paid)],
        ["Last top-up", toDollars(topUp)],
      ],
    }),
  };
}

function endingMail(terms: BalanceMailTerms, ending: EndingCredit): NewServiceMail {
  const { account, email, left, endsAt, uniqueKey } = ending;
  const day = endsAt.toISOString().slice(0, 10);
  return {
    kind: "free_credit_ending",
    account,
    to: email,
    uniqueKey,
    ...content(terms, {
      subject: `Your free credit ends on ${day}`,
      paragraphs: [
        `${toDollars(left)} of free credit are left, and end on ${day} (UTC). To go on after ` +
          "that, top up your balance.",
      ],
      facts: [
        ["Free credit", toDollars(left)],
        ["Ends", mailTime(endsAt)],
      ],
    }),
  };
}

function content({ brand, billingUrl }: BalanceMailTerms, parts: Omit<ServiceMailParts, "brand">) {
  const button = billingUrl === null ? {} : { button: { label: "Top up", url: billingUrl } };
  return serviceMail({ brand: brand(), ...parts, ...button });
}
