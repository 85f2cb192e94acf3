// `farebox prices`: the buying prices of the configuration against price lists of others, and the
// selling prices that follow from them by a written rule.

import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { withEdits } from "../../annexes/prices/apply-edits.ts";
import { readFileList } from "../../annexes/prices/file-lists.ts";
import type { PriceList } from "../../annexes/prices/listed-prices.ts";
import { PACKAGE_LISTS, readPackageList } from "../../annexes/prices/package-lists.ts";
import {
  additions,
  type ChatFile,
  type PricedConfiguration,
  type Proposal,
  proposals,
  unknownModels,
} from "../../annexes/prices/price-proposals.ts";
import { parseLocatedJson } from "../../core/configuration/located-json.ts";
import { counted } from "../../core/text/counted.ts";
import { textOfBytes } from "../../core/text/text-bytes.ts";
import {
  configurationChanges,
  type GivenConfiguration,
  versionName,
} from "../../settings/catalogue-changes.ts";
import { parseCatalogue } from "../../settings/catalogue-file.ts";
import { readConfiguration } from "../../settings/catalogue-source.ts";
import { Configurations } from "../../store/operators/configurations.ts";
import { replace } from "../accounts/key-file.ts";
import { type Answer, type Command, type Input, type OptionSpec, UsageError } from "../command.ts";
import { bytesOfFile, foreign } from "../foreign.ts";
import { indented } from "../print.ts";
import { serverSettings } from "../server-settings.ts";
import type { Stores } from "../stores.ts";
import { reasonOf } from "../values.ts";

const ACTOR = "command line";
const ALL = "all";
const PERMISSION_BITS = 0o777;

const SOURCES = {
  file: {
    value: "FILE,…",
    help: "more price lists: LiteLLM's map of models, or the snapshot of model-prices",
  },
  lists: {
    value: "NAME,…",
    help: `only these of ${PACKAGE_LISTS.join(", ")}, litellm and model-prices`,
  },
} satisfies Record<string, OptionSpec>;

const check: Command = {
  name: "prices check",
  positionals: ["[FILE]"],
  summary: "Compare buying prices with price lists; FILE is a configuration, else the one in force",
  options: { ...SOURCES, new: { value: null, help: "name the models that only the lists have" } },
  prepare(input) {
    const sources = sourcesOf(input);
    const showsNew = input.values.has("new");
    return async (stores) => {
      const read = await readPriced(stores, input.positionals[0]);
      const lists = await readLists(sources, input.nowMs);
      const found = proposals(read.priced, lists);
      const edited = withEdits(
        read.text,
        found.flatMap(({ edits }) => edits),
      );
      const changes = read.changes(edited);
      const news = unknownModels(read.priced, lists);
      return checkAnswer({ lists, found, changes, news, showsNew });
    };
  },
};

const importPrices: Command = {
  name: "prices import",
  positionals: ["[FILE]"],
  summary: "Take over the prices of lists for the models that you name; FILE as in prices check",
  options: {
    ...SOURCES,
    models: { value: "ID,…", help: `take over these models; ${ALL}: each that needs no yes` },
    yes: { value: "ID,…", help: "take over these, too, although prices check asks about them" },
    add: { value: "PROVIDER/NAME,…", help: "add these models of the lists" },
    note: { value: "TEXT", help: "why; it is kept with the version" },
    "dry-run": { value: null, help: "only say what would change" },
  },
  prepare(input) {
    const sources = sourcesOf(input);
    const accepted = acceptedOf(input);
    const note = input.values.has("note") ? reasonOf(input, "note") : null;
    const isDryRun = input.values.has("dry-run");
    return async (stores) => {
      const read = await readPriced(stores, input.positionals[0]);
      const lists = await readLists(sources, input.nowMs);
      const chosen = choose(read.priced, lists, accepted);
      const text = withEdits(
        read.text,
        chosen.flatMap(({ edits }) => edits),
      );
      const changes = read.changes(text);
      const models = chosen.map(({ model }) => model);
      if (isDryRun || chosen.length === 0) {
        return importAnswer({ models, changes, result: "Nothing was written." });
      }
      const result = await read.write(text, { note, at: new Date(input.nowMs) });
      return importAnswer({ models, changes, result });
    };
  },
};

export const priceCommands: readonly Command[] = [check, importPrices];

interface Sources {
  readonly files: readonly string[];
  /** Null for all. */
  readonly names: readonly string[] | null;
}

function sourcesOf({ values }: Input): Sources {
  const names = namesIn(values.get("lists"));
  const known = [...PACKAGE_LISTS, "litellm", "model-prices"];
  const wrong = names?.find((name) => !known.includes(name));
  if (wrong !== undefined) {
    throw new UsageError(`--lists must be of ${known.join(", ")}, but has '${wrong}'`);
  }
  return { files: namesIn(values.get("file")) ?? [], names };
}

function namesIn(text: string | undefined): string[] | null {
  return text?.split(",").map((word) => word.trim()) ?? null;
}

/** Reads every list; if one of them cannot be read, there is none. Files go before packages. */
async function readLists({ files, names }: Sources, nowMs: number): Promise<PriceList[]> {
  const isWanted = (name: string) => names === null || names.includes(name);
  const lists: PriceList[] = [];
  for (const path of files) {
    const text = textOfBytes(await bytesOfFile(path, `--file ${path}`));
    lists.push(foreign(() => readFileList(text, basename(path), nowMs)));
  }
  for (const name of PACKAGE_LISTS) {
    if (isWanted(name)) lists.push(await readPackageList(name, nowMs));
  }
  const wanted = lists.filter(({ name }) => isWanted(name));
  const missing = names?.find((name) => !wanted.some((list) => list.name === name));
  if (missing !== undefined) throw new UsageError(`--lists names ${missing}, but no --file has it`);
  return wanted;
}

interface WriteTerms {
  readonly note: string | null;
  readonly at: Date;
}

interface ReadConfiguration {
  readonly text: string;
  readonly priced: PricedConfiguration;
  /** The changes to another text, as `config apply` says them. */
  readonly changes: (text: string) => string[];
  /** Puts a text in place of this one, and returns where it is. */
  readonly write: (text: string, terms: WriteTerms) => Promise<string>;
}

/** The configuration of a file, or else the one in force. */
async function readPriced(
  { database, environment }: Stores,
  path: string | undefined,
): Promise<ReadConfiguration> {
  if (path !== undefined) {
    const text = await readConfiguration(path);
    const { mode } = await stat(path);
    return pricedOf({ version: 0, text, name: path, environment }, async (next) => {
      if ((await readConfiguration(path)) !== text) {
        throw new UsageError(`${path} was changed meanwhile: nothing was written`);
      }
      await replace(path, next, mode & PERMISSION_BITS);
      return `Written: ${path}.`;
    });
  }
  const configurations = new Configurations(database);
  const version = (await configurations.list(null, 1))[0]?.version;
  if (version === undefined) {
    throw new UsageError("No configuration was applied for all processes: name its FILE");
  }
  const { text } = await configurations.find(version);
  const given = { version, text, name: versionName(version), environment };
  return pricedOf(given, async (next, { note, at }) => {
    const describe = configurationChanges(given.name, serverSettings({ environment }).environment);
    const row = { text: next, actor: ACTOR, note, rollsBackTo: null, expected: version, at };
    const applied = await configurations.apply(row, describe);
    return `Version ${applied.version} is in force.`;
  });
}

function pricedOf(
  given: GivenConfiguration & Pick<Stores, "environment"> & { readonly name: string },
  write: ReadConfiguration["write"],
): ReadConfiguration {
  const { name, text } = given;
  const { environment } = serverSettings(given);
  const { models, providers } = parseCatalogue(text, environment, { fileName: name });
  const file = parseLocatedJson(text).value as ChatFile;
  const describe = configurationChanges(name, environment);
  return {
    text,
    priced: { file, models, providers },
    changes: (next) => describe(given, next),
    write,
  };
}

interface Accepted {
  readonly models: readonly string[];
  /** True to accept the changes of all models that need no confirmation. */
  readonly isAll: boolean;
  readonly yes: readonly string[];
  readonly added: readonly string[];
}

function acceptedOf({ values }: Input): Accepted {
  const models = namesIn(values.get("models")) ?? [];
  const [yes, added] = [namesIn(values.get("yes")) ?? [], namesIn(values.get("add")) ?? []];
  if (models.length + yes.length + added.length === 0) {
    throw new UsageError("'prices import' needs --models, --yes or --add: it takes what you name");
  }
  const isAll = models.includes(ALL);
  return { models: models.filter((one) => one !== ALL), isAll, yes, added };
}

/** The proposals that the operator accepted. @throws UsageError for a name that cannot be taken */
function choose(
  priced: PricedConfiguration,
  lists: readonly PriceList[],
  { models, isAll, yes, added }: Accepted,
): Proposal[] {
  const all = proposals(priced, lists);
  const news = additions([...new Set(added)], priced, lists);
  const named = [...models, ...yes.filter((name) => !added.includes(name))];
  const chosen = named.map((name) => {
    const found = all.find(({ model }) => model === name);
    if (found === undefined) throw new UsageError(`The configuration has no model '${name}'`);
    return found;
  });
  const open = isAll ? all.filter(({ asks }) => asks.length === 0) : [];
  const taken = [...new Set([...chosen, ...open])];
  for (const { model, edits, asks, blocks } of [...taken, ...news]) {
    if (edits.length === 0 && blocks.length > 0) refuse(model, blocks);
    if (edits.length > 0 && asks.length > 0 && !yes.includes(model)) {
      throw new UsageError(`'${model}' needs --yes ${model}:\n${indented(asks.join("\n"))}`);
    }
  }
  // Edits refer to places in the unchanged file, so additions must come after all edits.
  return [...taken, ...news].filter(({ edits }) => edits.length > 0);

  function refuse(model: string, blocks: readonly string[]): void {
    const isNamed = named.includes(model) || added.includes(model);
    if (isNamed) throw new UsageError(`'${model}' stays as it is: ${blocks.join("; ")}`);
  }
}

interface Check {
  readonly lists: readonly PriceList[];
  readonly found: readonly Proposal[];
  readonly changes: readonly string[];
  readonly news: ReadonlyMap<string, readonly string[]>;
  readonly showsNew: boolean;
}

function checkAnswer({ lists, found, changes, news, showsNew }: Check): Answer {
  const changing = found.filter(({ edits }) => edits.length > 0);
  const asking = changing.filter(({ asks }) => asks.length > 0);
  const blocked = found.filter(({ blocks }) => blocks.length > 0);
  const counts = [...news].map(([name, models]) => {
    return showsNew ? `${name}: ${models.join(", ")}` : `${name}: ${models.length}`;
  });
  const sections = [
    [changing.length === 0 ? "No price would change." : "Would change:", changes],
    ["Needs --yes with the model's name:", linesOf(asking, "asks")],
    ["Stays as it is:", linesOf(blocked, "blocks")],
    ["Notes:", linesOf(found, "notes")],
    ["Models of the lists that are not configured:", counts],
  ] as const;
  const texts = sections
    .filter(([, lines], index) => index === 0 || lines.length > 0)
    .map(([head, lines]) => [head, ...lines.map(indented)].join("\n"));
  const names = lists.map(({ name, models }) => `${name} (${counted(models.length, "model")})`);
  return {
    json: {
      lists: lists.map(({ name, models }) => ({ name, models: models.length })),
      changes,
      models: found.map(({ edits, ...one }) => ({ ...one, changes: edits.length > 0 })),
      not_configured: Object.fromEntries(news),
    },
    text: [`Lists: ${names.join(", ")}.`, ...texts].join("\n"),
    failed: changing.length + blocked.length > 0,
  };
}

function linesOf(found: readonly Proposal[], of: "asks" | "blocks" | "notes"): string[] {
  return found.flatMap((one) => one[of].map((line) => `${one.model}: ${line}`));
}

interface Import {
  readonly models: readonly string[];
  readonly changes: readonly string[];
  readonly result: string;
}

function importAnswer({ models, changes, result }: Import): Answer {
  const lines = changes.length === 0 ? ["no price changes"] : changes;
  return { json: { models, changes, result }, text: [...lines, result].join("\n") };
}
