// The names of services in the console. The log has the scope that a key needs: `models` for chat.

import { SERVICE_NAMES, SERVICES } from "../core/access/services.ts";

const TITLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, SERVICES[name].title])),
  account: "Account",
  unknown: "Unknown",
};

/** The service of a scope in the log; other words, such as `account`, stay as they are. */
export function serviceOfScope(scope: string): string {
  return SERVICE_NAMES.find((name) => SERVICES[name].scope === scope) ?? scope;
}

/** What the log calls a service. */
export function scopeOfService(name: string): string {
  return SERVICE_NAMES.find((one) => one === name) === undefined
    ? name
    : SERVICES[name as keyof typeof SERVICES].scope;
}

/** A service for people. */
export function serviceTitle(name: string): string {
  return TITLES[name] ?? name;
}
