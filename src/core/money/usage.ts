// The usage of a call in parts. Each token is in exactly one part, and each part has a price.
// Counts are whole and never below zero.

/** The parts of the input. Reads and writes are of the provider's cache of prompts. */
export const INPUT_PARTS = [
  "uncached",
  "cacheRead",
  "cacheReadAudio",
  "cacheWrite5m",
  "cacheWrite30m",
  "cacheWrite1h",
  "cacheWrite24h",
  "imageIn",
  "audioIn",
] as const;
/** The parts of the output. Reasoning is inside of `text`. */
export const OUTPUT_PARTS = ["text", "imageOut", "audioOut"] as const;

export type InputPart = (typeof INPUT_PARTS)[number];
export type OutputPart = (typeof OUTPUT_PARTS)[number];
export type Part = InputPart | OutputPart;
export const ALL_PARTS: readonly Part[] = [...INPUT_PARTS, ...OUTPUT_PARTS];
export type PartCounts = Readonly<Partial<Record<Part, number>>>;

/**
 * Things that providers bill beside tokens (D-682). `request` is the call itself: each call has
 * one.
 */
export const FEES = [
  "web_search",
  "x_search",
  "file_search",
  "code_container",
  "code_execution",
  "search_unit",
  "document",
  "audio_second",
  "request",
] as const;
export type Fee = (typeof FEES)[number];
/** The calls of a tool, and the queries in these calls. */
export interface FeeCount {
  readonly calls: number;
  readonly queries: number;
}
export type FeeCounts = Readonly<Partial<Record<Fee, FeeCount>>>;

export const TIERS = ["standard", "flex", "priority", "batch", "provisioned"] as const;
export type Tier = (typeof TIERS)[number];
export const SPEEDS = ["standard", "fast"] as const;
export type Speed = (typeof SPEEDS)[number];

/** The way in which a provider says that it served a call. The way decides the row of prices. */
export interface Served {
  /** `unknown`: the provider named a tier that we do not know. */
  readonly tier: Tier | "unknown";
  readonly speed: Speed;
  readonly geography: string | null;
  /** The model by the provider's name for it; null if the provider named none. */
  readonly model: string | null;
}

export const SERVED_PLAINLY: Served = {
  tier: "standard",
  speed: "standard",
  geography: null,
  model: null,
};

/**
 * The tokens of a call. The totals are the sums of their parts. Most calls have no other parts than
 * `uncached`, `cacheRead` and `text`, which follow from the totals; `more` has the others.
 */
export interface TokenUsage {
  /** The sum of all parts of the input. */
  readonly promptTokens: number;
  /** The sum of `cacheRead` and `cacheReadAudio`. */
  readonly cachedTokens: number;
  /** The sum of all parts of the output. */
  readonly completionTokens: number;
  readonly more?: MoreParts;
}

type CommonPart = "uncached" | "cacheRead" | "text";
/** Only `usageOf` makes such a usage, so that no part of the totals is below zero. */
export type MoreParts = Readonly<Partial<Record<Exclude<Part, CommonPart>, number>>>;

export const CACHE_WRITES = [
  "cacheWrite5m",
  "cacheWrite30m",
  "cacheWrite1h",
  "cacheWrite24h",
] as const satisfies InputPart[];

/** The usage with these parts. A RangeError if a count is not whole or is below zero. */
export function usageOf(parts: PartCounts): TokenUsage {
  let all = 0;
  for (const part in parts) {
    const count = parts[part as Part] ?? 0;
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new RangeError(`${count} is no count of tokens, as ${part} needs it`);
    }
    all += count;
  }
  const { uncached = 0, cacheRead = 0, cacheReadAudio = 0, text = 0 } = parts;
  const promptTokens = uncached + cacheRead;
  // No count is below zero, so no other part has one.
  if (promptTokens + text === all) {
    return { promptTokens, cachedTokens: cacheRead, completionTokens: text };
  }
  return {
    promptTokens: sumOf(parts, INPUT_PARTS),
    cachedTokens: cacheRead + cacheReadAudio,
    completionTokens: sumOf(parts, OUTPUT_PARTS),
    more: moreIn(parts),
  };
}

/** The counts of other parts than the common ones, in the order of `ALL_PARTS`. */
function moreIn(parts: PartCounts): MoreParts {
  const more: Partial<Record<Part, number>> = {};
  for (const part of ALL_PARTS) {
    const count = parts[part] ?? 0;
    const isCommon = part === "uncached" || part === "cacheRead" || part === "text";
    if (count !== 0 && !isCommon) more[part] = count;
  }
  return more;
}

/** The parts of a usage, which add up to its totals. Parts without tokens are left out. */
export function partsOf({
  promptTokens,
  cachedTokens,
  completionTokens,
  more = {},
}: TokenUsage): PartCounts {
  const readAudio = more.cacheReadAudio ?? 0;
  const parts: Record<CommonPart, number> & MoreParts = {
    ...more,
    uncached: promptTokens - cachedTokens - (sumOf(more, INPUT_PARTS) - readAudio),
    cacheRead: cachedTokens - readAudio,
    text: completionTokens - sumOf(more, OUTPUT_PARTS),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, count]) => count !== 0));
}

/** The tokens that a call wrote to the provider's cache, of all lifetimes. */
export function cacheWriteTokens(more: MoreParts | undefined): number {
  return more === undefined ? 0 : sumOf(more, CACHE_WRITES);
}

/** A usage with this many output tokens in place of its own, of text and of images. */
export function withOutput(
  { promptTokens, cachedTokens, more }: Omit<TokenUsage, "completionTokens">,
  text: number,
  images = 0,
): TokenUsage {
  const totals = { promptTokens, cachedTokens, completionTokens: text + images };
  if (more === undefined && images === 0) return totals;
  const { imageOut: _, audioOut: __, ...input } = more ?? {};
  const parts = images === 0 ? input : { ...input, imageOut: images };
  return Object.keys(parts).length === 0 ? totals : { ...totals, more: parts };
}

/** The usage of all these calls together. */
export function sumOfUsages(usages: readonly TokenUsage[]): TokenUsage {
  const [only] = usages;
  if (only !== undefined && usages.length === 1) return only;
  const parts: Partial<Record<Part, number>> = {};
  for (const usage of usages) {
    for (const [part, count] of Object.entries(partsOf(usage)) as [Part, number][]) {
      parts[part] = (parts[part] ?? 0) + count;
    }
  }
  return usageOf(parts);
}

function sumOf(parts: PartCounts, names: readonly Part[]): number {
  let sum = 0;
  for (const name of names) sum += parts[name] ?? 0;
  return sum;
}

/** The tokens that one price row was charged for: its place among the rows of its version. */
export interface RowUsage {
  readonly row: number;
  readonly parts: PartCounts;
}

/** The details of a usage that the log has beside its totals. Most calls have none. */
export interface UsageDetails {
  readonly more?: MoreParts;
  readonly fees?: FeeCounts;
  /** The tokens of reasoning, which are inside of `text`. */
  readonly reasoning?: number;
  /** The tokens by price row, of a call that several rows priced; the last one has the fees. */
  readonly rows?: readonly RowUsage[];
  /** The tier that served the call, unless it was the standard one. */
  readonly tier?: Served["tier"];
  /** Our own count decided: the provider reported no usage, or one that contradicts itself. */
  readonly source?: "counted" | "contradicted";
  /** True if the cost of upstream is the provider's own figure. */
  readonly isReportedCost?: true;
  /** True if the provider refused the content of the call, before or within its reply. */
  readonly isContentRefused?: true;
  /** True if the caller's cap of the cost ended the reply. */
  readonly isCostStopped?: true;
}

/** The details of a usage that have a place in its short text. */
export type UsageParts = Pick<UsageDetails, "more" | "fees" | "reasoning" | "rows">;

const REASONING = "reasoning";
const OF_ROW = /^(\d+)\.(\w+)$/;

/** The name of a part where words are joined by lines: `cache_write_5m`. */
export function partName(part: Part): string {
  return part.replaceAll(/[A-Z]|\d+/g, (one) => `_${one.toLowerCase()}`);
}

/**
 * Parts and counts of fees as a short text, such as `cacheWrite5m:4012 web_search:2/3`, and the
 * parts of each price row if several apply: `0.uncached:900 2.uncached:12`.
 */
export function partsText({ more = {}, fees = {}, reasoning = 0, rows = [] }: UsageParts): string {
  const parts = Object.entries(more).map(([part, count]) => `${part}:${count}`);
  const counts = Object.entries(fees).map(([fee, { calls, queries }]) => {
    return `${fee}:${calls}/${queries}`;
  });
  const thoughts = reasoning === 0 ? [] : [`${REASONING}:${reasoning}`];
  const priced = rows.flatMap(({ row, parts: own }) =>
    Object.entries(own).map(([part, count]) => `${row}.${part}:${count}`),
  );
  return [...parts, ...thoughts, ...counts, ...priced].join(" ");
}

/** Reads the output of `partsText`. */
export function parseParts(text: string): Required<UsageParts> {
  const more: Record<string, number> = {};
  const fees: Record<string, FeeCount> = {};
  const rows = new Map<number, Record<string, number>>();
  let reasoning = 0;
  for (const entry of text.split(" ")) {
    const [name = "", count = ""] = entry.split(":");
    const [calls, queries] = count.split("/").map(Number);
    if (calls === undefined || name === "") continue;
    const [, row, part = ""] = OF_ROW.exec(name) ?? [];
    if (row !== undefined) rows.set(Number(row), { ...rows.get(Number(row)), [part]: calls });
    else if (queries !== undefined) fees[name] = { calls, queries };
    else if (name === REASONING) reasoning = calls;
    else more[name] = calls;
  }
  return { more, fees, reasoning, rows: [...rows].map(([row, parts]) => ({ row, parts })) };
}
