// Makes every file, or part of a file, that is generated from the code. `npm run docs` writes them;
// a test compares them with the stored ones.

import { join } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { PRODUCT } from "../../src/core/brand/brand.ts";
import { CONSOLE_ERRORS } from "../../src/core/console-errors.ts";
import { ERRORS, type ErrorCode } from "../../src/core/errors.ts";
import { METRICS } from "../../src/core/metrics.ts";
import { consoleOpenApi } from "../../src/http/docs/console-openapi.ts";
import { documentOf } from "../../src/http/docs/documentation.ts";
import { fieldGroups } from "../../src/http/docs/schema-fields.ts";
import type { DocumentedEndpoint } from "../../src/http/endpoint-errors.ts";
import { OPERATOR_HEAD } from "../../src/operator/operator-endpoints.ts";
import { CONSOLE, DOCUMENTED, OPERATOR, PROGRAM } from "../../src/routes.ts";
import { MailBody } from "../../src/services/mail/mail-contract.ts";
import { SearchBody } from "../../src/services/search/search-schema.ts";
import { catalogueJsonSchema } from "../../src/settings/catalogue-document.ts";
import { CONSOLE_VARIABLES } from "../../src/settings/console-variables.ts";
import { PAYMENT_VARIABLES } from "../../src/settings/payment-variables.ts";
import { SSO_VARIABLES } from "../../src/settings/sso-variables.ts";
import { TRACE_VARIABLES } from "../../src/settings/trace-variables.ts";
import {
  LAUNCHER_VARIABLES,
  MAIL_VARIABLES,
  SERVER_VARIABLES,
  STORE_VARIABLES,
} from "../../src/settings/variables.ts";
import { accountStateTable } from "./account-state-table.ts";
import { environmentExample, settingsTable } from "./environment-docs.ts";
import {
  chatLimitTable,
  limitBoundTable,
  mailLimitTable,
  planTable,
  tierTable,
  topUpCapTable,
} from "./limit-tables.ts";
import { logTable } from "./log-table.ts";
import { mapsActions } from "./maps-page.ts";
import { table, withPart } from "./markdown.ts";
import { memoryTable } from "./memory-table.ts";
import { webhookEventTable } from "./webhook-event-table.ts";

export const PROJECT = join(import.meta.dir, "../..");

/** Generated parts of pages that are written by hand. */
const PARTS: readonly (readonly [page: string, name: string, text: () => string])[] = [
  ["docs/endpoints.md", "endpoints", endpointTable],
  ["docs/endpoints.md", "bounds of the output limit", limitBoundTable],
  [
    "docs/configuration.md",
    "settings",
    () => settingsTable({ ...STORE_VARIABLES, ...SERVER_VARIABLES }),
  ],
  ["docs/configuration.md", "settings of mail", () => settingsTable(MAIL_VARIABLES)],
  ["docs/configuration.md", "settings of payments", () => settingsTable(PAYMENT_VARIABLES)],
  ["docs/configuration.md", "settings of npm start", () => settingsTable(LAUNCHER_VARIABLES)],
  ["docs/configuration.md", "limits of chat", chatLimitTable],
  ["docs/application.md", "plans", planTable],
  ["docs/errors.md", "errors", errorTable],
  ["docs/maps.md", "actions", mapsActions],
  ["docs/metrics.md", "metrics", metricsTable],
  ["docs/metrics.md", "log", logTable],
  ["docs/metrics.md", "settings of traces", () => settingsTable(TRACE_VARIABLES)],
  ["docs/operating.md", "memory", memoryTable],
  ["docs/payments.md", "account states", accountStateTable],
  ["docs/payments.md", "caps of top-ups", topUpCapTable],
  ["docs/spending.md", "tiers", tierTable],
  ["docs/spending.md", "limits of mail", mailLimitTable],
  ["docs/people.md", "settings of the console", () => settingsTable(CONSOLE_VARIABLES)],
  ["docs/people.md", "console errors", consoleErrorTable],
  ["docs/operators.md", "settings of single sign-on", () => settingsTable(SSO_VARIABLES)],
  ["docs/operators.md", "operator endpoints", operatorTable],
  ["docs/people.md", "console endpoints", consoleTable],
  ["docs/search.md", "fields", () => fieldTable(SearchBody)],
  ["docs/mail.md", "fields", () => fieldTable(MailBody)],
  ["docs/webhooks.md", "events", webhookEventTable],
];

/** The text of every generated file, by its path in the project. */
export async function generatedDocs(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>([
    ["docs/openapi.json", toJson(documentOf("gateway", DOCUMENTED))],
    ["docs/openapi-application.json", toJson(documentOf("application", DOCUMENTED))],
    ["docs/openapi-console.json", toJson(consoleOpenApi(CONSOLE, { name: PRODUCT }))],
    [
      "docs/openapi-operator.json",
      toJson(consoleOpenApi(OPERATOR, { name: PRODUCT, head: OPERATOR_HEAD })),
    ],
    ["docs/farebox.config.schema.json", toJson(catalogueJsonSchema())],
    [".env.example", environmentExample()],
  ]);
  for (const [page, name, text] of PARTS) {
    const stored = files.get(page) ?? (await Bun.file(join(PROJECT, page)).text());
    files.set(page, withPart(stored, name, text()));
  }
  return files;
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function endpointTable(): string {
  const pages = PROGRAM.filter(({ path }) => !/^\/(docs|dashboard|operator)\//.test(path));
  const all = [...DOCUMENTED.gateway, ...DOCUMENTED.application, ...pages];
  return table(["endpoint", "what"], all.map(endpointRow));
}

function endpointRow({ method, path, summary, access, surface }: DocumentedEndpoint): string[] {
  const note = access === "anybody" && surface !== null ? "; no key needed" : "";
  return [`\`${method} ${path}\``, summary.charAt(0).toLowerCase() + summary.slice(1) + note];
}

function errorTable(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const rows = codes.map((code) => [
    String(ERRORS[code].status),
    `\`${ERRORS[code].type}\``,
    `\`${code}\``,
    ERRORS[code].when,
  ]);
  return table(["status", "type", "code", "when"], rows);
}

function metricsTable(): string {
  const rows = Object.entries(METRICS).map(([name, { type, of, labels, help }]) => [
    `\`${name}\``,
    type,
    of === "both" ? "API, worker" : of === "api" ? "API" : "worker",
    labels.map((label) => `\`${label}\``).join(", "),
    help,
  ]);
  return table(["metric", "type", "in", "labels", "what"], rows);
}

function consoleErrorTable(): string {
  const rows = Object.entries(CONSOLE_ERRORS).map(([code, { status, when }]) => [
    String(status),
    `\`${code}\``,
    when,
  ]);
  return table(["status", "code", "when"], rows);
}

function operatorTable(): string {
  const rows = OPERATOR.map(({ method, path, summary }) => [
    `\`${method} ${path}\``,
    summary.charAt(0).toLowerCase() + summary.slice(1),
  ]);
  return table(["endpoint", "what"], rows);
}

function consoleTable(): string {
  const rows = CONSOLE.map(({ method, path, summary, access, role }) => [
    `\`${method} ${path}\``,
    role ?? (access === "session" ? "signed in" : "anybody"),
    summary.charAt(0).toLowerCase() + summary.slice(1),
  ]);
  return table(["endpoint", "who", "what"], rows);
}

/** The fields that a caller can set. */
function fieldTable(schema: TSchema): string {
  const rows = fieldGroups(schema).flatMap((group) => group.rows);
  const settable = rows.filter(({ type }) => type !== "null" && type !== "refused");
  return table(
    ["field", "type", "what"],
    settable.map(({ path, type, required, about }) => [
      `\`${path}\``,
      type.replace(/ or null$/, "") + (required ? ", required" : ""),
      about,
    ]),
  );
}
