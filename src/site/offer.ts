// The offer in words for visitors: the services with their prices, and the models.

import { SERVICES, type ServiceName } from "../core/access/services.ts";
import { MESSAGE_PRICE, RECIPIENT_PRICE } from "../core/mail.ts";
import { firstRow } from "../core/money/call-cost.ts";
import type { NanoUsd, PicoUsd } from "../core/money/money.ts";
import { charge, decimalPerMillion, pricePerUnit, toDecimal } from "../core/money/money.ts";
import { furtherWords, rowWords } from "../core/money/price-fields.ts";
import {
  type ChatCatalogue,
  GUIDE_MODEL,
  type ModelEntry,
  servesChat,
} from "../services/chat/models/catalogue.ts";
import type { MapsConfig } from "../services/maps/servers.ts";
import type { SearchOffer } from "../services/search/search-catalogue.ts";
import type { SiteTexts } from "./texts/english.ts";

/** The part of a catalogue that visitors read. */
export interface SoldThings extends Pick<ChatCatalogue, "models"> {
  readonly search: Pick<SearchOffer, "pricePerResult">;
  readonly maps: Pick<MapsConfig, "prices">;
}

/** A price in USD, as decimal digits. */
export interface UnitPrice {
  readonly usd: string;
  readonly unit: string;
}

export interface SoldService {
  readonly name: ServiceName;
  readonly title: string;
  readonly about: string;
  readonly prices: readonly UnitPrice[];
}

export interface SoldModel {
  readonly id: string;
  readonly label: string;
  /** USD for a million tokens. */
  readonly input: string;
  readonly output: string;
  readonly cachedInput: string | null;
  /** The other prices of the model, in words. */
  readonly further: string;
  /** True if the model can be asked to chat. */
  readonly chats: boolean;
}

/** A line of a receipt. */
export interface ReceiptLine {
  readonly what: string;
  readonly quantity: number;
  readonly price: UnitPrice;
  readonly usd: string;
}

/** The receipt of a typical call at today's prices. */
export interface SampleReceipt {
  readonly of: string;
  readonly lines: readonly ReceiptLine[];
  readonly total: string;
}

const THOUSAND = 1_000;
/** Thousands, so that each line is a whole number of nano-USD and the lines add up. */
const PROMPT_TOKENS = 2_000;
const OUTPUT_TOKENS = 1_000;
const FURTHER_MAX = 160;

/** The services as the documentation has them; one without a price here is shown without one. */
export function soldServices(
  { models, search, maps }: SoldThings,
  { units, services }: SiteTexts,
): readonly SoldService[] {
  const thousand = (price: PicoUsd, unit: string) => {
    return { usd: toDecimal(charge([[THOUSAND, price]])), unit };
  };
  const chosen = shownModels(models);
  const prices: Partial<Record<ServiceName, readonly UnitPrice[]>> = {
    chat: cheapest(chosen, units),
    search: [each(search.pricePerResult, units.result)],
    maps: [thousand(maps.prices.standard, units.calls), thousand(maps.prices.tiles, units.tiles)],
    mail: [each(MESSAGE_PRICE, units.message), each(RECIPIENT_PRICE, units.recipient)],
  };
  return (Object.keys(SERVICES) as ServiceName[]).map((name) => {
    const { title, about } = services[name];
    return { name, title, about, prices: prices[name] ?? [] };
  });
}

/** The models, in the order of the configuration. */
export function soldModels({ models }: SoldThings): readonly SoldModel[] {
  return shownModels(models).map((model) => {
    const first = firstRow(model.prices);
    const { input, output, cachedInput } = first;
    const others = model.prices.rows.slice(1).map(rowWords);
    const more = [furtherWords(first).join(", "), ...others].filter((words) => words !== "");
    const further = more.join("; ");
    return {
      id: model.id,
      label: model.label,
      input: decimalPerMillion(input),
      output: decimalPerMillion(output),
      cachedInput: cachedInput === null ? null : decimalPerMillion(cachedInput),
      further: further.length > FURTHER_MAX ? `${further.slice(0, FURTHER_MAX)}…` : further,
      chats: servesChat(model),
    };
  });
}

/** The price of one unit. */
function each(price: PicoUsd, unit: string): UnitPrice {
  return { usd: pricePerUnit(price), unit };
}

/** A chat with the first model for chat; ten results of a search if there is none. */
export function sampleReceipt(
  sold: SoldThings,
  { lines, units, webSearch }: SiteTexts,
): SampleReceipt {
  const model = shownModels(sold.models).find(servesChat);
  if (model === undefined) {
    const price = sold.search.pricePerResult;
    return receiptOf(webSearch, [[lines.results, 10, price, each(price, units.result)]]);
  }
  const perMillion = (price: PicoUsd) => ({
    usd: decimalPerMillion(price),
    unit: units.millionShort,
  });
  const { input, output, fees } = firstRow(model.prices);
  const fee = fees?.request?.price;
  const chat: Line[] = [
    [lines.tokensIn, PROMPT_TOKENS, input, perMillion(input)],
    [lines.tokensOut, OUTPUT_TOKENS, output, perMillion(output)],
  ];
  if (fee !== undefined) chat.push([lines.request, 1, fee, each(fee, units.request)]);
  return receiptOf(model.label, chat);
}

type Line = readonly [what: string, quantity: number, price: PicoUsd, shown: UnitPrice];

function receiptOf(of: string, lines: readonly Line[]): SampleReceipt {
  const cost = (some: readonly Line[]): NanoUsd =>
    charge(some.map(([, quantity, price]) => [quantity, price]));
  return {
    of,
    lines: lines.map((line) => {
      const [what, quantity, , price] = line;
      return { what, quantity, price, usd: toDecimal(cost([line])) };
    }),
    total: toDecimal(cost(lines)),
  };
}

/** The built-in guide is shown only where it is the only model. */
function shownModels(models: SoldThings["models"]): readonly ModelEntry[] {
  const all = [...models.values()];
  const own = all.filter(({ id }) => id !== GUIDE_MODEL);
  return own.length > 0 ? own : all;
}

/** The lowest price of tokens among the models for chat, as "from". */
function cheapest(models: readonly ModelEntry[], { million }: SiteTexts["units"]): UnitPrice[] {
  const inputs = models.filter(servesChat).map(({ prices }) => firstRow(prices).input);
  const [first, ...others] = inputs;
  if (first === undefined) return [];
  const least = others.reduce((least, one) => (one < least ? one : least), first);
  return [{ usd: decimalPerMillion(least), unit: million }];
}
