// Defines the calls of a soak, their frequency, and their allowed answers.

import { newKey } from "../../../src/core/access/keys.ts";
import { type Random, random as randomBytes } from "../../support/random.ts";
import type { Population } from "./population.ts";

/** The parts that making a call needs. */
export interface Caller {
  readonly url: string;
  readonly random: Random;
  readonly population: Population;
}

interface Kind {
  /** The share of the sum of all weights. */
  readonly weight: number;
  /** Statuses that are allowed; null for a call that its caller left. */
  readonly expected: readonly (number | null)[];
  readonly run: (caller: Caller) => Promise<number | null>;
}

const WORDS = ["grid", "layout", "flexbox", "promise", "fetch", "canvas", "header", "cookie"];
const CITIES = ["köln", "berlin", "hamburg", "paris", "roma", "wien", "oslo", "porto", "lyon"];
const LEAVE_MS = { least: 5, most: 60 } as const;

/** The kinds by name. One in a hundred or so is refused, and one in fifty is left. */
export const KINDS: Readonly<Record<string, Kind>> = {
  chat: kind(22, [200], (caller) => chat(caller, "/v1", "ok")),
  stream: kind(15, [200], (caller) => chat(caller, "/v1", "stream")),
  "application chat": kind(6, [200], (caller) => chat(caller, "/api/v1", "ok")),
  "application stream": kind(4, [200], (caller) => chat(caller, "/api/v1", "stream")),
  search: kind(8, [200], ({ random, ...caller }) => {
    const query = `${random.pick(WORDS)} ${random.pick(WORDS)}`;
    return post({ random, ...caller }, "/v1/search", { query, max_results: 5 });
  }),
  maps: kind(14, [200], (caller) => get(caller, `/v1/maps?${mapsQuery(caller.random)}`)),
  mail: kind(2, [200, 202], ({ random, ...caller }) => {
    const to = `reader-${random.between(1, 5_000)}@example.test`;
    return post({ random, ...caller }, "/v1/mail/send", { to, subject: "Soak", text: "A line." });
  }),
  me: kind(10, [200], (caller) => get(caller, "/v1/me")),
  models: kind(6, [200], (caller) => get(caller, "/v1/models")),
  "models, no key": kind(2, [200, 429], (caller) => send(caller, "/v1/models", {})),
  "no money": kind(2, [402], (caller) =>
    post(caller, "/v1/chat/completions", chatBody("paid-only"), caller.population.refused.poor),
  ),
  "no scope": kind(1, [403], (caller) =>
    post(caller, "/v1/chat/completions", chatBody("ok"), caller.population.refused.narrow),
  ),
  "too many": kind(1, [200, 429], (caller) =>
    get(caller, "/v1/me", caller.population.refused.busy),
  ),
  "bad request": kind(1, [400], (caller) =>
    post(caller, "/v1/chat/completions", { model: "ok", messages: "none" }),
  ),
  "unknown key": kind(1, [401, 429], (caller) =>
    get(caller, "/v1/me", newKey("gateway", randomBytes)),
  ),
  "left stream": kind(2, [200, null], (caller) => leave(caller, chatBody("long"))),
  "left call": kind(1, [200, null], (caller) => leave(caller, chatBody("ok"))),
};

const TOTAL = Object.values(KINDS).reduce((sum, { weight }) => sum + weight, 0);

/** Picks a kind of call by the weights. */
export function pickKind(random: Random): readonly [name: string, kind: Kind] {
  let left = random.next() * TOTAL;
  for (const entry of Object.entries(KINDS)) {
    left -= entry[1].weight;
    if (left < 0) return entry;
  }
  throw new RangeError("The weights do not add up");
}

/** True if a call of each kind gets an allowed answer now. */
export async function areServed(caller: Caller, names: readonly string[]): Promise<boolean> {
  const ends = names.map(async (name) => {
    const end = await KINDS[name]?.run(caller);
    return end !== undefined && KINDS[name]?.expected.includes(end) === true;
  });
  return !(await Promise.all(ends)).includes(false);
}

function kind(weight: number, expected: Kind["expected"], run: Kind["run"]): Kind {
  return { weight, expected, run };
}

function chatBody(model: string): object {
  const stream = model === "stream" || model === "long";
  return { model, stream, messages: [{ role: "user", content: "Hello there" }] };
}

function chat(caller: Caller, surface: string, model: string): Promise<number> {
  const { population } = caller;
  const key = surface === "/v1" ? population.gatewayKey() : population.applicationKey();
  return post(caller, `${surface}/chat/completions`, chatBody(model), key);
}

function mapsQuery(random: Random): string {
  const lat = (48 + random.between(0, 400) / 100).toFixed(2);
  const lon = (7 + random.between(0, 600) / 100).toFixed(2);
  return random.pick([
    `action=geocode&query=${encodeURIComponent(random.pick(CITIES))}`,
    `action=reverse&lat=${lat}&lon=${lon}`,
    `action=place_at&lat=${lat}&lon=${lon}`,
    `action=geocode&query=${encodeURIComponent(random.pick(CITIES))}&limit=3`,
    `action=site_image&lat=${Math.round(Number(lat))}&lon=${Math.round(Number(lon))}&zoom=7`,
  ]);
}

function get(caller: Caller, path: string, key = caller.population.gatewayKey()): Promise<number> {
  return send(caller, path, { headers: { authorization: `Bearer ${key}` } });
}

function post(
  caller: Caller,
  path: string,
  body: object,
  key = caller.population.gatewayKey(),
): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return send(caller, path, { method: "POST", headers, body: JSON.stringify(body) });
}

/**
 * Reads the whole answer. Callers have many addresses, which the product takes from its proxy's
 * header.
 */
async function send({ url, random }: Caller, path: string, init: RequestInit): Promise<number> {
  const headers = new Headers(init.headers);
  headers.set("x-forwarded-for", `10.${random.between(0, 31)}.${random.between(0, 255)}.7`);
  const response = await fetch(url + path, { ...init, headers });
  await response.bytes();
  return response.status;
}

/** Leaves in the middle of the answer; null if the answer was not complete by then. */
async function leave(caller: Caller, body: object): Promise<number | null> {
  const leaving = new AbortController();
  const timer = setTimeout(
    () => leaving.abort(),
    caller.random.between(LEAVE_MS.least, LEAVE_MS.most),
  );
  try {
    const response = await fetch(`${caller.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${caller.population.gatewayKey()}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    await response.bytes();
    return response.status;
  } catch (error) {
    if (leaving.signal.aborted) return null;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
