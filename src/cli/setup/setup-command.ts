// `farebox setup`: asks for the settings of an installation, checks each key with one call, writes
// the configuration and the secrets, makes the first operator, and lists the steps that are left.
// Nothing is written before every answer is right.

import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { thrownMessage } from "../../core/text/error-message.ts";
import { isObject } from "../../core/text/json.ts";
import { parseSignInAddress } from "../../core/text/mail-address.ts";
import { textOfBytes } from "../../core/text/text-bytes.ts";
import { ABSENT, readConfiguration, stampOf } from "../../settings/catalogue-source.ts";
import { loadCatalogueFile, loadConsoleOrigin } from "../../settings/config.ts";
import type { Environment } from "../../settings/environment.ts";
import { Configurations } from "../../store/operators/configurations.ts";
import { hasOperator } from "../../store/people/known-people.ts";
import { compareMigrations } from "../../store/servers/migrate.ts";
import { storeAway } from "../../store/servers/store-away.ts";
import { platformFetch } from "../../upstream/open-fetch.ts";
import { type NewFile, replaceAll } from "../accounts/key-file.ts";
import { inviteOperator } from "../accounts/people-commands.ts";
import {
  type Answer,
  type CommandWithoutStores,
  type Surroundings,
  UsageError,
} from "../command.ts";
import type { Stores } from "../stores.ts";
import { nameAmong } from "../values.ts";
import { type Asker, ScriptAsker, TerminalAsker } from "./asker.ts";
import { Draft } from "./draft.ts";
import { readEnvFile, variablesIn, withVariables } from "./env-file.ts";
import { type Found, leftToDo, SETTINGS_FILE } from "./left-to-do.ts";
import { askProviders } from "./provider-part.ts";
import { askAddress, askBrand, askMail, askPayments } from "./setup-parts.ts";
import { checkWritable } from "./writable.ts";

const PARTS = ["brand", "address", "providers", "payments", "mail", "operator"] as const;
type Part = (typeof PARTS)[number];

/** The parts that change the variables, and those that change the configuration. */
const OF_VARIABLES: readonly Part[] = ["address", "providers", "payments", "mail"];
const OF_CONFIGURATION: readonly Part[] = ["brand", "providers"];

const PRIVATE_MODE = 0o600;
const PRIVATE_FOLDER_MODE = 0o700;
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
  const changes = (parts: readonly Part[]) => terms.parts.some((part) => parts.includes(part));
  if (changes(OF_VARIABLES)) await checkWritable(terms.envFile);
  if (changes(OF_CONFIGURATION)) await checkWritable(path);
  const envText = await readEnvFile(terms.envFile);
  const ofFile = variablesIn(envText);
  const environment = { ...ofFile, ...set(around.environment) };
  const before = (await stampOf(path)) === ABSENT ? null : await readConfiguration(path);
  const draft = new Draft(path, before, environment);
  const found = await lookForStores(around);
  try {
    const email = await askAll({ around, terms, draft, found });
    draft.catalogue();
    const written = await write(draft, { path, envText, envFile: terms.envFile });
    const { stores } = found;
    const isMade = email !== null && stores !== null;
    const invited = isMade ? await invite({ stores, email, draft, nowMs: terms.nowMs }) : null;
    const hasOperatorNow = found.hasOperator || isMade;
    const files = { path, envFile: terms.envFile, environment: around.environment, ofFile };
    const todo = leftToDo(draft, { ...found, hasOperator: hasOperatorNow }, files);
    return answerOf({ draft, written, invited, todo });
  } finally {
    await found.stores?.close();
  }
}

interface Invited {
  readonly stores: Stores;
  readonly email: string;
  readonly draft: Draft;
  readonly nowMs: number;
}

/** Makes the operator, with a link to the address that this setup may have set just now. */
async function invite({ stores, email, draft, nowMs }: Invited): Promise<Answer> {
  const consoleOrigin = loadConsoleOrigin(draft.environment);
  return await inviteOperator({ ...stores, consoleOrigin }, email, nowMs);
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
  return terms.parts.includes("operator") ? await askOperator(asker, draft, found) : null;
}

async function askOperator(
  asker: Asker,
  draft: Draft,
  { problem, hasOperator }: Found,
): Promise<string | null> {
  if (problem === null) asker.say("Operator");
  return await asker.ask({
    id: "operator_email",
    text: hasOperator ? "Address of one more operator" : "Your address, as the first operator",
    current: null,
    unavailable:
      problem === null ? null : `needs Redis and Postgres, which are ${problem} (npm start)`,
    check: (text) => {
      const parsed = parseSignInAddress(text);
      if (typeof parsed === "string") throw new RangeError(`'${text}' ${parsed}`);
      const hasOrigin = draft.variable("CONSOLE_URL") !== null;
      if (!hasOrigin) throw new RangeError("needs CONSOLE_URL for the link");
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
    const reason = thrownMessage(error);
    throw new UsageError(`--answers ${path} cannot be read: ${reason}`);
  }
}

interface Files {
  readonly path: string;
  readonly envText: string;
  readonly envFile: string;
}

/** Writes the changed files, and returns their names. */
async function write(draft: Draft, { path, envText, envFile }: Files): Promise<string[]> {
  const files: NewFile[] = [];
  if (draft.variables.size > 0) {
    // Before the first start there is no home.
    await mkdir(dirname(envFile), { recursive: true, mode: PRIVATE_FOLDER_MODE });
    const text = withVariables(envText, draft.variables);
    files.push({ path: envFile, text, mode: PRIVATE_MODE });
  }
  if (draft.isTextChanged) {
    await mkdir(dirname(path), { recursive: true });
    const mode =
      draft.before === null ? CONFIGURATION_MODE : (await stat(path)).mode & PERMISSION_BITS;
    files.push({ path, text: draft.text, mode });
  }
  await replaceAll(files);
  return files.map((file) => resolve(file.path));
}

interface Outcome {
  readonly draft: Draft;
  readonly written: readonly string[];
  readonly invited: Answer | null;
  readonly todo: readonly string[];
}

function answerOf({ draft, written, invited, todo }: Outcome): Answer {
  const { findings, problems, variables } = draft;
  const files = written.length === 0 ? "Nothing was changed." : `Written: ${written.join(", ")}.`;
  const sections = [
    listOf(findings),
    files,
    invited?.text ?? "",
    `Left to do ("farebox" is "npm run -s farebox --" in the project):\n${listOf(todo)}`,
    problems.length === 0 ? "" : `Does not work, and stays as it was:\n${listOf(problems)}`,
  ];
  return {
    json: {
      written,
      variables: [...variables.keys()],
      findings,
      problems,
      operator: invited?.json ?? null,
      left_to_do: todo,
    },
    text: sections.filter((section) => section !== "").join("\n\n"),
    ...(problems.length > 0 && { failed: true }),
  };
}

function listOf(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}
