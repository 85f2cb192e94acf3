// `farebox import` imports accounts, balances, keys and models of another product, or customers
// from a CSV file, as docs/migrating.md describes.

import { isUtf8 } from "node:buffer";
import { mkdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { CUSTOMER_COLUMN_NAMES, planCustomers } from "../annexes/imports/customers-plan.ts";
import { planLiteLlm } from "../annexes/imports/litellm-plan.ts";
import { unsealWith } from "../annexes/imports/litellm-secrets.ts";
import { planOneApi } from "../annexes/imports/one-api-plan.ts";
import {
  CONTEXT_LENGTHS,
  type ImportPlan,
  type PlanTerms,
  type ProductPlan,
} from "../annexes/imports/plan.ts";
import { type ImportCounts, previewImport, runImport } from "../annexes/imports/run-import.ts";
import type { Scope } from "../core/access/services.ts";
import { AdministrationError } from "../core/errors.ts";
import { dollars, type NanoUsd, toJsonNumber } from "../core/money/money.ts";
import { counted } from "../core/text/counted.ts";
import { textOfBytes } from "../core/text/text-bytes.ts";
import {
  ForeignDatabaseError,
  type ForeignTables,
  readForeignDatabase,
} from "../store/imports/foreign-database.ts";
import { alone, ImportedMeanwhile, importedKeys } from "../store/imports/imports.ts";
import { readLiteLlm } from "../store/imports/litellm-source.ts";
import { readOneApi } from "../store/imports/one-api-source.ts";
import { openKeyFile, replace } from "./accounts/key-file.ts";
import { type Answer, type Command, type Input, type OptionSpec, UsageError } from "./command.ts";
import { bytesOfFile, foreign } from "./foreign.ts";
import type { Stores } from "./stores.ts";
import { nameOf, scopesOf } from "./values.ts";

const FOLDER = "farebox-import";
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o644;
const CONTEXT_LENGTH = "128000";

const COMMON = {
  out: { value: "FOLDER", help: `where keys, models and notes are written (${FOLDER})` },
  name: { value: "N", help: "the name of this import; each source needs its own" },
  scopes: { value: "a,b", help: "the scopes of the new keys (models)" },
  "dry-run": { value: null, help: "only say what would be done; nothing is written" },
} satisfies Record<string, OptionSpec>;

const OPTIONS = {
  from: {
    value: "URL",
    help: "its database: postgres://…, mysql://…, or the path of a SQLite file",
    required: true,
  },
  ...COMMON,
  "context-length": {
    value: "TOKENS",
    help: `for models of which it is not known (${CONTEXT_LENGTH})`,
  },
} satisfies Record<string, OptionSpec>;

/** The options of every import. */
interface Terms {
  readonly folder: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly isDryRun: boolean;
}

/** The options of an import from the database of another product. */
interface DatabaseTerms extends Terms {
  readonly from: string;
  readonly plan: PlanTerms;
}

type ReadPlan = (tables: ForeignTables, terms: PlanTerms) => Promise<ImportPlan>;

const liteLlm: Command = {
  name: "import litellm",
  positionals: [],
  summary: "Import accounts, balances, keys and models of a LiteLLM proxy; theirs stay as they are",
  options: {
    ...OPTIONS,
    "salt-key-file": {
      value: "FILE",
      help: "a file with its LITELLM_SALT_KEY, or else master key: its models are sealed",
    },
    "end-users": {
      value: "ORIGIN",
      help: "the account that gets budgets of end users, as team:ID or user:ID (the only one)",
    },
  },
  prepare(input) {
    const terms = databaseTermsOf(input, "litellm");
    const saltFile = input.values.get("salt-key-file") ?? null;
    const endUsersOf = input.values.get("end-users") ?? null;
    return async (stores) => {
      const salt = saltFile === null ? null : textOfBytes(await readFile(saltFile)).trim();
      const unseal = salt === null ? null : unsealWith(salt);
      const plan = await readDatabase(terms, async (tables, plan) =>
        planLiteLlm(await readLiteLlm(tables), { ...plan, unseal, endUsersOf }),
      );
      if (endUsersOf !== null && !plan.accounts.some(({ origin }) => origin === endUsersOf)) {
        const message = `--end-users must name a team or user that is imported, as team:ID`;
        throw new UsageError(`${message}, but is '${endUsersOf}'`);
      }
      return await importAll(stores, terms, plan);
    };
  },
};

const oneApi: Command = {
  name: "import one-api",
  positionals: [],
  summary: "Import accounts, balances, keys and models of a one-api or new-api; theirs stay as is",
  options: OPTIONS,
  prepare(input) {
    const terms = databaseTermsOf(input, "one-api");
    return async (stores) => {
      const plan = await readDatabase(terms, async (tables, plan) =>
        planOneApi(await readOneApi(tables), plan),
      );
      return await importAll(stores, terms, plan);
    };
  },
};

const customers: Command = {
  name: "import csv",
  positionals: ["FILE"],
  summary: `Import customers from a CSV file: its columns are ${CUSTOMER_COLUMN_NAMES.join(", ")}`,
  options: COMMON,
  prepare(input) {
    const [path = ""] = input.positionals;
    const terms = termsOf(input, "csv");
    return async (stores) => {
      const text = await csvTextOf(path);
      const plan = foreign(() => planCustomers(text, basename(path)));
      return await importAll(stores, terms, plan);
    };
  },
};

export const importCommands: readonly Command[] = [liteLlm, oneApi, customers];

async function csvTextOf(path: string): Promise<string> {
  const bytes = await bytesOfFile(path, "FILE");
  if (!isUtf8(bytes)) throw new UsageError(`${path} is not UTF-8: save it as CSV in UTF-8`);
  return textOfBytes(bytes);
}

function termsOf(input: Input, fallbackName: string): Terms {
  const { values } = input;
  return {
    folder: values.get("out") ?? FOLDER,
    name: nameOf(input, "name", fallbackName),
    scopes: values.has("scopes") ? scopesOf(input, "scopes") : ["models"],
    isDryRun: values.has("dry-run"),
  };
}

function databaseTermsOf(input: Input, product: string): DatabaseTerms {
  const { values, nowMs } = input;
  const length = values.get("context-length") ?? CONTEXT_LENGTH;
  const { from, to } = CONTEXT_LENGTHS;
  if (!/^\d{3,9}$/.test(length) || Number(length) < from || Number(length) > to) {
    throw new UsageError(
      `--context-length must be a whole number from ${from} to ${to}, but is '${length}'`,
    );
  }
  return {
    ...termsOf(input, product),
    from: values.get("from") ?? "",
    plan: { nowMs, contextLength: Number(length) },
  };
}

async function readDatabase(terms: DatabaseTerms, readPlan: ReadPlan): Promise<ImportPlan> {
  return await explained(readForeignDatabase(terms.from, (tables) => readPlan(tables, terms.plan)));
}

async function importAll(stores: Stores, terms: Terms, read: ImportPlan): Promise<Answer> {
  const plan = { ...read, notes: read.notes.map(inOneLine) };
  if (terms.isDryRun) {
    const counts = await previewImport(
      { administration: stores.administration, source: terms.name },
      plan,
    );
    return answer({ plan, counts, notes: plan.notes, terms });
  }
  const { folder } = terms;
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  const { catalogue } = plan;
  if (catalogue !== null) {
    await replace(join(folder, "models.json"), modelsText({ ...plan, catalogue }), FILE_MODE);
  }
  const { counts, notes } = await explained(
    alone(stores.database, () => runInto(stores, terms, plan)),
  );
  return answer({ plan, counts, notes, terms });
}

async function runInto({ administration, database }: Stores, terms: Terms, plan: ImportPlan) {
  const { folder, name: source, scopes } = terms;
  await using file = await openKeyFile(join(folder, "keys.csv"), await importedKeys(database));
  const notes = [...plan.notes];
  await using written = new AsyncDisposableStack();
  // The notes are written after a failure too, because they list the faults of the accounts that
  // were made.
  written.defer(() =>
    replace(join(folder, "notes.txt"), notes.map((note) => `${note}\n`).join("")),
  );
  const counts = await runImport(
    {
      administration,
      source,
      scopes,
      note: (sentence) => notes.push(inOneLine(sentence)),
      keep: async ({ name, email }, { name: oldName, lastFour }, { id, secret, accountId }) =>
        await file.append({
          keyId: id,
          newKey: secret,
          account: accountId,
          holder: name,
          email,
          oldName,
          oldEnd: lastFour,
        }),
    },
    plan,
  );
  return { counts, notes };
}

/**
 * Notes contain names that customers of the other product chose; their line ends must not begin a
 * line of the output.
 */
function inOneLine(note: string): string {
  return note.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}

/**
 * The models in the form of the configuration file, below comments that list their missing fields.
 */
function modelsText({ product, catalogue, notes }: ProductPlan): string {
  const about = notes.filter((note) => /^(model|provider|channel) /.test(note));
  const head = [`Models of ${product}. Look through them before you use this file.`, ...about];
  const comments = head.map((line) => `// ${line}\n`).join("");
  return `${comments}${JSON.stringify(catalogue, null, 2)}\n`;
}

interface Outcome {
  readonly plan: ImportPlan;
  readonly counts: Readonly<ImportCounts>;
  readonly notes: readonly string[];
  readonly terms: Terms;
}

function answer({ plan, counts, notes, terms }: Outcome): Answer {
  const { accountsCreated, accountsKnown, keysIssued, keysKnown, endUserBudgets, credited } =
    counts;
  const { catalogue } = plan;
  const models = catalogue?.models.length ?? 0;
  const providers = Object.keys(catalogue?.providers ?? {}).length;
  const { isDryRun, folder } = terms;
  const did = isDryRun ? "Would create" : "Created";
  const written = `${catalogue === null ? "" : "models.json, "}notes.txt`;
  const files = isDryRun
    ? "Nothing was written."
    : `Written: ${join(folder, "keys.csv")} (secret), ${written}.`;
  const ofEndUsers =
    endUserBudgets === 0 ? "" : `, ${counted(endUserBudgets, "budget")} of end users`;
  const ofModels =
    catalogue === null ? "" : `, ${counted(models, "model")} of ${counted(providers, "provider")}`;
  return {
    json: {
      dry_run: isDryRun,
      product: plan.product,
      name: terms.name,
      accounts_created: accountsCreated,
      accounts_known: accountsKnown,
      keys_issued: keysIssued,
      keys_known: keysKnown,
      end_user_budgets: endUserBudgets,
      credited_usd: toJsonNumber(credited as NanoUsd),
      providers,
      models,
      notes,
    },
    text: [
      `${did} ${counted(accountsCreated, "account")} (${accountsKnown} were here), credited ` +
        `${dollars(credited)}, issued ${counted(keysIssued, "key")} (${keysKnown} were)` +
        `${ofEndUsers}${ofModels}. ${files}`,
      ...notes.map((note) => `- ${note}`),
    ].join("\n"),
  };
}

/** Awaits the result. An error of the other database, or of another import, becomes a message. */
async function explained<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ForeignDatabaseError || error instanceof ImportedMeanwhile) {
      throw new AdministrationError("wrong_state", error.message);
    }
    throw error;
  }
}
