// The pages of an account, in the order of the navigation.

import type { t } from "../texts.ts";

export const PAGE_PATHS = {
  overview: "/$account/overview",
  usage: "/$account/usage",
  requests: "/$account/requests",
  keys: "/$account/keys",
  models: "/$account/models",
  playground: "/$account/playground",
  billing: "/$account/billing",
  limits: "/$account/limits",
  team: "/$account/team",
  settings: "/$account/settings",
} as const;

export type PageName = keyof typeof PAGE_PATHS;

export const DOCS_URL = "/docs";

export const NAVIGATION: readonly {
  readonly group: keyof typeof t.nav.groups;
  readonly pages: readonly (PageName | "docs")[];
}[] = [
  { group: "top", pages: ["overview", "usage", "requests"] },
  { group: "build", pages: ["keys", "models", "playground", "docs"] },
  { group: "account", pages: ["billing", "limits", "team", "settings"] },
];

/** The letter that opens a page after `g`. */
export const PAGE_LETTERS: Readonly<Record<string, PageName>> = {
  o: "overview",
  u: "usage",
  r: "requests",
  k: "keys",
  m: "models",
  p: "playground",
  b: "billing",
  l: "limits",
  t: "team",
  s: "settings",
};
