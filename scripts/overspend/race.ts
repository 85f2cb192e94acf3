// The race itself: parallel calls of known prices on one balance, and their ends.

import { type NanoUsd, ofCents, ZERO } from "../../src/core/money/money.ts";
import { MODEL, TOKENS_PER_CENT } from "./model-server.ts";

const CALL_MS_MAX = 60_000;

export interface Race {
  /** Base URLs, with /v1; the calls take them in turn. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly model?: string;
  /** The number of calls that are sent at the same time. */
  readonly calls: number;
  /** The prices of the calls, in cents, in turn. */
  readonly cents: readonly number[];
  /** The customer whom each call names; null for none. */
  readonly user: string | null;
  /** Called at each whole answer, with the number of answers so far. */
  readonly answered?: (count: number) => void;
}

export interface RaceResult {
  /** The price of each whole answer that arrived. */
  readonly answered: readonly NanoUsd[];
  /** Refusals by status and code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Calls without an answer. */
  readonly lost: number;
}

type Outcome = { readonly price: NanoUsd } | { readonly refusal: string } | "lost";

/** Sends all calls at once, and waits for all. */
export async function race(terms: Race): Promise<RaceResult> {
  const { urls, calls, cents } = terms;
  let count = 0;
  const sent = Array.from({ length: calls }, async (_, index) => {
    const price = cents[index % cents.length] ?? 0;
    // Each address gets calls of every price.
    const url = urls[Math.floor(index / cents.length) % urls.length] ?? "";
    const outcome = await callOnce(terms, url, price);
    if (outcome !== "lost" && "price" in outcome) {
      count += 1;
      terms.answered?.(count);
    }
    return outcome;
  });
  return resultOf(await Promise.all(sent));
}

function resultOf(outcomes: readonly Outcome[]): RaceResult {
  const answered: NanoUsd[] = [];
  const refused: Record<string, number> = {};
  let lost = 0;
  for (const outcome of outcomes) {
    if (outcome === "lost") lost += 1;
    else if ("price" in outcome) answered.push(outcome.price);
    else refused[outcome.refusal] = (refused[outcome.refusal] ?? 0) + 1;
  }
  return { answered, refused, lost };
}

async function callOnce(terms: Race, url: string, cents: number): Promise<Outcome> {
  const { key, model = MODEL, user } = terms;
  try {
    const reply = await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model,
        max_tokens: cents * TOKENS_PER_CENT,
        messages: [{ role: "user", content: "Is this call paid for?" }],
        ...(user !== null && { user }),
      }),
      signal: AbortSignal.timeout(CALL_MS_MAX),
    });
    const body = (await reply.json()) as ReplyBody;
    if (reply.ok && body.choices !== undefined) return { price: ofCents(cents) };
    const code = body.error?.code ?? body.error?.type;
    return { refusal: code === undefined ? String(reply.status) : `${reply.status} ${code}` };
  } catch {
    // The call counts as lost: the gateway was killed, or did not answer whole.
    return "lost";
  }
}

interface ReplyBody {
  readonly choices?: readonly unknown[];
  readonly error?: { readonly code?: string | number; readonly type?: string };
}

/** The sum of prices. */
export function worth(prices: readonly NanoUsd[]): NanoUsd {
  return prices.reduce<bigint>((sum, one) => sum + one, ZERO) as NanoUsd;
}

/** The results of both races together. */
export function together(a: RaceResult, b: RaceResult): RaceResult {
  const refused: Record<string, number> = { ...a.refused };
  for (const [name, count] of Object.entries(b.refused)) {
    refused[name] = (refused[name] ?? 0) + count;
  }
  return { answered: [...a.answered, ...b.answered], refused, lost: a.lost + b.lost };
}
