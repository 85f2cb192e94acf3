// `farebox topup …` makes top-ups through the payment provider, for the holder of an account.

import { findAccount } from "../../accounts/administration.ts";
import { DEFAULT_BRAND, type ReadBrand } from "../../core/brand/brand.ts";
import { AdministrationError } from "../../core/errors.ts";
import { newSuffix } from "../../core/ids.ts";
import { CONSENT_VERSION, consentText } from "../../core/money/consent.ts";
import { dollars, toJsonNumber } from "../../core/money/money.ts";
import { movesMoney } from "../../core/money/payment-names.ts";
import {
  type AutoSettings,
  autoSettingsOf,
  disableAuto,
  enableAuto,
} from "../../payments/auto-settings.ts";
import { removeOwnCard } from "../../payments/cards.ts";
import { openPayments } from "../../payments/open-payments.ts";
import { neededVariables, PROVIDER_KINDS } from "../../payments/providers.ts";
import type { PaymentDeps } from "../../payments/read-top-up.ts";
import { refundTopUp } from "../../payments/refund.ts";
import { orderCharge, startCheckout } from "../../payments/top-ups.ts";
import { loadPaymentConfig } from "../../settings/config.ts";
import type { AutoTopUp } from "../../store/payments/auto-top-ups.ts";
import type { SavedCard } from "../../store/payments/saved-cards.ts";
import { brandOf } from "../brand.ts";
import { type Answer, type Command, type Input, UsageError } from "../command.ts";
import { indented, table, utc } from "../print.ts";
import type { Stores } from "../stores.ts";
import { cardOption, idOf, positiveAmountOf, referenceOf } from "../values.ts";
import { ended, priceText, topUpJson, topUpRow } from "./top-up-print.ts";

const AMOUNT = { value: "N", help: "the amount, in whole cents", required: true } as const;
const SANDBOX = "This is the sandbox: no real money moves.";

/**
 * The configured payment provider.
 * @throws AdministrationError if no provider is configured
 */
export async function paymentsOf(stores: Stores): Promise<PaymentDeps> {
  return openConfigured(stores, await brandOf(stores));
}

/**
 * The configured payment provider, for commands that only read: these send no mail under a name.
 */
export function paymentsRead(stores: Stores): Pick<PaymentDeps, "provider" | "topUps"> {
  return openConfigured(stores, () => DEFAULT_BRAND);
}

function openConfigured(
  { database, actors, administration, random, environment, warn, consoleOrigin }: Stores,
  brand: ReadBrand,
): PaymentDeps {
  const config = loadPaymentConfig(environment);
  if (config === null) {
    throw new AdministrationError(
      "no_payment_provider",
      `No payment provider is configured: set ${PROVIDER_KINDS.map(neededVariables).join(", or ")}`,
    );
  }
  if (!movesMoney(config.name)) warn(SANDBOX);
  const log = { info: () => {}, warn: noted(warn), error: noted(warn) };
  const { now } = administration;
  return openPayments({
    config,
    database,
    actors,
    now,
    random,
    log,
    brand,
    origin: consoleOrigin,
  });
}

function noted(warn: Stores["warn"]): (fields: object, message: string) => void {
  return (_, message) => warn(message);
}

const link: Command = {
  name: "topup link",
  positionals: ["ID"],
  summary: "Make a page where the holder of an account pays a top-up",
  options: {
    usd: AMOUNT,
    "save-card": { value: null, help: "the page says that the card is saved for later charges" },
  },
  prepare(input) {
    const id = idOf(input, "account");
    const amount = positiveAmountOf(input, "usd");
    const savesCard = input.values.has("save-card");
    return async (stores) => {
      const account = await findAccount(stores.administration, id);
      const topUp = await startCheckout(await paymentsOf(stores), account, { amount, savesCard });
      const until = topUp.expiresAt === null ? "" : `, until ${utc(topUp.expiresAt)}`;
      return {
        json: { ...topUpJson(topUp), account: id },
        text: `Top-up ${topUp.id} (${priceText(topUp)}) is paid here${until}:\n${topUp.url}`,
      };
    };
  },
};

const charge: Command = {
  name: "topup charge",
  positionals: ["ID"],
  summary: "Charge a saved card, as the holder of the account asked",
  options: {
    usd: AMOUNT,
    card: { value: "CARD-ID", help: "which card (the newest)" },
    id: { value: "REF", help: "with the same one nothing is charged twice" },
  },
  prepare(input) {
    const id = idOf(input, "account");
    const amount = positiveAmountOf(input, "usd");
    const cardId = cardOption(input, "card");
    const reference = referenceOf(input, "id");
    return async (stores) => {
      const account = await findAccount(stores.administration, id);
      // Without a reference of the operator's, a new suffix lets a charge without an answer be
      // found again.
      const request = reference ?? newSuffix(stores.random);
      const order = { amount, cardId, request };
      return ended(await orderCharge(await paymentsOf(stores), account, order));
    };
  },
};

const refund: Command = {
  name: "topup refund",
  positionals: ["TOPUP-ID"],
  summary: "Refund a top-up at the payment provider: all that is left of it, or a part",
  options: {
    usd: { value: "N", help: "what is refunded now, in whole cents (all that is left)" },
    id: { value: "REF", help: "with the same one nothing is refunded twice", required: true },
  },
  prepare(input) {
    const id = idOf(input, "topUp");
    const amount = input.values.has("usd") ? positiveAmountOf(input, "usd") : null;
    const reference = referenceOf(input, "id") ?? "";
    return async (stores) => {
      const topUp = await refundTopUp(await paymentsOf(stores), id, { amount, reference });
      return {
        json: topUpJson(topUp),
        text: `Ordered the refund of ${id}. By now: ${topUp.concern ?? "nothing is refunded"}.`,
      };
    };
  },
};

const list: Command = {
  name: "topup list",
  positionals: ["ID"],
  summary: "List the top-ups of an account: how they were paid and how they ended",
  options: {},
  prepare(input) {
    const id = idOf(input, "account");
    return async (stores) => {
      const account = await findAccount(stores.administration, id);
      const topUps = await (await paymentsOf(stores)).topUps.list(account.number);
      const text = topUps.length === 0 ? "none" : table(topUps.map(topUpRow));
      return {
        json: { account: id, top_ups: topUps.map(topUpJson) },
        text: `top-ups of ${id}\n${indented(text)}`,
      };
    };
  },
};

const cards: Command = {
  name: "topup cards",
  positionals: ["ID"],
  summary: "List the saved cards of an account, or remove one",
  options: { remove: { value: "CARD-ID", help: "removes this card here and at the provider" } },
  prepare(input) {
    const id = idOf(input, "account");
    const cardId = cardOption(input, "remove");
    return async (stores) => {
      const account = await findAccount(stores.administration, id);
      const payments = await paymentsOf(stores);
      if (cardId !== null) await removeOwnCard(payments, account, cardId);
      const left = await payments.cards.list(account.number, payments.provider.name);
      const text = left.length === 0 ? "none" : table(left.map(cardRow));
      return {
        json: { account: id, cards: left.map(cardJson) },
        text: `saved cards of ${id}\n${indented(text)}`,
      };
    };
  },
};

const auto: Command = {
  name: "topup auto",
  positionals: ["ID"],
  summary: "Show, set or end the automatic top-up of an account",
  options: {
    usd: { value: "N", help: "what is charged each time; sets it up, or changes and resumes it" },
    below: { value: "N", help: "charges when the paid balance falls below this" },
    month: { value: "N", help: "the holder's own cap for a UTC month" },
    card: { value: "CARD-ID", help: "which card (the newest)" },
    consent: { value: null, help: "the holder agreed that the card is charged automatically" },
    off: { value: null, help: "ends it" },
  },
  prepare(input) {
    const id = idOf(input, "account");
    const settings = settingsOf(input);
    const isOff = input.values.has("off");
    if (isOff && settings !== null) throw new UsageError("--off cannot be given with --usd");
    return async (stores) => {
      const account = await findAccount(stores.administration, id);
      const payments = await paymentsOf(stores);
      if (settings !== null) await enableAuto(payments, account, settings);
      if (isOff) await disableAuto(payments, account);
      return autoAnswer(id, await autoSettingsOf(payments, account));
    };
  },
};

function settingsOf(input: Input): AutoSettings | null {
  if (!input.values.has("usd")) {
    const alone = ["below", "month", "card", "consent"].find((name) => input.values.has(name));
    if (alone !== undefined) throw new UsageError(`--${alone} needs --usd`);
    return null;
  }
  const missing = ["below", "month"].find((name) => !input.values.has(name));
  if (missing !== undefined) throw new UsageError(`--usd needs --${missing}`);
  if (!input.values.has("consent")) {
    const text = consentText(CONSENT_VERSION);
    throw new UsageError(`--consent must be given once the holder has agreed to this: ${text}`);
  }
  return {
    amount: positiveAmountOf(input, "usd"),
    threshold: positiveAmountOf(input, "below"),
    monthlyCap: positiveAmountOf(input, "month"),
    cardId: cardOption(input, "card"),
  };
}

function autoAnswer(account: string, settings: AutoTopUp | null): Answer {
  if (settings === null) {
    return {
      json: { account, state: "none" },
      text: `${account} has no automatic top-up.`,
    };
  }
  const { state, reason, amount, threshold, monthlyCap, cardId, lastFour } = settings;
  const word = reason === null ? state : `${state} (${reason})`;
  const how =
    `${dollars(amount)} below ${dollars(threshold)}, at most ${dollars(monthlyCap)} a month, ` +
    `by the card that ends in ${lastFour}`;
  return {
    json: {
      account,
      state,
      reason,
      amount_usd: toJsonNumber(amount),
      threshold_usd: toJsonNumber(threshold),
      monthly_cap_usd: toJsonNumber(monthlyCap),
      card: cardId,
    },
    text: `Automatic top-up of ${account}: ${word}; ${how}.`,
  };
}

function cardJson(card: SavedCard): Record<string, unknown> {
  const { id, brand, lastFour, expiryMonth, expiryYear, consentVersion, consentAt } = card;
  return {
    id,
    brand,
    last_four: lastFour,
    expires: expiry({ expiryMonth, expiryYear }),
    consent_version: consentVersion,
    consent_at: consentAt,
  };
}

function cardRow(card: SavedCard): string[] {
  const { id, brand, lastFour, consentAt } = card;
  const since = `saved with consent of ${utc(consentAt)}`;
  return [id, brand, `ends in ${lastFour}`, `valid to ${expiry(card)}`, since];
}

function expiry({
  expiryMonth,
  expiryYear,
}: Pick<SavedCard, "expiryMonth" | "expiryYear">): string {
  return `${expiryYear}-${String(expiryMonth).padStart(2, "0")}`;
}

export const topUpCommands: readonly Command[] = [link, charge, list, cards, auto, refund];
