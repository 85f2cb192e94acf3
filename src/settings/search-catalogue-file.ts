// Reads the section `search` of the configuration file.

import type { Static } from "@sinclair/typebox";
import { price } from "../core/money/money.ts";
import {
  EMBEDDED_SEARCH,
  SEARCH_BASE_URLS,
  SEARCH_SERVER_DEFAULTS,
  type SearchKind,
  type SearchOffer,
  type SearchServer,
} from "../services/search/search-catalogue.ts";
import type { Search, SearchServerFile } from "./catalogue-schema.ts";
import {
  type ApiKeys,
  baseUrlOf,
  priceDigits,
  pricePerThousand,
  type Refuse,
} from "./catalogue-values.ts";
import type { LocatedJson } from "./located-json.ts";

interface FileContext {
  readonly keys: ApiKeys;
  readonly json: LocatedJson;
  readonly refuse: Refuse;
}

/** Sanity limit in USD for one result: a higher price is rejected as a typo. */
const RESULT_PRICE_MAX = 1;
const NEEDS_KEY: ReadonlySet<SearchKind> = new Set(["brave", "tavily", "serper", "exa"]);

/** Returns the offer of the section `search`; without the section, the embedded index. */
export function toSearchOffer(
  file: Static<typeof Search> | undefined,
  context: FileContext,
): SearchOffer {
  if (file === undefined) return EMBEDDED_SEARCH;
  const names = new Set<string>();
  const servers = file.providers?.map((one, index) => {
    const pointer = `/search/providers/${index}`;
    const server = toServer(one, pointer, context);
    if (names.has(server.name)) context.refuse(`${pointer}/name`, `'${server.name}' stands twice`);
    names.add(server.name);
    return server;
  });
  return {
    pricePerResult: priceOf(file.usd_per_result, context),
    servers: servers ?? EMBEDDED_SEARCH.servers,
  };
}

function priceOf(value: unknown, { json, refuse }: FileContext): SearchOffer["pricePerResult"] {
  if (value === undefined) return EMBEDDED_SEARCH.pricePerResult;
  const pointer = "/search/usd_per_result";
  const digits = typeof value === "string" ? value : json.numberAt(pointer);
  return price(
    priceDigits(digits, RESULT_PRICE_MAX, (problem) => refuse(pointer, problem)),
    1,
  );
}

function toServer(
  file: Static<typeof SearchServerFile>,
  pointer: string,
  context: FileContext,
): SearchServer {
  const { keys, refuse } = context;
  const { buying_usd_per_k: buying } = file;
  const { kind, name = kind } = file;
  const at = (field: string) => (problem: string) => refuse(`${pointer}/${field}`, problem);
  const isEmbedded = kind === "embedded";
  if (isEmbedded && file.base_url !== undefined) at("base_url")("is not for the embedded index");
  if (isEmbedded && file.api_key_env !== undefined) {
    at("api_key_env")("is not for the embedded index");
  }
  if (NEEDS_KEY.has(kind) && file.api_key_env === undefined) {
    at("api_key_env")(`is missing: ${kind} asks for a key`);
  }
  const baseUrl =
    file.base_url === undefined ? SEARCH_BASE_URLS[kind] : baseUrlOf(file.base_url, at("base_url"));
  return {
    name,
    kind,
    baseUrl: baseUrl ?? at("base_url")(`is missing: where is your ${kind}?`),
    apiKey: keys.of(pointer, file.api_key_env),
    timeoutMs: file.timeout_ms ?? SEARCH_SERVER_DEFAULTS.timeoutMs,
    concurrencyMax: file.concurrency ?? SEARCH_SERVER_DEFAULTS.concurrencyMax,
    ...(buying !== undefined && {
      buying: pricePerThousand(buying, `${pointer}/buying_usd_per_k`, context),
    }),
  };
}
