// Plans the models of one-api and new-api: their channels as providers, their ratios as prices. A
// ratio of 1 is one quota for each token of the prompt.

import { decimal, product, quotient } from "../../core/money/decimal.ts";
import type { ForeignRow } from "../../store/imports/foreign-database.ts";
import type { OneApiTables } from "../../store/imports/one-api-source.ts";
import {
  foreignText,
  jsonObject,
  type PlannedCatalogue,
  type PlannedModel,
  serverAddress,
  wholeOf,
} from "./plan.ts";
import { type ForeignServer, PlannedRoutes } from "./planned-routes.ts";

/**
 * Channel types that speak OpenAI's protocol, with the address that a channel has if it names none;
 * the two products count them differently.
 */
const OPENAI_TYPES: Record<OneApiTables["product"], Readonly<Record<string, string>>> = {
  "one-api": {
    1: "https://api.openai.com",
    8: "",
    20: "https://openrouter.ai/api",
    25: "https://api.moonshot.cn",
    28: "https://api.mistral.ai",
    29: "https://api.groq.com/openai",
    30: "http://localhost:11434",
    31: "https://api.lingyiwanwu.com",
    32: "https://api.stepfun.com",
    36: "https://api.deepseek.com",
    39: "https://api.together.xyz",
    44: "https://api.siliconflow.cn",
    45: "https://api.x.ai",
    50: "",
  },
  "new-api": {
    1: "https://api.openai.com",
    4: "http://localhost:11434",
    20: "https://openrouter.ai/api",
    25: "https://api.moonshot.cn",
    31: "https://api.lingyiwanwu.com",
    40: "https://api.siliconflow.cn",
    42: "https://api.mistral.ai",
    43: "https://api.deepseek.com",
    48: "https://api.x.ai",
  },
};

interface ModelTerms {
  readonly contextLength: number;
  readonly quotaPerUsd: string;
}

/** Returns the catalogue of their channels, and notes on channels that are left out. */
export function oneApiCatalogue(
  tables: OneApiTables,
  terms: ModelTerms,
): { readonly catalogue: PlannedCatalogue; readonly notes: readonly string[] } {
  const routes = new PlannedRoutes();
  const notes: string[] = [];
  const prices = new Prices(tables.options, terms.quotaPerUsd);
  const unpriced = new Map<string, string>();
  const offered = new Set<string>();
  for (const channel of inOrder(tables.channels)) {
    const server = serverOf(channel, tables.product);
    if (typeof server === "string") {
      notes.push(`channel ${channel.id} '${channel.name ?? ""}': ${server}; left out`);
      continue;
    }
    const mapping = jsonObject(foreignText(channel.model_mapping));
    for (const id of modelsOf(channel)) {
      const found = prices.of(id);
      if (typeof found === "string") {
        unpriced.set(id, found);
        continue;
      }
      offered.add(id);
      const upstreamName = foreignText(mapping[id]) ?? id;
      const { contextLength } = terms;
      routes.add({ id, upstreamName, server, contextLength, prices: found });
    }
  }
  for (const [id, why] of unpriced) notes.push(`model '${id}': ${why}; left out`);
  for (const id of offered) {
    notes.push(`model '${id}': its context length is not known; ${terms.contextLength} is assumed`);
  }
  return { catalogue: routes.catalogue(), notes: [...notes, ...routes.notes] };
}

/** Sorts channels as they are tried there: the highest priority first. */
function inOrder(channels: readonly ForeignRow[]): ForeignRow[] {
  const priority = (channel: ForeignRow) => Number(wholeOf(channel.priority) ?? 0n);
  return [...channels].sort((a, b) => priority(b) - priority(a));
}

function modelsOf(channel: ForeignRow): string[] {
  const names = (foreignText(channel.models) ?? "").split(",").map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))];
}

function serverOf(channel: ForeignRow, product: OneApiTables["product"]): ForeignServer | string {
  if (String(wholeOf(channel.status)) !== "1") return "disabled there";
  const type = String(wholeOf(channel.type));
  const usual = OPENAI_TYPES[product][type];
  if (usual === undefined) return `its type ${type} does not speak OpenAI's protocol`;
  const address = serverAddress(foreignText(channel.base_url) ?? usual);
  if (typeof address === "string") return address;
  const base = address.url;
  return {
    identity: `channel:${channel.id}`,
    name: foreignText(channel.name) ?? `channel-${channel.id}`,
    // Both products put /v1 between the address of a channel and the path of a request.
    baseUrl: /\/v\d+$/.test(base) ? base : `${base}/v1`,
    keyVariable: null,
    hasKey: foreignText(channel.key) !== null,
  };
}

/** The prices in their options. The default prices of the two programs are not in the database. */
class Prices {
  readonly #ratio: Readonly<Record<string, unknown>>;
  readonly #completion: Readonly<Record<string, unknown>>;
  readonly #cache: Readonly<Record<string, unknown>>;
  readonly #perCall: Readonly<Record<string, unknown>>;
  /** In new-api, the kind of price of each model; "ratio" if a model has no kind. */
  readonly #modes: Readonly<Record<string, unknown>>;

  constructor(
    options: ReadonlyMap<string, string>,
    readonly quotaPerUsd: string,
  ) {
    this.#ratio = jsonObject(options.get("ModelRatio"));
    this.#completion = jsonObject(options.get("CompletionRatio"));
    this.#cache = jsonObject(options.get("CacheRatio"));
    this.#perCall = jsonObject(options.get("ModelPrice"));
    this.#modes = jsonObject(options.get("billing_setting.billing_mode"));
  }

  /** Returns the prices of a model, or why it has none. */
  of(id: string): PlannedModel["pricing"][0] | string {
    const mode = Object.hasOwn(this.#modes, id) ? foreignText(this.#modes[id]) : null;
    if (mode !== null && mode !== "ratio") return `its price there is of the kind '${mode}'`;
    if (Object.hasOwn(this.#perCall, id)) return "it is paid by the call there";
    if (!Object.hasOwn(this.#ratio, id)) return "its price is not in the option ModelRatio";
    if (!Object.hasOwn(this.#completion, id))
      return "its output price is not in the option CompletionRatio";
    const input = this.#perMillion(this.#ratio[id]);
    const output = this.#perMillion(this.#ratio[id], this.#completion[id]);
    if (input === null || output === null) return "its ratio is no number";
    const cached = Object.hasOwn(this.#cache, id)
      ? this.#perMillion(this.#ratio[id], this.#cache[id])
      : null;
    return {
      input_usd_per_m: input,
      output_usd_per_m: output,
      ...(cached !== null && { cached_input_usd_per_m: cached }),
    };
  }

  /** USD for a million tokens; digits beyond six decimals are rounded up. */
  #perMillion(ratio: unknown, times: unknown = 1): string | null {
    const [base, factor, perUsd] = [decimal(ratio), decimal(times), decimal(this.quotaPerUsd)];
    if (base === null || factor === null || perUsd === null) return null;
    if (base.digits < 0n || factor.digits < 0n || perUsd.digits <= 0n) return null;
    const million = product(product(base, factor), { digits: 1_000_000n, scale: 0 });
    return quotient(million, perUsd, { decimals: 6, rounding: "up" });
  }
}
