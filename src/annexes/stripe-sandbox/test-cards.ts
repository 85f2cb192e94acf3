// Lists the cards of the sandbox, by the numbers that Stripe uses for its own test cards.

import type { SandboxTexts } from "./texts/english.ts";

/** The possible results of charging a card. */
export const BEHAVIOURS = [
  "ok",
  "declined",
  "insufficient_funds",
  "stolen",
  "authentication",
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

export interface TestCard {
  readonly number: string;
  /** The key of the page's text about the card. */
  readonly about: keyof SandboxTexts["cards"];
  /** The result on the page of the sandbox, where the holder is present. */
  readonly present: Behaviour;
  /** The result of a later charge. */
  readonly later: Behaviour;
  /** The event that follows a charge on the page. */
  readonly afterwards?: "dispute" | "fraud_warning" | "refund_fails";
}

export const TEST_CARDS: readonly TestCard[] = [
  { number: "4242424242424242", about: "accepted", present: "ok", later: "ok" },
  { number: "4000000000000002", about: "declined", present: "declined", later: "declined" },
  {
    number: "4000000000000341",
    about: "laterDeclined",
    present: "ok",
    later: "declined",
  },
  {
    number: "4000002500003155",
    about: "laterHolder",
    present: "ok",
    later: "authentication",
  },
  {
    number: "4000000000009995",
    about: "insufficientFunds",
    present: "insufficient_funds",
    later: "insufficient_funds",
  },
  {
    number: "4000000000000259",
    about: "disputed",
    present: "ok",
    later: "ok",
    afterwards: "dispute",
  },
  {
    number: "4000000000005423",
    about: "fraudWarning",
    present: "ok",
    later: "ok",
    afterwards: "fraud_warning",
  },
  {
    number: "4000000000005126",
    about: "refundFails",
    present: "ok",
    later: "ok",
    afterwards: "refund_fails",
  },
];

/** Returns Stripe's error for a card that was not charged; null for a card that was charged. */
export function declineOf(behaviour: string): Readonly<Record<string, string>> | null {
  const declined = { type: "card_error", code: "card_declined", message: "The card was declined." };
  switch (behaviour) {
    case "ok":
      return null;
    case "insufficient_funds":
      return { ...declined, decline_code: "insufficient_funds", advice_code: "try_again_later" };
    case "stolen":
      return { ...declined, decline_code: "stolen_card", advice_code: "do_not_try_again" };
    case "authentication":
      return {
        type: "card_error",
        code: "authentication_required",
        decline_code: "authentication_required",
        message: "The holder of the card must authenticate.",
      };
    default:
      return { ...declined, decline_code: "generic_decline", advice_code: "confirm_card_data" };
  }
}
