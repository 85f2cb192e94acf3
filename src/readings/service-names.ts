// Translates names of services between the console and the log, which stores the scope that a key
// needs: `models` for chat.

import { SERVICE_NAMES, SERVICES } from "../core/access/services.ts";

const TITLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, SERVICES[name].title])),
  account: "Account",
  unknown: "Unknown",
};

/** The name of a service in the log. */
export function scopeOfService(name: string): string {
  return SERVICE_NAMES.find((one) => one === name) === undefined
    ? name
    : SERVICES[name as keyof typeof SERVICES].scope;
}

/** The title of a service, for people. */
export function serviceTitle(name: string): string {
  return TITLES[name] ?? name;
}
