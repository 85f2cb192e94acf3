// Makes requests to the console from the definitions of its endpoints: by a person of some role, a
// valid one first, then with faults in it. A new endpoint is fuzzed as soon as it is in the list of
// routes.

import type { ConsoleEndpoint } from "../../../src/http/console/console-endpoint.ts";
import type { TSchema } from "../../../src/http/schema.ts";
import { CONSOLE, OPERATOR } from "../../../src/routes.ts";
import { Random } from "../../support/random.ts";
import { EVERYBODY, SESSIONS, type Who } from "./console-lab.ts";
import type { FuzzRequest } from "./fuzz-request.ts";
import { mutateValue } from "./mutations.ts";
import { labelOf } from "./request-maker.ts";
import { type Draft, mutateDraft, requestOf } from "./request-mutations.ts";
import { type KnownValues, objectFor, valueFor } from "./schema-values.ts";

export type AnyEndpoint = ConsoleEndpoint<never>;

const OF_PEOPLE: readonly AnyEndpoint[] = CONSOLE;
const OF_OPERATORS: readonly AnyEndpoint[] = OPERATOR;
export const CONSOLE_FUZZED = [...OF_PEOPLE, ...OF_OPERATORS];

/** Requests that end rows of other requests, or cost a password's hash: fewer of them are sent. */
const RARE =
  /^(closeAccount|leaveAccount|removeMember|signOut|endOther|change|disableSecond|signUp|reset)/;
const RARE_SHARE = 0.25;

export interface ConsoleRequest extends FuzzRequest {
  /** The owner of the session; null if it carries none, or an invalid one. */
  readonly who: Who | null;
  /** True if its headers say that a page of the console sent it. */
  readonly isOwnPage: boolean;
  readonly isJsonType: boolean;
  /** The names of all fields that its body or query has, of any form. */
  readonly fields: readonly string[];
}

export interface ConsoleMakerOptions {
  readonly seed: number;
  readonly own: KnownValues;
  readonly others: KnownValues;
  readonly belongings: ReadonlyMap<string, KnownValues>;
}

/** Names that belong to nothing. */
const HOSTILE = [
  "none",
  "%00",
  "a%00b",
  "%ED%A0%80",
  "%ff",
  "x".repeat(300),
  "..%2F..",
  "%2e%2e",
  "__proto__",
  "-1",
  "0",
  "1e400",
  "9007199254740993",
  "NaN",
  "%F0%9F%99%82",
  "acct_",
  "'%20OR%201=1",
  "*",
  "00000000-0000-0000-0000-000000000000",
  "99999999999999999999",
  "1.5",
  "null",
  "%20",
  "+",
] as const;
const COOKIES = [
  "",
  "a=b",
  "=",
  ";;;",
  "better-auth.session_token=x",
  "farebox=%00",
  "x".repeat(3_000),
  "__Host-farebox.session_token=a.b",
  "session=owner",
  "\u00e4=\u00e4",
  "a=b; a=c",
] as const;
const ORIGINS = [
  "https://evil.example",
  "null",
  "",
  "http://",
  "KNOWN_origin.evil.example",
  "file://",
  "KNOWN_origin:1",
  "http://127.0.0.1",
  "javascript:1",
  "KNOWN_origin@evil.example",
  "*",
] as const;
const TYPES = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "",
  "application/json; charset=utf-16",
  "application/jsonp",
  "application/json, text/plain",
] as const;
const AMOUNTS = [
  "5",
  "25",
  "0.000000001",
  "-1.5",
  "12.5",
  "500",
  "0",
  "9007199.254740991",
] as const;
const TIMES = ["2026-11-22T00:00:00Z", "2026-11-23T12:00:00.000Z", "2026-01-01T00:00:00Z"] as const;
const DAYS = ["2026-11-01", "2026-11-22", "2026-11-23", "2025-12-31"] as const;

/** Values that make sense by the names of their fields, on every installation. */
const SENSIBLE: Readonly<Record<string, readonly unknown[]>> = {
  amount_usd: AMOUNTS,
  own_cap_usd: AMOUNTS,
  monthly_limit_usd: AMOUNTS,
  threshold_usd: ["5", "10", "25"],
  min_cost_usd: ["0", "0.01", "-1"],
  from: [...TIMES, ...DAYS],
  to: [...TIMES, ...DAYS],
  before: ["1764000000000.00000000-0000-0000-0000-000000000000", "1"],
  limit: ["1", "10", "50"],
  scopes: [["models"], ["models", "search"], ["MODELS"]],
  ip_allowlist: [["203.0.113.0/24"], ["::1", "10.0.0.1"]],
  name: ["A name", "名前", "x"],
  reason: ["Ticket 4711"],
  otp: ["123456"],
  code: ["123456", "k3vq-7zma-2bcd-efgh-ijkl-mnop"],
  batch: ["summer", "winter"],
  codes: [["k3vq-7zma-2bcd-efgh-ijkl-mnop"], ["aaaaaaaaaaaaaaaaaaaaaaaa", "guess"]],
  request: ["0d9c7c1e-5f9b-4f43-9a1d-2f6f3a1a7a51", "KNOWN_request_0"],
  return_to: ["/operator", "/operator/accounts"],
  version: ["1", "2"],
  path: ["/v1/chat/completions", "/v1/search", "/v1/maps"],
  body: [
    { model: "qwen/qwen3", messages: [{ role: "user", content: "Hi" }], max_tokens: 5 },
    { query: "x" },
    { action: "geocode", query: "Berlin" },
  ],
};

export class ConsoleMaker {
  readonly #own: KnownValues;

  constructor(readonly options: ConsoleMakerOptions) {
    this.#own = new Map([...Object.entries(SENSIBLE), ...options.own]);
  }

  /** Returns the request with this number: the same for the same seed, whatever came before. */
  make(number: number): ConsoleRequest {
    const random = new Random(Math.imul(number + 1, 0x9e3779b1) ^ this.options.seed);
    const endpoint = pickEndpoint(random);
    let who = pickWho(endpoint, random);
    const draft = this.#validDraft(endpoint, who, { number, random });
    const faults = random.pick([0, 0, 0, 0, 1, 1, 1, 2, 3]);
    for (let fault = 0; fault < faults; fault += 1) {
      const roll = random.next();
      if (draft.json !== undefined && roll < 0.5) draft.json = mutateValue(draft.json, random);
      else if (roll < 0.6) who = faultyCookie(draft, who, random);
      else if (roll < 0.7) setHeader(draft, "origin", random.pick(ORIGINS));
      else if (roll < 0.78) setHeader(draft, "content-type", random.pick(TYPES));
      else if (roll < 0.82) dropHeader(draft, random.pick(["origin", "content-type"]));
      else mutateDraft(draft, random, ["KNOWN_key_0"]);
    }
    const values = (name: string) =>
      draft.headers.filter(([header]) => header === name).map(([, value]) => value);
    const cookies = values("cookie");
    return {
      ...requestOf(draft, number, labelOf(endpoint)),
      who: cookies.some((value) => value.startsWith("KNOWN_session_")) ? who : null,
      isOwnPage: values("origin").join() === "KNOWN_origin",
      isJsonType: values("content-type").join().startsWith("application/json"),
      fields: [...draft.query.map(([name]) => decoded(name)), ...namesIn(draft.json)],
    };
  }

  #validDraft(
    endpoint: AnyEndpoint,
    who: Who | null,
    { number, random }: { readonly number: number; readonly random: Random },
  ): Draft {
    const isChange = endpoint.method !== "GET";
    const session = who === null ? [] : [["cookie", cookieOf(who, random)] as const];
    const account = this.#accountOf(endpoint, who, random);
    // Mostly values that belong together: other requests would find nothing.
    const fitting = this.options.belongings.get(account) ?? new Map();
    const known = random.next() < 0.8 ? new Map([...this.#own, ...fitting]) : this.#own;
    const json = this.#bodyOf(endpoint, known, random);
    // Each change of an operator has its own id, and some have the id of another change.
    if (json !== undefined && "id" in json && random.next() < 0.9) json.id = `fuzzed-${number}`;
    return {
      method: endpoint.method,
      path: this.#pathOf(endpoint, new Map([...known, ["account", [account]]]), random),
      query: this.#queryOf(endpoint, known, random),
      headers: [
        ["host", "KNOWN_host"],
        ["x-forwarded-for", `198.18.${random.between(0, 255)}.${random.between(0, 255)}`],
        ...(isChange ? [["origin", "KNOWN_origin"] as const] : []),
        ...(isChange ? [["content-type", "application/json"] as const] : []),
        ...session,
      ],
      json: isChange ? (json ?? {}) : undefined,
      body: null,
      framing: { kind: random.next() < 0.05 ? "chunked" : "length" },
      isHttp: true,
      hangUpMs: random.next() < 0.01 ? random.between(0, 40) : null,
    };
  }

  /** Returns an account of ours, of the other organisation, or an unknown one. */
  #accountOf({ id }: AnyEndpoint, who: Who | null, random: Random): string {
    // An operator's changes of the other organisation would be right.
    const [kind, others] = who === "operator" ? ["operated", []] : ["account", this.#others()];
    const own = id.startsWith("closeAccount") ? "doomed" : kind;
    const roll = random.next();
    if (roll < 0.86) return String(random.pick(this.#own.get(own) ?? []));
    return String(roll < 0.95 && others.length > 0 ? random.pick(others) : random.pick(HOSTILE));
  }

  #others(): readonly unknown[] {
    return this.options.others.get("account") ?? [];
  }

  #bodyOf(
    endpoint: AnyEndpoint,
    known: KnownValues,
    random: Random,
  ): Record<string, unknown> | undefined {
    const schema = endpoint.body?.schema;
    if (schema === undefined) return undefined;
    const options = { random, known, optionalShare: random.pick([0, 0.3, 1]) };
    const fields = objectFor(schema, options);
    const example = endpoint.examples.find(({ body }) => body !== undefined)?.body;
    const useExample = typeof example === "object" && random.next() < 0.4;
    return useExample ? { ...fields, ...example } : fields;
  }

  #pathOf({ path }: AnyEndpoint, known: KnownValues, random: Random): string {
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const own = known.get(name) ?? [];
      if (name === "account") return String(own[0]);
      const others = this.options.others.get(name) ?? [];
      const roll = random.next();
      if (roll < 0.85 && own.length > 0) return String(random.pick(own));
      return String(roll < 0.95 && others.length > 0 ? random.pick(others) : random.pick(HOSTILE));
    });
  }

  #queryOf({ query }: AnyEndpoint, known: KnownValues, random: Random): Draft["query"] {
    if (query === undefined) return [];
    const properties: Readonly<Record<string, TSchema>> = query.schema.properties ?? {};
    const required: readonly string[] = query.schema.required ?? [];
    const share = random.pick([0, 0.2, 0.6]);
    const options = { random, known, optionalShare: 0 };
    return Object.entries(properties)
      .filter(([name]) => required.includes(name) || random.next() < share)
      .map(([name, schema]) => {
        return [name, encodeURIComponent(String(valueFor(schema, name, options)).toWellFormed())];
      });
  }
}

function pickEndpoint(random: Random): AnyEndpoint {
  for (;;) {
    const endpoint = random.pick(random.next() < 0.68 ? OF_PEOPLE : OF_OPERATORS);
    if (!RARE.test(endpoint.id) || random.next() < RARE_SHARE) return endpoint;
  }
}

/** Mostly a person with the right, and now and then any other. */
function pickWho({ access, role }: AnyEndpoint, random: Random): Who | null {
  const roll = random.next();
  if (roll < 0.05) return null;
  if (roll < 0.2) return random.pick(EVERYBODY);
  if (access === "operator") return "operator";
  if (access === "anybody") return roll < 0.7 ? null : random.pick(EVERYBODY);
  return role === null || roll > 0.6 ? "owner" : role;
}

function cookieOf(who: Who, random: Random): string {
  const session = who === "operator" ? 0 : random.between(0, SESSIONS - 1);
  return `KNOWN_session_${who}_${session}`;
}

/** Changes, doubles or drops the cookie; returns the person whom the request still comes from. */
function faultyCookie(draft: Draft, who: Who | null, random: Random): Who | null {
  switch (random.between(0, 3)) {
    case 0:
      dropHeader(draft, "cookie");
      return null;
    case 1: {
      // Values made for others may concern the other organisation.
      const other = random.pick(EVERYBODY.filter((one) => one !== "operator"));
      setHeader(draft, "cookie", cookieOf(other, random));
      return other;
    }
    case 2:
      draft.headers = [...draft.headers, ["cookie", random.pick(COOKIES)]];
      return who;
    default:
      setHeader(draft, "cookie", random.pick(COOKIES));
      return null;
  }
}

function setHeader(draft: Draft, name: string, value: string): void {
  dropHeader(draft, name);
  draft.headers = [...draft.headers, [name, value]];
}

function dropHeader(draft: Draft, name: string): void {
  draft.headers = draft.headers.filter(([header]) => header !== name);
}

function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
