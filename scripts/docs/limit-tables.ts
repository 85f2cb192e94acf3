// Makes the tables of the limits in SPEC 8, so that the pages repeat no number of them.

import type { TSchema } from "@sinclair/typebox";
import { FREE_PLAN_ALLOWANCE, PLANS, TIERS } from "../../src/core/access/limits.ts";
import { serviceOfScope } from "../../src/core/access/services.ts";
import { unlockWords } from "../../src/core/access/tier-words.ts";
import { dollars, toDecimal } from "../../src/core/money/money.ts";
import { TOP_UP_CAPS, TOP_UP_MIN } from "../../src/core/money/top-up-caps.ts";
import { capitalised } from "../../src/core/text/capital.ts";
import { LIMIT_BOUNDS } from "../../src/services/chat/default-limit.ts";
import { Limits } from "../../src/services/chat/settings/limits-section.ts";
import { table } from "./markdown.ts";

const COUNT = new Intl.NumberFormat("en-US");
const count = (number: number | bigint) => COUNT.format(number);
const usd = (amount: bigint) => `$${count(amount / 1_000_000_000n)}`;

/** The limits of each tier, and the services that it has beside chat. */
export function tierTable(): string {
  const head = [
    "tier",
    "reached by",
    "requests a minute, each key",
    "open streams",
    "other calls open at once",
    "spent a month",
  ];
  const rows = TIERS.map((tier) => [
    capitalised(tier.name),
    unlockWords(tier),
    count(tier.requestsPerMinute),
    count(tier.streams),
    count(tier.openCalls),
    usd(tier.monthlyCap),
    tier.services.map(serviceOfScope).join(", "),
    tier.batchSearches === 0 ? "none" : count(tier.batchSearches),
  ]);
  return table([...head, "services", "searches in a batch"], rows);
}

/** The limits of mail in each tier that has it. */
export function mailLimitTable(): string {
  const rows = TIERS.flatMap(({ name, mail }) =>
    mail === null
      ? []
      : [
          [
            capitalised(name),
            count(mail.recipientsPerDay),
            count(mail.messagesPerMinute),
            count(mail.recipientsPerMessage),
          ],
        ],
  );
  return table(
    ["tier", "recipients a day (UTC)", "messages a minute", "recipients of a message"],
    rows,
  );
}

/** The limits of the plans of application accounts. */
export function planTable(): string {
  const rows = Object.values(PLANS).map((plan) => [
    plan.name,
    count(plan.accountRequestsPerMinute ?? 0),
    count(plan.requestsPerMinute),
    count(plan.openCalls),
    plan.name === "free" ? `a monthly allowance, ${dollars(FREE_PLAN_ALLOWANCE)} by default` : "",
  ]);
  const head = ["plan", "requests a minute, all keys together", "each key", "calls open at once"];
  return table([...head, "besides credits"], rows);
}

/** The caps of top-ups in USD, by tier. */
export function topUpCapTable(): string {
  const cap = (amount: bigint) => (amount === 0n ? "none" : count(amount / 1_000_000_000n));
  const rows = Object.entries(TOP_UP_CAPS).map(([name, caps]) => [
    capitalised(name),
    `${toDecimal(TOP_UP_MIN)} to ${cap(caps.manual)}`,
    cap(caps.manualDay),
    cap(caps.auto),
    cap(caps.autoDay),
    cap(caps.autoMonth),
  ]);
  const head = ["the tier", "by hand, at once", "by hand, in 24 hours", "automatic, at once"];
  return table([...head, "in 24 hours", "in a month"], rows);
}

/** The limits of chat completions that the configuration can raise. */
export function chatLimitTable(): string {
  const fields: Readonly<Record<string, TSchema>> = Limits.properties;
  const rows = Object.entries(fields).map(([name, { description = "", maximum }]) => [
    `\`${name}\``,
    description,
    count(Number(maximum)),
  ]);
  return table(["in `chat_limits`", "what it limits", "at most"], rows);
}

/** The reasons of the output limit of a response whose caller sets none. */
export function limitBoundTable(): string {
  const rows = Object.entries(LIMIT_BOUNDS).map(([bound, why]) => [`\`${bound}\``, why]);
  return table(["`by`", "the limit"], rows);
}
