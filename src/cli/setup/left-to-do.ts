// Says what is left to do after `farebox setup`, from what is set and what is not.

import type { Stores } from "../stores.ts";
import type { Draft } from "./draft.ts";

/** The stores as the setup found them. */
export interface Found {
  readonly stores: Stores | null;
  /** The reason why there are no stores; null if there are. */
  readonly problem: "not running" | "not migrated" | null;
  readonly hasOperator: boolean;
  /** True if a configuration is in force for all processes, which goes before the file. */
  readonly isApplied: boolean;
}

interface Files {
  readonly path: string;
  readonly envFile: string;
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

function starting(draft: Draft, { problem, isApplied }: Found, { path, envFile }: Files): string[] {
  const isChanged = draft.variables.size > 0;
  const isFileUnused = isApplied && draft.isTextChanged;
  return [
    ...(problem === "not running" ? ["Start it: npm start"] : []),
    ...(problem === "not migrated" ? ["Make the tables: farebox migrate"] : []),
    ...(problem === null && isChanged
      ? ["Start all processes again: they read the new settings only then"]
      : []),
    ...(isChanged && !isOfHome(draft, envFile)
      ? [`Give all processes the variables of ${envFile} (docs/production.md)`]
      : []),
    ...(isFileUnused ? [`Put the file in force: farebox config apply ${path}`] : []),
  ];
}

/** True for the file that `npm start` and `farebox` read by themselves. */
function isOfHome({ environment }: Draft, envFile: string): boolean {
  const home = environment.FAREBOX_HOME ?? "";
  return home !== "" && envFile.startsWith(home);
}

function selling(draft: Draft, { path }: Files): string[] {
  const { models, providers } = draft.catalogue();
  const [provider] = [...providers.keys()].filter((name) => draft.at("providers", name));
  if (provider === undefined) return ["Name a provider of models: farebox setup providers"];
  const sold = [...models.values()].filter(({ routes }) =>
    routes.some((route) => draft.at("providers", route.provider) !== undefined),
  );
  if (sold.length > 0) return [];
  return [`Sell a model: farebox prices import ${path} --add ${provider}/NAME`];
}

function paying(draft: Draft): string[] {
  const url = draft.variable("CONSOLE_URL");
  if (draft.variable("STRIPE_SECRET_KEY") === null) {
    return ["Take money: farebox setup payments; until then only the sandbox does"];
  }
  const webhook = `${url?.replace(/\/$/, "") ?? "YOUR ADDRESS"}/webhooks/stripe`;
  return [`In Stripe, have events sent to ${webhook} (docs/payments.md)`];
}
