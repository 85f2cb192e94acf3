// Makes calls without end by every door, whatever process dies meanwhile, and records each caller's
// answer.

import { countTokens } from "../../../src/services/chat/tokens/tokens.ts";
import { postChat, readAnswer, readStream } from "../api/chat-client.ts";
import type { Random } from "../random.ts";
import type { TestAccount } from "../stores/accounts.ts";
import type { Api, Product } from "./product.ts";
import { CHAT_WAY, inEachForm, modelFor, WAYS, type Way } from "./ways.ts";

/** So expensive that a balance can be emptied: 12 prompt tokens and 8 of output are $0.14. */
const PRICES = { input: "5000", output: "10000" } as const;
const KINDS = {
  ok: { tokens: 8, mood: "ok" },
  stream: { tokens: 12, mood: "tokens-12-every-10" },
  long: { tokens: 4_000, mood: "tokens-4000-every-20" },
} as const;

/** A whole reply, a stream, or a stream of more than a minute. */
export type Kind = keyof typeof KINDS;

export const MODELS = inEachForm(
  Object.entries(KINDS).map(([id, { mood }]) => ({ id, mood, ...PRICES })),
);

const PROMPT = "Hello";
/** Above the count of any tokenizer for this prompt. */
const PROMPT_TOKENS_MAX = 21n;
const NANO_A_PROMPT_TOKEN = 5_000_000n;
const NANO_A_TOKEN = 10_000_000n;
const MAX_TOKENS = 50;
const MAX_LONG_TOKENS = 4_000;

/** The end of one call, as far as its caller knows. */
export interface Told {
  /** Null if no header came: the call may or may not have happened. */
  readonly requestId: string | null;
  readonly account: string;
  readonly status: number | null;
  /** The exact cost of a completed call; null for one that broke off. */
  readonly cost: bigint | null;
  /** The highest possible cost. */
  readonly costMax: bigint;
}

export interface LoadOptions {
  readonly accounts: readonly TestAccount[];
  readonly callers: number;
  readonly random: Random;
  /** The processes that are called; by default all of them. */
  readonly apis?: readonly Api[];
}

export class Load {
  readonly told: Told[] = [];
  /** The number of calls that no process took, because it was gone. */
  refused = 0;
  readonly #apis: readonly Api[];
  readonly #callers: Promise<void>[];
  #goesOn = true;

  constructor(
    product: Product,
    readonly options: LoadOptions,
  ) {
    this.#apis = options.apis ?? product.apis;
    this.#callers = Array.from({ length: options.callers }, () => this.#call());
  }

  /** The number of calls that were answered with this status. */
  count(status: number | null): number {
    return this.told.filter((one) => one.status === status).length;
  }

  /** Resolves when this many further calls were served. */
  async servedMore(count: number, withinMs = 30_000): Promise<void> {
    const enough = this.count(200) + count;
    const endMs = performance.now() + withinMs;
    while (this.count(200) < enough) {
      if (performance.now() > endMs) throw new Error(`Not even ${count} calls were served in time`);
      await Bun.sleep(5);
    }
  }

  /** Lets the calls in progress end. */
  async stop(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#callers);
  }

  async #call(): Promise<void> {
    const { random, accounts } = this.options;
    while (this.#goesOn) {
      const api = random.pick(this.#apis);
      if (!api.isRunning) {
        await Bun.sleep(2);
        continue;
      }
      const asked = { kind: random.pick(["ok", "stream"] as const), way: random.pick(WAYS) };
      const told = await callOnce(api, random.pick(accounts), asked);
      if (told === null) this.refused += 1;
      else this.told.push(told);
      // The processes under test need the processor more.
      await Bun.sleep(random.between(1, 40));
    }
  }
}

/** A call, and by which way; by default by chat completions. */
export interface AskedOnce {
  readonly kind: Kind;
  readonly way?: Way;
  readonly onText?: (text: string) => void;
}

/** Makes one call; null if no process took it. */
export async function callOnce(
  api: Api,
  { id: account, key }: TestAccount,
  { kind, way = CHAT_WAY, onText = () => {} }: AskedOnce,
): Promise<Told | null> {
  const stream = kind !== "ok";
  const maxTokens = kind === "long" ? MAX_LONG_TOKENS : MAX_TOKENS;
  const unknown = { requestId: null, account, status: null, cost: null };
  const costMax = costOf(maxTokens);
  let response: Response;
  try {
    const asked = { model: modelFor(way, kind), stream, maxTokens, prompt: PROMPT };
    response = await postChat(api.url, key, { door: way.door, ...asked });
  } catch (error) {
    if (isRefusal(error)) return null;
    return { ...unknown, costMax };
  }
  if (stream) return await readStreamed({ account, kind }, response, onText);
  const requestId = response.headers.get("x-request-id");
  const { status } = response;
  try {
    const { cost } = await readAnswer(response);
    return { requestId, account, status, cost, costMax };
  } catch {
    return { ...unknown, requestId, status, costMax };
  }
}

async function readStreamed(
  { account, kind }: { readonly account: string; readonly kind: Kind },
  response: Response,
  onText: (text: string) => void,
): Promise<Told> {
  const { status } = response;
  const answer = await readStream(response, onText);
  const { requestId } = answer;
  if (answer.isWhole) {
    return { requestId, account, status, cost: answer.cost, costMax: answer.cost ?? 0n };
  }
  // A reset connection loses the bytes that were written to it and not read yet.
  const tokens = answer.wasReset ? KINDS[kind].tokens : countTokens(answer.text);
  return { requestId, account, status, cost: null, costMax: costOf(tokens) };
}

/** The highest cost of a reply with this number of tokens. */
function costOf(tokens: number): bigint {
  return PROMPT_TOKENS_MAX * NANO_A_PROMPT_TOKEN + BigInt(tokens) * NANO_A_TOKEN;
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
}
