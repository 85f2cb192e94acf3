// The names that each language must have, because several of its texts use them.

import type { Role } from "../../../src/core/access/roles.ts";
import type { Scope, ServiceName } from "../../../src/core/access/services.ts";
import type { OTHER_PARTS } from "../../../src/core/money/price-fields.ts";

export type RoleNames = Readonly<Record<Role, string>>;
export type ScopeNames = Readonly<Record<Scope, string>>;

/** The titles of the services, and of calls without a service. */
export type ServiceTitles = Readonly<Record<ServiceName | "account", string>>;

/** The names of receipt lines, as the server writes them. Fees have the names of tools. */
export type LineNames = Readonly<
  Record<
    | "input tokens"
    | "cached input tokens"
    | "output tokens"
    | (typeof OTHER_PARTS)[keyof typeof OTHER_PARTS]["words"]
    | "request"
    | "results"
    | "action"
    | "message"
    | "recipients",
    string
  >
>;

/** The line of a receipt in a language: by its name, or as the fee of a tool. */
export function lineText(names: LineNames, feeOf: (tool: string) => string, what: string): string {
  const known: Readonly<Record<string, string>> = names;
  return known[what] ?? feeOf(what.replace(/ fee$/, ""));
}
