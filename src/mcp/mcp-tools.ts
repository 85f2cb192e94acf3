// The one table of the tools that agents find at /mcp: each is an endpoint of the API, with the
// parameters that an agent can use.

import type { ServiceName } from "../core/access/services.ts";
import { ApiError } from "../core/errors.ts";
import { MESSAGE_PRICE, RECIPIENT_PRICE } from "../core/mail.ts";
import { type PicoUsd, pricePerUnit } from "../core/money/money.ts";
import { invalid, isAbsent } from "../http/body/checks.ts";
import { unknownFieldsOf } from "../http/body/unknown-fields.ts";
import type { Method } from "../http/endpoint-info.ts";
import { checkedIdempotencyKey, IdempotencyKey } from "../http/idempotency.ts";
import { searchParamsOf } from "../http/inner-request.ts";
import { anyObject, type TSchema, Type, text } from "../http/schema.ts";
import { MailBody } from "../services/mail/mail-contract.ts";
import { ACTIONS, type MapsAction } from "../services/maps/actions.ts";
import type { MapsPrices } from "../services/maps/prices.ts";
import { BatchBody, SearchBody } from "../services/search/search-schema.ts";

/** The prices and capabilities that decide an account's tools at the moment of a request. */
export interface ToolOffer {
  readonly pricePerResult: PicoUsd;
  readonly mapsPrices: MapsPrices;
  readonly serves: (action: MapsAction) => boolean;
}

/** The arguments of a tool's call, as the agent sent them. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The request to the API that a tool's call is. */
export interface ToolRequest {
  readonly method: Method;
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

export interface McpTool {
  readonly name: string;
  /** The service whose scope and tier the tool needs; null for a tool of every key. */
  readonly service: ServiceName | null;
  readonly title: string;
  /** The tool's effect and price, for the agent. */
  readonly description: (offer: ToolOffer) => string;
  readonly properties: Readonly<Record<string, TSchema>>;
  readonly required: readonly string[];
  /**
   * The fields of its endpoint, if these are more than `properties`: other names, and fields that
   * are refused in words of their own.
   */
  readonly known?: McpTool["properties"];
  /** The argument that is the whole body of the request; the body is a list. */
  readonly list?: string;
  /** False for a tool that changes something in the world. */
  readonly readsOnly: boolean;
  /** False if this installation cannot serve it. */
  readonly isServed?: (offer: ToolOffer) => boolean;
  /** Throws the refusal of an argument that cannot be a part of a request. */
  readonly requestOf: (args: Arguments) => ToolRequest;
}

/** The fields of a search under their own names; other names are for clients of other products. */
const SEARCH_FIELDS = [
  "query",
  "max_results",
  "page",
  "country",
  "language",
  "freshness",
  "safesearch",
  "include_domains",
  "exclude_domains",
] as const;
const MAIL_FIELDS = ["to", "subject", "text", "html", "from_name", "reply_to"] as const;

const searchProperties = Object.fromEntries(
  SEARCH_FIELDS.map((name) => [name, SearchBody.properties[name]]),
);
const searchOf: TSchema = Type.Object(searchProperties, { additionalProperties: false });

const search: McpTool = {
  name: "search",
  service: "search",
  title: "Search the web",
  description: (offer) => `Searches the web. ${resultPrice(offer)}`,
  properties: searchProperties,
  required: ["query"],
  known: SearchBody.properties,
  readsOnly: true,
  requestOf: (body) => ({ method: "POST", path: "/v1/search", body }),
};

const searchBatch: McpTool = {
  name: "search_batch",
  service: "search",
  title: "Search the web for several queries",
  description: (offer) =>
    `Runs several searches at once; one that fails costs nothing. ${resultPrice(offer)}`,
  properties: {
    searches: Type.Array(searchOf, { minItems: 1, maxItems: BatchBody.maxItems ?? 1 }),
  },
  required: ["searches"],
  known: { searches: BatchBody },
  list: "searches",
  readsOnly: true,
  requestOf({ searches }) {
    if (!Array.isArray(searches)) throw invalid("searches", "must be a list of searches");
    return { method: "POST", path: "/v1/search/batch", body: searches };
  },
};

const sendMail: McpTool = {
  name: "send_mail",
  service: "mail",
  title: "Send a mail",
  description: () =>
    "Sends a transactional mail from the address of the account. " +
    `$${pricePerUnit(MESSAGE_PRICE)} a message, and ` +
    `$${pricePerUnit(RECIPIENT_PRICE)} a recipient. ` +
    "With `idempotency_key` a repeat within 48 hours sends nothing again.",
  properties: {
    ...Object.fromEntries(MAIL_FIELDS.map((name) => [name, MailBody.properties[name]])),
    idempotency_key: Type.Optional({
      ...IdempotencyKey,
      description: "A name of this message, the same at each attempt to send it",
    }),
  },
  required: ["to", "subject"],
  known: { ...MailBody.properties, idempotency_key: IdempotencyKey },
  readsOnly: false,
  requestOf: ({ idempotency_key: key, ...body }) => ({
    method: "POST",
    path: "/v1/mail/send",
    body,
    ...(!isAbsent(key) && {
      idempotencyKey: checkedIdempotencyKey(key, (rule) => invalid("idempotency_key", rule)),
    }),
  }),
};

const account: McpTool = {
  name: "account",
  service: null,
  title: "Show balance and limits",
  description: () => "Shows the balance, the limits and what this key may use. Costs nothing.",
  properties: {},
  required: [],
  readsOnly: true,
  requestOf: () => ({ method: "GET", path: "/v1/me" }),
};

const quote: McpTool = {
  name: "quote",
  service: null,
  title: "Quote a call",
  description: () =>
    "Shows what a call would cost at most and likely, and whether it would pass now. Makes no " +
    "call and costs nothing.",
  properties: {
    path: text({ description: "The endpoint of the call, such as `/v1/search`" }),
    body: Type.Union([anyObject(), Type.Array(anyObject())], {
      description: "Its body; for maps, the parameters of its query",
    }),
  },
  required: ["path", "body"],
  readsOnly: true,
  requestOf: (body) => ({ method: "POST", path: "/v1/quote", body }),
};

/** The most characters of an unknown tool's name that a refusal repeats. */
const NAME_CHARACTERS_MAX = 100;

/**
 * The parameter for the form of a picture. Tools do not have this parameter: agents always get the
 * bytes, as image content.
 */
const PICTURE_FORM = "format";

/** Every tool, in the order of listing. */
export const MCP_TOOLS: readonly McpTool[] = [
  search,
  searchBatch,
  ...(Object.keys(ACTIONS) as MapsAction[]).map(mapsTool),
  sendMail,
  account,
  quote,
];

const TOOLS: ReadonlyMap<string, McpTool> = new Map(MCP_TOOLS.map((tool) => [tool.name, tool]));

/** Returns the arguments that a tool does not know, by the name of the tool. */
const UNKNOWN: ReadonlyMap<string, (args: Arguments) => readonly string[]> = new Map(
  MCP_TOOLS.map((tool) => [tool.name, unknownFieldsOf(Type.Object({ ...knownOf(tool) }))]),
);

/** The parts of a tool's call that its result depends on. */
export interface CalledTool {
  /** The argument that is the whole body of the request; null if that is all arguments. */
  readonly list: string | null;
  /** The arguments that the tool does not know: the request is made without them (D-772). */
  readonly ignored: readonly string[];
}

/** The parts that the result of a tool's call depends on; of an unknown tool there are none. */
export function calledTool(name: string, args: Arguments): CalledTool {
  return { list: TOOLS.get(name)?.list ?? null, ignored: UNKNOWN.get(name)?.(args) ?? [] };
}

/**
 * The request that the call of a tool is.
 * @throws ApiError for a name of no tool, and for an argument that cannot be a part of a request
 */
export function toolRequestOf(name: string, args: Arguments): ToolRequest {
  const tool = TOOLS.get(name);
  if (tool !== undefined) return tool.requestOf(pick(args, knownOf(tool)));
  const shown = name.slice(0, NAME_CHARACTERS_MAX);
  throw new ApiError("not_found", `There is no tool '${shown}'; tools/list has those that exist`);
}

function knownOf({ known, properties }: McpTool): McpTool["properties"] {
  return known ?? properties;
}

/** The arguments whose names are also names in `known`. */
function pick(args: Arguments, known: McpTool["properties"]): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(known, name)));
}

function mapsTool(action: MapsAction): McpTool {
  const { about, category } = ACTIONS[action];
  const parameters = Object.entries(ACTIONS[action].parameters).filter(
    ([name]) => name !== PICTURE_FORM,
  );
  return {
    name: `maps_${action}`,
    service: "maps",
    title: `Maps: ${action.replaceAll("_", " ")}`,
    description: ({ mapsPrices }) =>
      `Returns ${about}. $${pricePerUnit(mapsPrices[category])} a call.`,
    properties: Object.fromEntries(
      parameters.map(([name, parameter]) => [
        name,
        {
          ...parameter.kind.schema,
          description: `${parameter.about}; ${parameter.kind.rule}`,
        },
      ]),
    ),
    required: parameters.filter(([, { required }]) => required).map(([name]) => name),
    readsOnly: true,
    isServed: ({ serves }) => serves(action),
    requestOf: (args) => ({ method: "GET", path: "/v1/maps", query: queryOf(action, args) }),
  };
}

/** The arguments as a query string. */
function queryOf(action: MapsAction, args: Arguments): URLSearchParams {
  const given = Object.entries(args).filter(([, value]) => !isAbsent(value));
  const query = searchParamsOf(Object.fromEntries(given), "");
  query.append("action", action);
  if (PICTURE_FORM in ACTIONS[action].parameters) query.append(PICTURE_FORM, "png");
  return query;
}

function resultPrice({ pricePerResult }: ToolOffer): string {
  return `$${pricePerUnit(pricePerResult)} a result; no results cost nothing.`;
}
