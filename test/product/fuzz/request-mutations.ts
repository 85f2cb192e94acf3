// Puts faults into everything but the JSON of a body: method, path, query, headers, framing, bytes.

import type { Random } from "../../support/random.ts";
import type { Framing, FuzzRequest } from "./fuzz-request.ts";
import { mutateText, toJsonText } from "./mutations.ts";

/** A request that is being made. */
export interface Draft {
  method: string;
  path: string;
  /** Percent-encoded. */
  query: (readonly [name: string, value: string])[];
  headers: (readonly [name: string, value: string])[];
  /** The value of the body; undefined if there is none. */
  json: unknown;
  /** The change of the body's text. */
  body: ((text: Uint8Array | null) => Uint8Array | null) | null;
  framing: Framing;
  isHttp: boolean;
  hangUpMs: number | null;
}

/** The finished request. */
export function requestOf(draft: Draft, number: number, endpoint: string): FuzzRequest {
  const { method, path, headers, framing, isHttp, hangUpMs } = draft;
  const text = draft.json === undefined ? null : Buffer.from(toJsonText(draft.json));
  const query = draft.query.map(([name, value]) => `${name}=${value}`).join("&");
  const target = query === "" ? path : `${path}?${query}`;
  const body = draft.body?.(text) ?? text;
  return { number, endpoint, method, target, headers, body, framing, isHttp, hangUpMs };
}

type Fault = (draft: Draft, random: Random, keys: readonly string[]) => void;

const METHODS = ["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO", "get"];
/** Methods that the server does not read at all. */
const UNKNOWN_METHODS: ReadonlySet<string> = new Set(["FOO", "get"]);
const QUERY_VALUES = [
  "",
  "%00",
  "%ff",
  "%",
  "%zz",
  "+",
  "%2B",
  "a%20b",
  "1e3",
  "-0",
  "1e400",
  "NaN",
  "null",
  "91",
  "-181",
  "180.0000000000000001",
  "9007199254740993",
  "1.5",
  "a&b=c",
  "%F0%9F%99%82",
  "[]",
  "é",
  "%ED%A0%80",
  "52.5,13.4,1",
  "52.5;13.4",
  "1,2,3,4",
  "4,3,2,1",
  "x".repeat(500),
  "%0d%0aA:b",
  "90,180",
  "-90,-180",
  "2026-02-30T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "0001-01-01T00:00:00Z",
  "en-US-u-ca-gregory",
  "x-private",
  "de-DE-1996",
  "__proto__",
  "constructor",
  "true",
  "0",
] as const;
const QUERY_NAMES = ["action", "lat", "lon", "limit", "__proto__", "a[]", "", "%00", "key", "%ff"];
const HEADERS: readonly (readonly [string, string])[] = [
  ...["", "a b", "[bad", "a/../..?x#", "[::1]:80", "x:99999999", "\u00e4.test", "a,b"].map(
    (value) => ["host", value] as const,
  ),
  ...[
    "",
    ",",
    "unknown",
    "1.2.3.4.5",
    "::ffff:1.2.3.4",
    "2001:db8::1%eth0",
    "[2001:db8::1]:443",
  ].map((value) => ["x-forwarded-for", value] as const),
  ...["[", "1.2.3.4:80:90", "x".repeat(4_000), "1.1.1.1,".repeat(300), "::1", "0x7f.1"].map(
    (value) => ["x-forwarded-for", value] as const,
  ),
  ...[
    "text/plain",
    "application/json; charset=utf-16",
    "multipart/form-data",
    "",
    "a/b;;",
    "*",
  ].map((value) => ["content-type", value] as const),
  ...["gzip", "identity", "br, gzip", ""].map((value) => ["content-encoding", value] as const),
  ...["", "\u00e4", "x".repeat(300), "a,b", " ", "\u0001"].map(
    (value) => ["idempotency-key", value] as const,
  ),
  ...([
    ["expect", "100-continue"],
    ["expect", "something"],
    ["accept-encoding", "gzip;q=0, *;q=1"],
    ["accept", "text/event-stream"],
    ["range", "bytes=0-0"],
    ["if-none-match", "*"],
    ["connection", "close"],
    ["connection", "keep-alive, upgrade"],
    ["upgrade", "websocket"],
    ["transfer-encoding", "identity"],
    ["cookie", "a=b; ".repeat(200)],
    ["x-long", "x".repeat(9_000)],
    ["x-request-id", "req_0123456789abcdefABCDEF"],
    ["x-http-method-override", "DELETE"],
    ["cf-ipcountry", "XX"],
    ["origin", "https://evil.example"],
  ] as const),
];
const KEYS = [
  "",
  "Bearer",
  "Bearer ",
  "bearer x",
  "Basic YTpi",
  "Bearer svc_live_",
  "Bearer a,b",
  "Bearer \u00e4",
  "Bearer svc_live_0000000000000000000000000000000000000000000000",
  `Bearer ${"k".repeat(5_000)}`,
] as const;

/** Puts one fault into the request. `keys` are names of keys, of which some do not work. */
export function mutateDraft(draft: Draft, random: Random, keys: readonly string[]): void {
  random.pick(FAULTS)(draft, random, keys);
}

const faultyText: Fault = (draft, random) => {
  if (draft.json === undefined) return faultyQuery(draft, random, []);
  draft.body = (text) => mutateText(new TextDecoder().decode(text ?? undefined), random);
};

const faultyQuery: Fault = (draft, random) => {
  const { query } = draft;
  const at = random.between(0, Math.max(0, query.length - 1));
  const [name = random.pick(QUERY_NAMES)] = query[at] ?? [];
  switch (random.between(0, 5)) {
    case 0:
      draft.query = query.toSpliced(at, 1);
      break;
    case 1:
      draft.query = [...query, [random.pick(QUERY_NAMES), random.pick(QUERY_VALUES)]];
      break;
    case 2:
      draft.query = [...query, [name, random.pick(QUERY_VALUES)]];
      break;
    default:
      draft.query = query.toSpliced(at, 1, [name, random.pick(QUERY_VALUES)]);
  }
};

const faultyPath: Fault = (draft, random) => {
  const { path } = draft;
  const at = random.between(1, path.length);
  const encoded = `%${path
    .charCodeAt(at - 1)
    .toString(16)
    .padStart(2, "0")}`;
  draft.path = random.pick([
    `${path}/`,
    `/${path}`,
    path.toUpperCase(),
    `${path}/x`,
    `${path}/../models`,
    `/.${path}`,
    path.slice(0, at) + path.slice(at + 1),
    path.slice(0, at - 1) + encoded + path.slice(at),
    `${path}%00`,
    `${path}%`,
    `${path}/%ff`,
    `${path};a=b`,
    `${path}#f`,
    "/",
    "*",
    "",
    `http://other.example${path}`,
    `/${"x".repeat(3_000)}`,
    `${path}/\u00e4`,
    `${path}?`,
    `/api${path}`,
  ]);
  if (!/^(?:\/|http:)/.test(draft.path)) draft.isHttp = false;
};

const faultyKey: Fault = (draft, random, keys) => {
  const others = draft.headers.filter(([name]) => name !== "authorization" && name !== "x-api-key");
  const [one, other] = [random.pick(keys), random.pick(keys)];
  const bearer = (key: string) => ["authorization", `Bearer ${key}`] as const;
  draft.headers = [
    ...others,
    ...random.pick([
      [],
      [["authorization", random.pick(KEYS)] as const],
      [["x-api-key", random.pick(KEYS)] as const],
      [bearer(one)],
      [bearer(one), ["x-api-key", one] as const],
      [bearer(one), ["x-api-key", other] as const],
      [bearer(one), bearer(other)],
    ]),
  ];
};

const faultyHeader: Fault = (draft, random) => {
  const [name, value] = random.pick(HEADERS);
  const others = draft.headers.filter(([other]) => other !== name || random.next() < 0.2);
  draft.headers = random.next() < 0.05 ? others : [...others, [name, value]];
  const hasHost = draft.headers.some(([other]) => other === "host");
  if (!hasHost || value === "\u0001" || name === "transfer-encoding") draft.isHttp = false;
};

const faultyFraming: Fault = (draft, random) => {
  draft.framing = random.pick<Framing>([
    { kind: "chunked" },
    { kind: "short", missing: random.between(1, 100) },
    { kind: "short", missing: 100_000_000 },
    ...[
      "",
      "content-length: 1",
      "content-length: -1",
      "content-length: x",
      "content-length: 1e3",
    ].map((line) => ({ kind: "headers", lines: line === "" ? [] : [line] }) as const),
    { kind: "headers", lines: ["content-length: 5", "transfer-encoding: chunked"] },
    { kind: "headers", lines: ["content-length: 5", "content-length: 6"] },
    { kind: "headers", lines: ["transfer-encoding: gzip"] },
    { kind: "headers", lines: ["transfer-encoding: chunked"] },
  ]);
  if (draft.framing.kind === "headers" || draft.framing.kind === "short") draft.isHttp = false;
  // A GET may have a body too.
  draft.body ??= (text) => text ?? Buffer.from('{"a":1}');
};

const hangUp: Fault = (draft, random) => {
  draft.hangUpMs = random.between(0, 60);
};

const FAULTS: readonly Fault[] = [
  faultyText,
  faultyText,
  faultyText,
  faultyQuery,
  faultyQuery,
  faultyQuery,
  faultyQuery,
  faultyPath,
  faultyKey,
  faultyKey,
  faultyHeader,
  faultyHeader,
  faultyHeader,
  faultyFraming,
  hangUp,
  (draft, random) => {
    draft.method = random.pick(METHODS);
    if (UNKNOWN_METHODS.has(draft.method)) draft.isHttp = false;
  },
];
