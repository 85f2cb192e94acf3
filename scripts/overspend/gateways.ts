// Reads the spending from each gateway by one request, with the key itself wherever that is
// possible.

import { type NanoUsd, nano, usd } from "../../src/core/money/money.ts";

/** The members of any of the answers. */
interface Answer {
  readonly month?: { readonly spent_usd?: unknown };
  readonly info?: { readonly spend?: unknown };
  readonly spend?: unknown;
  readonly data?: { readonly usage?: unknown };
  readonly total_usage?: unknown;
  readonly apiKeys?: readonly { readonly usage?: unknown }[];
}

interface Gateway {
  /**
   * The path counts from the root of the gateway if the path begins with a slash, else from the
   * base URL.
   */
  readonly path: string;
  /** The amounts in the answer, whose sum was spent. */
  readonly read: (answer: Answer) => readonly unknown[];
  readonly unit: "dollar" | "cent";
  /** For how long the gateway may write spending down after an answer. */
  readonly lateMs: number;
}

/** The gateways by the name that `--gateway` takes. */
export const GATEWAYS = {
  farebox: {
    path: "me",
    read: ({ month }) => [month?.spent_usd],
    unit: "dollar",
    lateMs: 0,
  },
  // The first is the answer about a key, the second the one about a customer.
  litellm: {
    path: "/key/info",
    read: ({ info, spend }) => [info?.spend ?? spend],
    unit: "dollar",
    lateMs: 90_000,
  },
  // new-api kept these paths.
  "one-api": {
    path: "dashboard/billing/usage",
    read: ({ total_usage }) => [total_usage],
    unit: "cent",
    lateMs: 30_000,
  },
  // Lists the keys of a project; its address has the project, so --spend-url must name it.
  "llm-gateway": {
    path: "/keys/api",
    read: ({ apiKeys }) => apiKeys?.map(({ usage }) => usage) ?? [undefined],
    unit: "dollar",
    lateMs: 60_000,
  },
  openrouter: {
    path: "key",
    read: ({ data }) => [data?.usage],
    unit: "dollar",
    lateMs: 60_000,
  },
} as const satisfies Readonly<Record<string, Gateway>>;

export type GatewayName = keyof typeof GATEWAYS;

/** The request by which a gateway reports the spending. */
export interface SpendSource {
  readonly gateway: GatewayName;
  /** The base URL of the gateway, with its /v1. */
  readonly url: string;
  /** The address to ask; null for the address at which a key asks about itself. */
  readonly spendUrl: string | null;
  /** The key of the calls, or one that may read spending. */
  readonly token: string;
  /** The time to wait before the last reading; null for the time of the gateway. */
  readonly lateMs: number | null;
}

const AGREEING_MS = 1_000;

/**
 * Returns the spending that the gateway reports.
 * @throws Error that names the request and its answer, if there is no amount in it
 */
export async function readSpend(source: SpendSource): Promise<NanoUsd> {
  const { path, read, unit }: Gateway = GATEWAYS[source.gateway];
  const own = path.startsWith("/") ? new URL(path, source.url).href : `${source.url}/${path}`;
  const address = source.spendUrl ?? own;
  const headers = { authorization: `Bearer ${source.token}` };
  const reply = await fetch(address, { headers });
  const text = await reply.text();
  const amounts = (reply.ok ? read(JSON.parse(text) as Answer) : [undefined]).map(amountOf);
  const known = amounts.flatMap((amount) => (amount === null ? [] : [amount]));
  if (known.length < amounts.length) {
    throw new Error(`GET ${address} answered ${reply.status} without an amount: ${text}`);
  }
  const sum = known.reduce<bigint>((total, one) => total + one, 0n);
  return nano(unit === "cent" ? sum / 100n : sum);
}

/** Gateways count in floats, which stand for the nearest nano-dollar. */
function amountOf(value: unknown): NanoUsd | null {
  const isText = typeof value === "string" && value.trim() !== "";
  const amount = typeof value === "number" || isText ? Number(value) : Number.NaN;
  return Number.isFinite(amount) && amount >= 0 ? usd(amount.toFixed(9)) : null;
}

/** Reads it until two readings agree, once the gateway had time to write spending down. */
export async function settledSpend(source: SpendSource): Promise<NanoUsd> {
  await Bun.sleep(source.lateMs ?? GATEWAYS[source.gateway].lateMs);
  for (let last = await readSpend(source); ; ) {
    await Bun.sleep(AGREEING_MS);
    const now = await readSpend(source);
    if (now === last) return now;
    last = now;
  }
}
