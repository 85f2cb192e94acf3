// Says which prices of a configuration differ from those of price lists, and which changes an
// operator has to name: `farebox prices`.

import type { Static, TObject } from "@sinclair/typebox";
import type { RowPrices } from "../../core/money/price-rows.ts";
import type { ModelEntry, ProviderEntry, Route } from "../../services/chat/models/catalogue.ts";
import { DEFAULT_PRESET, type PresetName } from "../../services/chat/models/provider-presets.ts";
import type { CHAT_SECTION } from "../../services/chat/settings/catalogue-section.ts";
import { type Checked, crossCheck } from "./cross-check.ts";
import type { PriceList } from "./listed-prices.ts";
import { jumps, otherBilling } from "./price-guards.ts";
import { type Merge, mergePrices, type PriceEdit } from "./price-merge.ts";
import { conditionsKey, partWords } from "./price-parts.ts";
import { type RouteCost, sellingRows } from "./selling-rule.ts";

/** The parts of the configuration file that prices are in. */
export type ChatFile = Static<TObject<typeof CHAT_SECTION>>;

/** A configuration that was read, with its file. */
export interface PricedConfiguration {
  readonly file: ChatFile;
  readonly models: ReadonlyMap<string, ModelEntry>;
  readonly providers: ReadonlyMap<string, ProviderEntry>;
}

/** The prices of a model in the lists. Without edits its configuration stays as it is. */
export interface Proposal {
  /** The id of the model; of a model that is not configured yet, `PROVIDER/NAME`. */
  readonly model: string;
  readonly edits: readonly PriceEdit[];
  /** The reasons why the change needs a yes by the model's name. */
  readonly asks: readonly string[];
  /** The reasons why prices stay as they are. */
  readonly blocks: readonly string[];
  readonly notes: readonly string[];
}

/** The proposals for all models of a file, in its order. */
export function proposals(
  configuration: PricedConfiguration,
  lists: readonly PriceList[],
): Proposal[] {
  return configuration.file.models.flatMap((one, index) => {
    const model = configuration.models.get(one.id);
    return model === undefined ? [] : proposalOf(model, index, { configuration, lists });
  });
}

interface PriceSources {
  readonly configuration: PricedConfiguration;
  readonly lists: readonly PriceList[];
}

function proposalOf(model: ModelEntry, index: number, sources: PriceSources): Proposal {
  const draft = new Draft(model, index, sources);
  const costs = model.routes.map((route, at): RouteCost => {
    const provider = sources.configuration.providers.get(route.provider);
    const markup = model.markupPercent ?? provider?.markupPercent;
    return { name: nameOf(route), rows: draft.buy(route, at), markup };
  });
  draft.sell(costs);
  const { edits, asks, blocks, notes } = draft;
  return { model: model.id, edits, asks, blocks, notes };
}

function nameOf({ provider, model }: Route): string {
  return `${provider}/${model}`;
}

/** The preset of a provider. */
export function presetOf({ file }: PricedConfiguration, provider: string): PresetName {
  return file.providers[provider]?.provider ?? DEFAULT_PRESET;
}

/** The proposal of one model while it is made. */
class Draft {
  readonly edits: PriceEdit[] = [];
  readonly asks: string[] = [];
  readonly blocks: string[] = [];
  readonly notes: string[] = [];

  constructor(
    readonly model: ModelEntry,
    readonly index: number,
    readonly sources: PriceSources,
  ) {}

  /** The buying prices of a route after the change; null if they stay unknown. */
  buy(route: Route, at: number): readonly RowPrices[] | null {
    const { configuration, lists } = this.sources;
    const rows = route.buying?.rows ?? null;
    const name = nameOf(route);
    const found = crossCheck(lists, presetOf(configuration, route.provider), route.model);
    if (found.is === "disputed") this.blocks.push(`${name}: ${found.reason}`);
    if (found.is === "unlisted") {
      this.notes.push(`${name}: no list has it`, ...found.faults.map((one) => `${name}: ${one}`));
    }
    if (found.is !== "checked") return rows;
    const wrong = unusable(found.checked, rows ?? this.model.prices.rows);
    if (wrong === null) return this.#merged({ name, rows, at }, found.checked);
    this.blocks.push(`${name}: ${wrong}`);
    return rows;
  }

  #merged({ name, rows, at }: RouteAt, checked: Checked): readonly RowPrices[] | null {
    const file = this.sources.configuration.file.models[this.index]?.routes[at];
    const form = file?.buying === undefined ? "rows" : "bands";
    const field = form === "bands" ? "buying" : "buying_prices";
    const path = ["models", this.index, "routes", at, field];
    const merge = mergePrices({ rows, form, path }, checked.model.rows);
    this.notes.push(...merge.notes.map((note) => `${name}: ${note}`));
    this.notes.push(...checked.others.map((other) => `${name}: ${other}`));
    if (merge.edits.length === 0) return rows;
    this.edits.push(...merge.edits);
    this.asks.push(...loneWords(checked, merge).map((one) => `${name}: ${one}`));
    this.asks.push(...jumps(rows ?? [], merge.rows, name));
    return merge.rows;
  }

  /** Selling prices follow the rule that is written, and stay as they are without one. */
  sell(costs: readonly RouteCost[]): void {
    const { rows } = this.model.prices;
    const rule = sellingRows(costs, rows);
    if (rule.is === "none") return;
    if (rule.is === "unclear") {
      this.notes.push(`selling price: ${rule.reason}`);
      return;
    }
    const isBands = this.sources.configuration.file.models[this.index]?.pricing !== undefined;
    const form = isBands ? "bands" : "rows";
    const path = ["models", this.index, isBands ? "pricing" : "prices"];
    const merge = mergePrices({ rows, form, path }, rule.rows);
    this.notes.push(...merge.notes.map((note) => `selling price: ${note}`));
    this.edits.push(...merge.edits);
    this.asks.push(...jumps(rows, merge.rows, "selling price"));
  }
}

interface RouteAt {
  readonly name: string;
  readonly rows: readonly RowPrices[] | null;
  readonly at: number;
}

/** The reason why listed prices are not for this model; null if they are. */
function unusable({ model }: Checked, rows: readonly RowPrices[]): string | null {
  const billing = otherBilling(rows, model);
  if (billing !== null) return billing;
  return model.rows[0]?.parts.uncached === undefined ? "the list has no price of input" : null;
}

/** The prices that change and that only one list names, in words. */
function loneWords({ lists: [first = ""], isAlone }: Checked, { changed }: Merge): string[] {
  const alone = changed.filter(isAlone);
  if (alone.length === 0) return [];
  const words = alone.map(({ row, part }) => {
    const isFee = part.includes("_") || part === "request";
    const conditions = row === conditionsKey() ? "" : ` (${rowWordsOf(row)})`;
    return `${isFee ? part : partWords(part as never)}${conditions}`;
  });
  return [`only ${first} names ${words.join(", ")}`];
}

/** The conditions of a key, as a person reads them. */
function rowWordsOf(key: string): string {
  const pairs = JSON.parse(key) as readonly (readonly [string, unknown])[];
  return pairs.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(", ");
}

/** The models of a provider that the lists have and the configuration has not. */
export function unknownModels(
  { file }: PricedConfiguration,
  lists: readonly PriceList[],
): ReadonlyMap<string, readonly string[]> {
  const routes = file.models.flatMap((model) => model.routes);
  const found = Object.entries(file.providers).map(([name, { provider = DEFAULT_PRESET }]) => {
    const own = routes.filter((route) => route.provider === name);
    const models = lists.flatMap((list) => list.models.filter((one) => one.provider === provider));
    const known = new Set(own.map(({ model }) => model.toLowerCase()));
    const others = models.filter(({ names }) => !names.some((one) => known.has(one)));
    return [name, [...new Set(others.flatMap(({ names: [first] }) => first ?? []))].toSorted()];
  });
  return new Map(found as [string, string[]][]);
}

/** The proposals to add models: PROVIDER/NAME by the names in the file and at the provider. */
export function additions(
  names: readonly string[],
  configuration: PricedConfiguration,
  lists: readonly PriceList[],
): Proposal[] {
  const first = configuration.file.models.length;
  return names.map((name, at) => additionOf(name, { configuration, lists, index: first + at }));
}

interface AdditionSources extends PriceSources {
  /** The place of the new model. */
  readonly index: number;
}

function additionOf(name: string, { configuration, lists, index }: AdditionSources): Proposal {
  const [provider = "", ...rest] = name.split("/");
  const model = rest.join("/");
  const proposal: Proposal = { model: name, edits: [], asks: [], blocks: [], notes: [] };
  const block = (reason: string) => ({ ...proposal, blocks: [reason] });
  if (!(provider in configuration.file.providers)) return block(`no provider '${provider}'`);
  if (configuration.models.has(model)) return block(`the configuration has a model '${model}'`);
  const preset = presetOf(configuration, provider);
  const found = crossCheck(lists, preset, model);
  if (found.is === "disputed") return block(found.reason);
  if (found.is === "unlisted") return block(["no list has it", ...found.faults].join("; "));
  const { checked } = found;
  if (checked.model.rows[0]?.parts.uncached === undefined) return block("no list has its prices");
  if (checked.model.contextTokens === null) return block("no list says its context length");
  const merge = mergePrices({ rows: null, form: "rows", path: [] }, checked.model.rows);
  const markup = configuration.providers.get(provider)?.markupPercent;
  const rule = sellingRows([{ name, rows: merge.rows, markup }], merge.rows);
  if (rule.is !== "rule") return block(`provider ${provider} has no markup_percent to sell it by`);
  const selling = mergePrices({ rows: null, form: "rows", path: [] }, rule.rows);
  const value = {
    id: model,
    label: model,
    family: model,
    owned_by: preset,
    context_length: checked.model.contextTokens,
    prices: selling.edits[0]?.value,
    routes: [{ provider, model, buying_prices: merge.edits[0]?.value }],
  };
  return {
    ...proposal,
    edits: [{ path: ["models", index], value, inserts: true }],
    asks: loneWords(checked, merge),
  };
}
