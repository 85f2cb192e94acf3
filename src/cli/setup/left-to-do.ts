// Lists the steps that `farebox setup` leaves to do, by the settings that are there.

import { resolve } from "node:path";
import { isLoopback } from "../../core/loopback.ts";
import { DEFAULT_PRESET } from "../../services/chat/models/provider-presets.ts";
import type { Environment } from "../../settings/environment.ts";
import type { Stores } from "../stores.ts";
import type { Draft } from "./draft.ts";
import { withoutKey } from "./setup-parts.ts";

/** The state of the stores when the setup began. */
export interface Found {
  readonly stores: Stores | null;
  /** The reason why there are no stores; null if there are. */
  readonly problem: "not running" | "not migrated" | null;
  readonly hasOperator: boolean;
  /** True if a configuration is in force for all processes, which goes before the file. */
  readonly isApplied: boolean;
}

/** The file of variables in the home. */
export const SETTINGS_FILE = "settings.env";

interface Files {
  readonly path: string;
  readonly envFile: string;
  /** The environment of this process, which goes before the file of variables. */
  readonly environment: Environment;
  /** The variables of the file before the setup. */
  readonly ofFile: Readonly<Record<string, string>>;
}

/** The steps in their order, each in one line. */
export function leftToDo(draft: Draft, found: Found, files: Files): string[] {
  return [
    ...starting(draft, found, files),
    ...(found.hasOperator ? [] : ["Make an operator: farebox operator invite ADDRESS"]),
    ...selling(draft, files),
    ...paying(draft),
    ...(draft.variable("MAIL_SMTP_URL") === null
      ? ["Name a mail server, since people sign up by mail: farebox setup mail"]
      : []),
    ...(draft.at("brand", "terms_url") === undefined
      ? ["Add terms, privacy notice and imprint to the section brand (docs/brand.md)"]
      : []),
    "Make a backup, and put it back once (docs/backup.md)",
    "See that all is well: farebox doctor",
  ];
}

function starting(draft: Draft, { problem, isApplied }: Found, files: Files): string[] {
  const isChanged = draft.variables.size > 0;
  const isFileUnused = isApplied && draft.isTextChanged;
  return [
    ...(problem === "not running" ? ["Start it: npm start"] : []),
    ...(problem === "not migrated" ? ["Make the tables: farebox migrate"] : []),
    ...(isChanged ? [giving(files), ...shadowed(draft, files)] : []),
    ...(problem === null && isChanged
      ? ["Start all processes again: they read the new settings only then"]
      : []),
    ...(isFileUnused ? [`Put the file in force: farebox config apply ${files.path}`] : []),
  ];
}

/**
 * The step that gives the file's variables to all processes. Only `npm start` and the commands read
 * such a file by themselves, and only the one in `FAREBOX_HOME`.
 */
function giving({ envFile, environment: { FAREBOX_HOME } }: Files): string {
  const isOfHome = FAREBOX_HOME && resolve(envFile) === resolve(FAREBOX_HOME, SETTINGS_FILE);
  const step = `Give all processes the variables of ${envFile} (docs/production.md)`;
  return isOfHome ? `${step}; npm start reads this file by itself` : step;
}

/** The changed variables that the processes would not take from the file. */
function shadowed({ variables }: Draft, { envFile, environment, ofFile }: Files): string[] {
  return [...variables].flatMap(([name, value]) => {
    const file = `${name}_FILE`;
    if (environment[file] || ofFile[file]) {
      return [`Unset ${file}, also in ${envFile}: it goes before the new ${name}, or is refused`];
    }
    const given = environment[name];
    // The commands also get the variables of the home's file, and the address of `npm start`.
    const isOwn = given && given !== value && given !== ofFile[name] && !isLocal(name, given);
    return isOwn ? [`Unset ${name} in the environment: it goes before the file`] : [];
  });
}

function isLocal(name: string, value: string): boolean {
  const url = name === "CONSOLE_URL" ? URL.parse(value) : null;
  return url !== null && isLoopback(url.hostname);
}

function selling(draft: Draft, { path }: Files): string[] {
  const { models, providers } = draft.catalogue();
  const [provider] = [...providers.keys()].filter((name) => draft.at("providers", name));
  if (provider === undefined) return ["Name a provider of models: farebox setup providers"];
  const sold = [...models.values()].filter(({ routes }) =>
    routes.some((route) => draft.at("providers", route.provider) !== undefined),
  );
  if (sold.length > 0) return [];
  if (provider === DEFAULT_PRESET) {
    return [`Write the models to sell, and their prices, into ${path} (docs/configuration.md)`];
  }
  return [`Sell a model: farebox prices import ${path} --add ${provider}/NAME`];
}

function paying(draft: Draft): string[] {
  const url = draft.variable("CONSOLE_URL");
  if (draft.variable("STRIPE_SECRET_KEY") === null) {
    return [`Take money: farebox setup payments; without a key ${withoutKey(draft)}`];
  }
  const webhook = `${url?.replace(/\/$/, "") ?? "YOUR ADDRESS"}/webhooks/stripe`;
  const invoices = "For invoices with address and tax id set STRIPE_INVOICES=true";
  return [
    `In Stripe, have events sent to ${webhook} (docs/payments.md)`,
    // If the variable is set, the operator has decided about invoices, also by the value `false`.
    ...(draft.variable("STRIPE_INVOICES") === null ? [`${invoices} (docs/payments.md)`] : []),
  ];
}
