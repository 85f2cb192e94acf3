// Calls that go on while something is done to the processes that answer them, and their costs.

import { type NanoUsd, nano, usd } from "../../src/core/money/money.ts";

export interface Call {
  readonly requestId: string;
  readonly cost: NanoUsd;
  /** The reason why the call was not answered whole; null for a whole answer. */
  readonly failure: string | null;
}

export interface Target {
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

export interface Load {
  readonly calls: readonly Call[];
  /** Waits for this many further calls. */
  more(count: number): Promise<void>;
  /** Ends when the calls under way are answered. */
  end(): Promise<readonly Call[]>;
}

/** The model of `slow-model.ts`. */
export const MODEL = "slow";

/** A configuration whose only model is that of the server that a host runs. */
export function catalogueOf(host: string): object {
  const model = {
    id: MODEL,
    label: "Slow",
    family: "slow",
    owned_by: "check",
    context_length: 8_000,
    pricing: [{ input_usd_per_m: "1", output_usd_per_m: "2" }],
    routes: [{ provider: "slow", model: MODEL }],
  };
  return { providers: { slow: { base_url: `http://${host}:8080/v1` } }, models: [model] };
}

const CALLERS = 3;
const STREAMERS = 3;
const LOOK_MS = 50;
/** A call without an answer has failed. */
const CALL_MS_MAX = 120_000;
const MORE_MS_MAX = 180_000;

/** Starts callers and streamers, each of which makes one call after the other. */
export function startLoad(target: Target): Load {
  const calls: Call[] = [];
  let isOver = false;
  const caller = async (stream: boolean) => {
    while (!isOver) calls.push(await call(target, stream));
  };
  const all = Array.from({ length: CALLERS + STREAMERS }, (_, n) => caller(n < STREAMERS));
  return {
    calls,
    more: async (count) => {
      const goal = calls.length + count;
      for (let waitedMs = 0; calls.length < goal; waitedMs += LOOK_MS) {
        if (waitedMs > MORE_MS_MAX)
          throw new Error(`${calls.length} of ${goal} calls were answered`);
        await Bun.sleep(LOOK_MS);
      }
    },
    end: async () => {
      isOver = true;
      await Promise.all(all);
      return calls;
    },
  };
}

/** Makes a chat call; one that fails is returned with its failure. */
export async function call(
  { url, key, model }: Target,
  stream: boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<Call> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello" }] }),
      // A new connection, because on a reused one the client may send the call twice.
      keepalive: false,
      signal: AbortSignal.timeout(CALL_MS_MAX),
      // The certificate is of the proxy's own authority.
      tls: { rejectUnauthorized: false },
    });
    const requestId = response.headers.get("x-request-id") ?? "";
    const text = await response.text();
    const cost = costOf(text);
    const isWhole = response.ok && cost !== null && (!stream || text.includes("data: [DONE]"));
    return {
      requestId,
      cost: cost ?? nano(0n),
      failure: isWhole ? null : `${response.status} ${text.slice(-300)}`,
    };
  } catch (error) {
    return { requestId: "", cost: nano(0n), failure: String(error) };
  }
}

/** The cost that an answer names, whole or in the last piece of a stream. */
function costOf(text: string): NanoUsd | null {
  const cost = /"cost_usd":([\d.e-]+)/.exec(text)?.[1];
  return cost === undefined ? null : usd(Number(cost).toFixed(9));
}

/** The sum of the costs of calls. */
export function costOfAll(calls: readonly Call[]): NanoUsd {
  return nano(calls.reduce((sum, { cost }) => sum + cost, 0n));
}

/** @throws {Error} with the first failure of calls, if there is one */
export function failIfAny(calls: readonly Call[]): void {
  const failed = calls.filter(({ failure }) => failure !== null);
  if (failed.length === 0) return;
  throw new Error(`${failed.length} of ${calls.length} calls failed:\n${failed[0]?.failure}`);
}
