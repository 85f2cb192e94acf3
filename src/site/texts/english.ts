// The texts of the front page, in English. The other languages have the same form.

import { SERVICES, type ServiceName } from "../../core/access/services.ts";
import { DEFAULT_BRAND } from "../../core/brand/brand.ts";

type ServiceWords = Readonly<
  Record<ServiceName, { readonly title: string; readonly about: string }>
>;

export const englishSite = {
  title: (service: string) => `${service}: models, search, maps and mail by one API key`,
  /** For an installation whose brand has no sentence of its own. */
  about: DEFAULT_BRAND.about,
  skip: "Skip to the content",
  main: "Main",
  language: "Language",
  prices: "Prices",
  docs: "Docs",
  signIn: "Sign in",
  signUp: "Sign up",
  createAccount: "Create an account",
  readDocs: "Read the docs",
  lead:
    "Top up once and call everything. Each call reserves the most it can cost, is charged what " +
    "it " +
    "did cost, to the last digit, and gives back the rest. A balance never goes below zero.",
  receiptTitle: "What one call costs at today's prices",
  charged: "Charged",
  webSearch: "Web search",
  lines: {
    tokensIn: "tokens in",
    tokensOut: "tokens out",
    results: "results",
    request: "request",
  },
  at: "at",
  units: {
    million: "a million tokens",
    millionShort: "a million",
    result: "a result",
    request: "a request",
    calls: "for 1,000 calls",
    tiles: "for 1,000 map tiles",
    message: "a message",
    recipient: "a recipient",
  },
  sold: "What is sold",
  from: "from",
  services: SERVICES as ServiceWords,
  models: "Models and prices",
  modelsNote: "USD for a million tokens, as calls are charged now. The same list for programs:",
  priceList: "Price list",
  columns: { model: "Model", input: "Input", cached: "Cached input", output: "Output" },
  none: "none",
  /** The separator between the end of a sentence and the link that follows. */
  gap: " ",
  stop: ".",
  more: (count: number) => `And ${count} more:`,
  allModels: "all models",
  firstCall: "The first call",
  firstCallNote: "Clients of OpenAI's and Anthropic's APIs work with another base URL and key.",
};

export type SiteTexts = typeof englishSite;
