// Makes requests from the definitions of the endpoints: a valid one first, then with faults in it.
// A new endpoint is fuzzed as soon as it is in the list of routes.

import type { DocumentedEndpoint } from "../../../src/http/endpoint-errors.ts";
import type { Example, ParameterInfo } from "../../../src/http/endpoint-info.ts";
import type { TSchema } from "../../../src/http/schema.ts";
import { AGENTS, APPLICATION, GATEWAY, PROGRAM } from "../../../src/routes.ts";
import { Random } from "../../support/random.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import { mcpDraft } from "./mcp-maker.ts";
import { mutateValue } from "./mutations.ts";
import { type Draft, mutateDraft, requestOf } from "./request-mutations.ts";
import { type KnownValues, objectFor, type ValueOptions, valueFor } from "./schema-values.ts";

const OWN: readonly DocumentedEndpoint[] = [...GATEWAY, ...APPLICATION];
/** One endpoint with as many tools as the others have paths. */
const OF_AGENTS: readonly DocumentedEndpoint[] = AGENTS;
const WHOLE: readonly DocumentedEndpoint[] = PROGRAM;

/** The label of an endpoint in tables and requests. */
export function labelOf({ method, path }: Pick<DocumentedEndpoint, "method" | "path">): string {
  return `${method} ${path}`;
}

export const FUZZED: readonly DocumentedEndpoint[] = [...OWN, ...OF_AGENTS, ...WHOLE];

/** The sources of requests: names of keys, and values that only this product knows. */
export interface MakerOptions {
  readonly seed: number;
  /** The names of keys that work, by surface. */
  readonly goodKeys: Readonly<Record<"gateway" | "application", readonly string[]>>;
  /** The names of keys that do not work, or not everywhere. */
  readonly otherKeys: readonly string[];
  readonly known: Readonly<Record<string, readonly unknown[]>>;
}

export class RequestMaker {
  readonly #known: KnownValues;

  constructor(readonly options: MakerOptions) {
    this.#known = withExamples(options.known);
  }

  /** Returns the request with this number: the same for the same seed, whatever came before. */
  make(number: number): FuzzRequest {
    const random = new Random(Math.imul(number + 1, 0x9e3779b1) ^ this.options.seed);
    const endpoint = random.pick(listOf(random.next()));
    const draft = this.#validDraft(endpoint, random);
    const faults = random.pick([0, 0, 0, 0, 0, 1, 1, 1, 2, 3]);
    for (let fault = 0; fault < faults; fault += 1) {
      if (draft.json !== undefined && random.next() < 0.6) {
        draft.json = mutateValue(draft.json, random);
      } else {
        mutateDraft(draft, random, [...this.options.goodKeys.gateway, ...this.options.otherKeys]);
      }
    }
    return requestOf(draft, number, labelOf(endpoint));
  }

  #validDraft(endpoint: DocumentedEndpoint, random: Random): Draft {
    const example = endpoint.examples.length === 0 ? null : random.pick(endpoint.examples);
    const isOfAgents = OF_AGENTS.includes(endpoint);
    const message = isOfAgents ? mcpDraft(this.#valueOptions(random)) : null;
    return {
      method: endpoint.method,
      path: this.#pathOf(endpoint, example, random),
      query: this.#queryOf(endpoint, example, random),
      headers: [
        ["host", "api.example.test"],
        ["x-forwarded-for", `198.18.${random.between(0, 255)}.${random.between(0, 255)}`],
        ...(endpoint.body === undefined ? [] : [["content-type", "application/json"] as const]),
        ...this.#keyOf(endpoint, random),
        ...(message?.headers ?? this.#headersOf(endpoint, random)),
      ],
      json: message?.json ?? (endpoint.body && this.#bodyOf(endpoint.body.schema, example, random)),
      body: null,
      framing: { kind: random.next() < 0.05 ? "chunked" : "length" },
      isHttp: true,
      hangUpMs: random.next() < 0.02 ? random.between(0, 40) : null,
    };
  }

  /** Some bodies have none of their optional fields, others many. */
  #valueOptions(random: Random): ValueOptions {
    return { random, known: this.#known, optionalShare: random.pick([0, 0.04, 0.25]) };
  }

  #keyOf({ access, surface }: DocumentedEndpoint, random: Random): Draft["headers"] {
    const { goodKeys, otherKeys } = this.options;
    if (access === "anybody" && random.next() < 0.8) return [];
    const own = goodKeys[surface ?? "gateway"];
    const others = [...otherKeys, ...goodKeys.gateway, ...goodKeys.application.slice(0, 2)];
    const name = random.pick(random.next() < 0.85 ? own : others);
    return random.next() < 0.7 ? [["authorization", `Bearer ${name}`]] : [["x-api-key", name]];
  }

  #headersOf({ parameters = [] }: DocumentedEndpoint, random: Random): Draft["headers"] {
    return parameters
      .filter((parameter) => parameter.in === "header" && random.next() < 0.3)
      .map(({ name, schema }) => {
        const unique = `fuzz-${random.between(0, 2_000)}`;
        return [name, random.next() < 0.8 ? unique : this.#textOf(schema, name, random)];
      });
  }

  #bodyOf(schema: TSchema, example: Example | null, random: Random): unknown {
    const options = this.#valueOptions(random);
    if (example?.body === undefined || random.next() < 0.35) return valueFor(schema, "", options);
    if (schema.type !== "object" || typeof example.body !== "object") return example.body;
    const body = { ...objectFor({ ...schema, required: [] }, options), ...example.body };
    return { ...body, ...this.#ownValues(body, random) };
  }

  /** Fills the fields whose values only this product knows: no example can have those. */
  #ownValues(body: object, random: Random): Record<string, unknown> {
    const own = Object.entries(this.options.known).filter(([name]) => Object.hasOwn(body, name));
    return Object.fromEntries(own.map(([name, values]) => [name, random.pick(values)]));
  }

  #pathOf({ path }: DocumentedEndpoint, example: Example | null, random: Random): string {
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const values = [example?.params?.[name], ...(this.#known.get(name) ?? [])];
      return encodeURIComponent(String(random.pick(values.filter((value) => value !== undefined))));
    });
  }

  #queryOf(
    { parameters = [] }: DocumentedEndpoint,
    example: Example | null,
    random: Random,
  ): Draft["query"] {
    const query = (example?.query ?? "").split("&").filter((pair) => pair !== "");
    const pairs: Draft["query"] = query.map((pair) => {
      const [name = "", value = ""] = pair.split("=");
      return [name, value];
    });
    const offered = parameters.filter((parameter) => parameter.in === "query");
    if (offered.length === 0 || random.next() < 0.4) return pairs;
    // One of them with another valid value, or one more.
    const { name, schema } = random.pick(pairsOf(pairs, offered));
    const value = encodeURIComponent(this.#textOf(schema, name, random));
    return [...pairs.filter(([other]) => other !== name), [name, value]];
  }

  #textOf(schema: TSchema, name: string, random: Random): string {
    return String(valueFor(schema, name, { random, known: this.#known, optionalShare: 0 }));
  }
}

/** The endpoints of this share of all requests, from 0 to 1. */
function listOf(share: number): readonly DocumentedEndpoint[] {
  if (share < 0.86) return OWN;
  return share < 0.94 ? OF_AGENTS : WHOLE;
}

/** The parameters in the query, several times, and all others once. */
function pairsOf(
  query: Draft["query"],
  offered: readonly ParameterInfo[],
): readonly ParameterInfo[] {
  const used = offered.filter(
    ({ name }) => name !== "action" && query.some(([key]) => key === name),
  );
  return [...used, ...used, ...used, ...used, ...used, ...used, ...used, ...used, ...offered];
}

/** The values in the examples of all endpoints, by the names of fields and parameters. */
function withExamples(own: MakerOptions["known"]): KnownValues {
  const known = new Map<string, unknown[]>();
  const add = (name: string, value: unknown) => {
    known.set(name, [...(known.get(name) ?? []), value]);
    if (Array.isArray(value)) for (const item of value) addFields(item);
    else addFields(value);
  };
  const addFields = (value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    for (const [name, field] of Object.entries(value)) add(name, field);
  };
  for (const { body, params, query } of FUZZED.flatMap(({ examples }) => examples)) {
    if (Array.isArray(body)) for (const item of body) addFields(item);
    else addFields(body);
    addFields(params);
    for (const [name, value] of new URLSearchParams(query)) add(name, value);
  }
  for (const [name, values] of Object.entries(own)) known.set(name, [...values]);
  return known;
}
