// Defines and reads search in the configuration file.

import { type Static, Type } from "@sinclair/typebox";
import { SEARCH } from "../../core/access/limits.ts";
import {
  apiKeyEnv,
  closed,
  name,
  usdAmount,
  webAddress,
  whole,
} from "../../core/configuration/fields.ts";
import {
  baseUrlOf,
  priceDigits,
  pricePerThousand,
  type SectionContext,
} from "../../core/configuration/section.ts";
import { price } from "../../core/money/money.ts";
import {
  EMBEDDED_SEARCH,
  SEARCH_BASE_URLS,
  SEARCH_KINDS,
  SEARCH_SERVER_DEFAULTS,
  SEARCH_TOOL_DEFAULTS,
  type SearchKind,
  type SearchOffer,
  type SearchServer,
} from "./search-catalogue.ts";

/** An entry of `search.providers`. */
const SearchServerFile = Type.Object(
  {
    kind: Type.Union(
      SEARCH_KINDS.map((kind) => Type.Literal(kind)),
      {
        description: "How the server is asked",
        errorMessage: `must be one of ${SEARCH_KINDS.join(", ")}`,
      },
    ),
    name: Type.Optional(name("What the log calls it; left out: its kind")),
    base_url: Type.Optional(
      webAddress("Address of the API; needed for searxng, known for the hosted services"),
    ),
    api_key_env: Type.Optional(apiKeyEnv("Environment variable that holds the API key")),
    timeout_ms: Type.Optional(whole(10, 60_000, "For one query; default 10000")),
    buying_usd_per_k: Type.Optional(
      usdAmount("What you pay there for 1,000 queries; left out: not known"),
    ),
    concurrency: Type.Optional(
      whole(1, 10_000, "Queries under way at once; more go to the next provider; default 64"),
    ),
  },
  { ...closed, description: "A server that finds results" },
);

/** The field `search.tool`. */
const SearchToolFile = Type.Object(
  {
    searches_max: Type.Optional(
      whole(1, 50, "Most searches for one request; the price of so many is held; default 5"),
    ),
    results_each: Type.Optional(whole(1, SEARCH.maxResultsMax, "Results of a search; default 5")),
  },
  {
    ...closed,
    description: "Serves `web_search` at /v1/responses by our searches; left out: it is off",
  },
);

/** The section `search`. */
const Search = Type.Object(
  {
    usd_per_result: Type.Optional(usdAmount("USD per result returned; default 0.0005")),
    tool: Type.Optional(SearchToolFile),
    providers: Type.Optional(
      Type.Array(SearchServerFile, {
        minItems: 1,
        maxItems: 16,
        description: "Asked in order until one answers; left out: the embedded index",
        errorMessage: "must be a list of 1 to 16 search providers",
      }),
    ),
  },
  { ...closed, description: "Web search; left out: the embedded index" },
);

export const SEARCH_SECTION = { search: Type.Optional(Search) };

/** Sanity limit in USD for one result: a higher price is rejected as a typo. */
const RESULT_PRICE_MAX = 1;
const NEEDS_KEY: ReadonlySet<SearchKind> = new Set(["brave", "tavily", "serper", "exa"]);

/** Returns the offer of the section `search`; without the section, the embedded index. */
export function readSearch(
  file: Static<typeof Search> | undefined,
  context: SectionContext,
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
    tool: toTool(file.tool),
  };
}

function toTool(file: Static<typeof SearchToolFile> | undefined): SearchOffer["tool"] {
  if (file === undefined) return null;
  const { searchesMax, resultsEach } = SEARCH_TOOL_DEFAULTS;
  return {
    searchesMax: file.searches_max ?? searchesMax,
    resultsEach: file.results_each ?? resultsEach,
  };
}

function priceOf(value: unknown, { json, refuse }: SectionContext): SearchOffer["pricePerResult"] {
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
  context: SectionContext,
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
