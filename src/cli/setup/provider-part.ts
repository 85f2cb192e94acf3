// The part of `farebox setup` about providers of models: their keys, each checked with one call,
// and the models that are sold at listed prices plus a markup.

import { keyVariableOf } from "../../annexes/imports/plan.ts";
import { PACKAGE_LISTS, readPackageList } from "../../annexes/prices/package-lists.ts";
import { additions, type ChatFile } from "../../annexes/prices/price-proposals.ts";
import { parseLocatedJson } from "../../core/configuration/located-json.ts";
import { counted } from "../../core/text/counted.ts";
import { isObject } from "../../core/text/json.ts";
import {
  DEFAULT_PRESET,
  PRESET_NAMES,
  PROVIDER_PRESETS,
  type PresetName,
} from "../../services/chat/models/provider-presets.ts";
import { checkProvider } from "../../services/chat/protocols/provider-check.ts";
import type { Fetch } from "../../upstream/upstream-http.ts";
import { type Asker, providerAnswer } from "./asker.ts";
import type { Draft } from "./draft.ts";
import { quotable } from "./env-file.ts";
import { keep } from "./setup-parts.ts";

const CHECK_MS = 15_000;
const MARKUP = "20";

/** Clouds have credentials of several parts: docs/providers.md. */
const OFFERED = PRESET_NAMES.filter((name) => PROVIDER_PRESETS[name].credentials !== "cloud");

export interface ProviderDeps {
  readonly fetch: Fetch;
  readonly now: () => number;
}

/** Asks for providers; those that are not named stay as they are. */
export async function askProviders(asker: Asker, draft: Draft, deps: ProviderDeps): Promise<void> {
  asker.say(`Providers: ${OFFERED.join(", ")}. Clouds: docs/providers.md.`);
  const known = OFFERED.filter((name) => draft.at("providers", name) !== undefined);
  const answer = await asker.ask({
    id: "providers",
    text: "Providers of models, with commas between",
    current: known.length === 0 ? null : known.join(","),
    check: (text) => presetsIn(text).join(","),
  });
  for (const name of presetsIn(answer ?? "")) {
    const isSet = await askServer(name, asker, { draft, deps });
    // No price list has the models of a server of one's own.
    if (isSet && name !== DEFAULT_PRESET) await askModels(name, asker, { draft, deps });
  }
}

function presetsIn(text: string): PresetName[] {
  // The answers of a script have underscores in place of dashes.
  const words = text.split(",").map((word) => word.trim().toLowerCase().replaceAll("_", "-"));
  return words
    .filter((word) => word !== "")
    .map((word) => {
      const preset = OFFERED.find((name) => name === word);
      if (preset !== undefined) return preset;
      throw new RangeError(`must be of ${OFFERED.join(", ")}, but has '${word}'`);
    });
}

interface ProviderSetup {
  readonly draft: Draft;
  readonly deps: ProviderDeps;
}

/**
 * Asks for the address and the key until one call shows that they work. False if the person gives
 * none: then the provider stays as it is.
 */
async function askServer(name: PresetName, asker: Asker, setup: ProviderSetup): Promise<boolean> {
  const { draft } = setup;
  const before = draft.snapshot();
  const isNew = draft.at("providers", name) === undefined;
  for (;;) {
    const missing = await askAccess(name, asker, draft);
    if (missing !== null) {
      before.restore();
      asker.refuse(missing, `is needed; ${name} stays as it is`);
      return false;
    }
    const problem = await problemOf(name, setup);
    if (problem === null) return true;
    if (!isNew && before.isKept("providers", name, "base_url")) {
      keep(asker, draft, `${name}: ${problem}`);
      return true;
    }
    before.restore();
    asker.refuse(providerAnswer(name, "key"), `${name}: ${problem}`);
  }
}

/** Returns the id of a needed answer that was not given; null if nothing is missing. */
async function askAccess(name: PresetName, asker: Asker, draft: Draft): Promise<string | null> {
  const preset = PROVIDER_PRESETS[name];
  const entry = ["providers", name];
  const variable = textAt(draft, [...entry, "api_key_env"]) ?? keyVariableOf(name);
  if (preset.baseUrl === null) {
    const id = providerAnswer(name, "base_url");
    const address = await asker.ask({
      id,
      text: `  Address of the ${name} server, such as http://10.0.0.5:8000/v1`,
      current: textAt(draft, [...entry, "base_url"]),
      check: addressFrom,
    });
    if (address === null) return id;
    draft.put([...entry, "base_url"], address);
  }
  const id = providerAnswer(name, "key");
  const key = await asker.ask({
    id,
    text: `  Key of ${name} (not shown)`,
    current: draft.variable(variable),
    isSecret: true,
    check: keyFrom,
  });
  if (key === null && preset.credentials === "key") return id;
  draft.put([...entry, "provider"], name);
  if (key === null) return null;
  draft.set(variable, key);
  draft.put([...entry, "api_key_env"], variable);
  return null;
}

/** Asks the server for its models, which costs nothing. Null if the server answers. */
async function problemOf(name: PresetName, { draft, deps }: ProviderSetup): Promise<string | null> {
  const provider = draft.catalogue().providers.get(name);
  if (provider === undefined) throw new Error(`The configuration lost the provider ${name}`);
  const { kind } = provider;
  if (kind === "guide") throw new Error("The guide is no provider of an operator");
  const checked = await checkProvider({ ...provider, kind }, { ...deps, timeoutMs: CHECK_MS });
  if (!checked.ok) return checked.problem;
  const { models } = checked;
  draft.findings.push(
    typeof models === "number"
      ? `${name} takes the key and has ${counted(models, "model")}`
      : `${name} answers, without a list of models`,
  );
  return null;
}

async function askModels(name: PresetName, asker: Asker, { draft, deps }: ProviderSetup) {
  const path = ["providers", name, "markup_percent"];
  const current = textAt(draft, path);
  const markup = await asker.ask({
    id: providerAnswer(name, "markup_percent"),
    text: `  What you add to the prices of ${name}, in percent`,
    current: current ?? MARKUP,
    check: (text) => {
      if (/^\d{1,4}(\.\d{1,4})?$/.test(text)) return text;
      throw new RangeError(`must be a number such as 20 or 12.5, but is '${text}'`);
    },
  });
  if (markup !== current) draft.put(path, markup);
  await asker.ask({
    id: providerAnswer(name, "models"),
    text: `  Models of ${name} to sell besides those of the file, with commas between`,
    current: null,
    check: async (text) => {
      await addModels(name, text, { draft, deps });
      return text;
    },
  });
}

/** Adds models with the prices of the lists that ship. @throws RangeError */
async function addModels(
  name: PresetName,
  text: string,
  { draft, deps }: ProviderSetup,
): Promise<void> {
  const words = text.split(",").map((word) => word.trim());
  const { models, providers } = draft.catalogue();
  const wanted = [...new Set(words)].filter((word) => word !== "" && !models.has(word));
  const lists = await Promise.all(PACKAGE_LISTS.map((list) => readPackageList(list, deps.now())));
  const file = parseLocatedJson(draft.text).value as ChatFile;
  const names = wanted.map((word) => `${name}/${word}`);
  const found = additions(names, { file, models, providers }, lists);
  const blocked = found.flatMap(({ model, blocks }) => blocks.map((why) => `${model}: ${why}`));
  if (blocked.length > 0) {
    throw new RangeError(`cannot be added: ${blocked.join("; ")} (prices then go into the file)`);
  }
  draft.edit(found.flatMap(({ edits }) => edits));
  const doubts = found.flatMap(({ model, asks }) => asks.map((ask) => `${model}: ${ask}`));
  draft.findings.push(...doubts.map((doubt) => `look at the price of ${doubt}`));
}

function textAt(draft: Draft, path: readonly string[]): string | null {
  const [last = "", ...parents] = path.toReversed();
  const parent = draft.at(...parents.toReversed());
  const value = isObject(parent) ? parent[last] : undefined;
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

function addressFrom(text: string): string {
  if (/^https?:\/\/\S+$/.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new RangeError(`must be an http or https URL, but is '${text}'`);
}

function keyFrom(text: string): string {
  if (/^[\x21-\x7e]{1,4096}$/.test(text)) return quotable(text);
  throw new RangeError("must be one word of plain characters");
}
