// `farebox setup`: asks what an installation needs, checks each key with one call, writes the
// configuration and the secrets, makes the first operator, and says what is left to do. Nothing is
// written before every answer is right.

import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseSignInAddress } from "../../core/text/mail-address.ts";
import { textOfBytes } from "../../core/text/text-bytes.ts";
import { ABSENT, readConfiguration, stampOf } from "../../settings/catalogue-source.ts";
import { loadCatalogueFile } from "../../settings/config.ts";
import type { Environment } from "../../settings/environment.ts";
import { Configurations } from "../../store/operators/configurations.ts";
import { hasOperator } from "../../store/people/known-people.ts";
import { compareMigrations } from "../../store/servers/migrate.ts";
import { storeAway } from "../../store/servers/store-away.ts";
import { platformFetch } from "../../upstream/open-fetch.ts";
import { isObject } from "../../upstream/upstream-http.ts";
import { replace } from "../accounts/key-file.ts";
import { inviteOperator } from "../accounts/people-commands.ts";
import {
  type Answer,
  type CommandWithoutStores,
  type Surroundings,
  UsageError,
} from "../command.ts";
import { nameAmong } from "../values.ts";
import { type Asker, ScriptAsker, TerminalAsker } from "./asker.ts";
import { Draft } from "./draft.ts";
import { readEnvFile, variablesIn, withVariables } from "./env-file.ts";
import { type Found, leftToDo } from "./left-to-do.ts";
import { askProviders } from "./provider-part.ts";
import { askAddress, askBrand, askMail, askPayments } from "./setup-parts.ts";

const PARTS = ["brand", "address", "providers", "payments", "mail", "operator"] as const;
type Part = (typeof PARTS)[number];

const SETTINGS_FILE = "settings.env";
const CONFIGURATION_MODE = 0o644;
const PERMISSION_BITS = 0o777;

export const setupCommand: CommandWithoutStores = {
  name: "setup",
  positionals: [`[${PARTS.join("|")}]`],
  summary: "Ask what an installation needs, check keys, write settings, and make an operator",
  options: {
    answers: { value: "FILE", help: "take the answers from a JSON file, and ask nothing" },
    "env-file": {
      value: "FILE",
      help: `where secrets go: a file for the shell or systemd (${SETTINGS_FILE} of FAREBOX_HOME)`,
    },
  },
  prepareAlone({ positionals, values, nowMs }) {
    const [word] = positionals;
    const part = nameAmong(PARTS, word);
    if (word !== undefined && part === undefined) {
      throw new UsageError(`The part must be one of ${PARTS.join(", ")}, but is '${word}'`);
    }
    const parts: readonly Part[] = part === undefined ? PARTS : [part];
    const terms = { parts, answers: values.get("answers") ?? null, nowMs };
    return (around) => setUp(around, { ...terms, envFile: envFileOf(values, around) });
  },
};

interface Terms {
  readonly parts: readonly Part[];
  readonly answers: string | null;
  readonly envFile: string;
  readonly nowMs: number;
}

function envFileOf(values: ReadonlyMap<string, string>, { environment }: Surroundings): string {
  const named = values.get("env-file");
  if (named !== undefined) return named;
  const home = environment.FAREBOX_HOME;
  if (home) return join(home, SETTINGS_FILE);
  throw new UsageError("'setup' needs --env-file FILE where FAREBOX_HOME is not set");
}

async function setUp(around: Surroundings, terms: Terms): Promise<Answer> {
  const { path } = loadCatalogueFile(around.environment);
  const envText = await readEnvFile(terms.envFile);
  const environment = { ...variablesIn(envText), ...set(around.environment) };
  const before = (await stampOf(path)) === ABSENT ? null : await readConfiguration(path);
  const draft = new Draft(path, before, environment);
  const found = await lookForStores(around);
  try {
    const email = await askAll({ around, terms, draft, found });
    draft.catalogue();
    const written = await write(draft, { path, envText, envFile: terms.envFile });
    const { stores } = found;
    const isMade = email !== null && stores !== null;
    const invited = isMade ? await inviteOperator(stores, email, terms.nowMs) : null;
    const hasOperatorNow = found.hasOperator || isMade;
    const todo = leftToDo(draft, { ...found, hasOperator: hasOperatorNow }, { ...terms, path });
    return answerOf({ draft, written, invited, todo });
  } finally {
    await found.stores?.close();
  }
}

/** The variables that are set; an empty one counts as not set. */
function set(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => Boolean(value)));
}

/** Opens the stores if they are there and have the schema of this release. */
async function lookForStores(around: Surroundings): Promise<Found> {
  const none = { stores: null, hasOperator: false, isApplied: false };
  const { REDIS_URL, REDIS_URL_FILE, DATABASE_URL, DATABASE_URL_FILE } = around.environment;
  if (!(REDIS_URL || REDIS_URL_FILE) || !(DATABASE_URL || DATABASE_URL_FILE)) {
    return { ...none, problem: "not running" };
  }
  const stores = around.openStores();
  try {
    const { database } = stores;
    if ((await compareMigrations(database)).missing > 0) {
      await stores.close();
      return { ...none, problem: "not migrated" };
    }
    await stores.compareSecrets();
    const isApplied = (await new Configurations(database).inForce(0)) !== null;
    return { stores, problem: null, hasOperator: await hasOperator(database), isApplied };
  } catch (error) {
    await stores.close();
    if (storeAway(error) === null) throw error;
    return { ...none, problem: "not running" };
  }
}

interface Round {
  readonly around: Surroundings;
  readonly terms: Terms;
  readonly draft: Draft;
  readonly found: Found;
}

/** Asks the questions of the parts; returns the address of the new operator, if there is one. */
async function askAll(round: Round): Promise<string | null> {
  const { around, terms } = round;
  if (terms.answers === null && process.stdin.isTTY && process.stderr.isTTY) {
    using asker = new TerminalAsker({ input: process.stdin, output: process.stderr });
    asker.say("Enter keeps what stands in brackets; Ctrl-C ends without any change.");
    return await askParts(asker, round);
  }
  const answers = terms.answers === null ? {} : await answersIn(terms.answers, around.say);
  const asker = new ScriptAsker({ answers, environment: around.environment, say: () => {} });
  const email = await askParts(asker, round);
  asker.checkUsed();
  return email;
}

async function askParts(asker: Asker, { around, terms, draft, found }: Round) {
  const { now } = around;
  const ask: Record<Exclude<Part, "operator">, () => Promise<void>> = {
    brand: () => askBrand(asker, draft),
    address: () => askAddress(asker, draft),
    providers: () => askProviders(asker, draft, { fetch: platformFetch, now }),
    payments: () => askPayments(asker, draft, now),
    mail: () => askMail(asker, draft),
  };
  for (const part of terms.parts) {
    if (part !== "operator") await ask[part]();
  }
  return terms.parts.includes("operator") ? await askOperator(asker, found) : null;
}

async function askOperator(asker: Asker, { stores, hasOperator }: Found): Promise<string | null> {
  if (stores === null) return null;
  asker.say("Operator");
  return await asker.ask({
    id: "operator_email",
    text: hasOperator ? "Address of one more operator" : "Your address, as the first operator",
    current: null,
    check: (text) => {
      const parsed = parseSignInAddress(text);
      if (typeof parsed === "string") throw new RangeError(`'${text}' ${parsed}`);
      if (stores.consoleOrigin === null) throw new RangeError("needs CONSOLE_URL for the link");
      return parsed.address;
    },
  });
}

/** The answers of a file: one JSON object of texts. @throws UsageError */
async function answersIn(
  path: string,
  say: Surroundings["say"],
): Promise<Readonly<Record<string, string>>> {
  try {
    const value: unknown = JSON.parse(textOfBytes(await readFile(path)));
    if (!isObject(value)) throw new RangeError("it must be one JSON object");
    const wrong = Object.keys(value).find((id) => typeof value[id] !== "string");
    if (wrong !== undefined) throw new RangeError(`'${wrong}' must be a text`);
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) say(`${path} can be read by others: chmod 600 keeps its secrets.`);
    return value as Record<string, string>;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--answers ${path} cannot be read: ${reason}`);
  }
}

interface Files {
  readonly path: string;
  readonly envText: string;
  readonly envFile: string;
}

/** Writes what has changed, and returns the files. */
async function write(draft: Draft, { path, envText, envFile }: Files): Promise<string[]> {
  const written: string[] = [];
  if (draft.variables.size > 0) {
    await replace(envFile, withVariables(envText, draft.variables));
    written.push(resolve(envFile));
  }
  if (draft.isTextChanged) {
    const mode =
      draft.before === null ? CONFIGURATION_MODE : (await stat(path)).mode & PERMISSION_BITS;
    await replace(path, draft.text, mode);
    written.push(resolve(path));
  }
  return written;
}

interface Outcome {
  readonly draft: Draft;
  readonly written: readonly string[];
  readonly invited: Answer | null;
  readonly todo: readonly string[];
}

function answerOf({ draft, written, invited, todo }: Outcome): Answer {
  const { findings, variables } = draft;
  const files = written.length === 0 ? "Nothing was changed." : `Written: ${written.join(", ")}.`;
  const sections = [
    findings.map((line) => `- ${line}`).join("\n"),
    files,
    invited?.text ?? "",
    `Left to do:\n${todo.map((line) => `- ${line}`).join("\n")}`,
  ];
  return {
    json: {
      written,
      variables: [...variables.keys()],
      findings,
      operator: invited?.json ?? null,
      left_to_do: todo,
    },
    text: sections.filter((section) => section !== "").join("\n\n"),
  };
}
