// The pages of an account, in the order of the navigation.

import { namesOf, type PageRow } from "../page-table.ts";
import type { t } from "../texts.ts";

const pages = <Name extends keyof typeof t.nav.pages>(
  rows: Readonly<Record<Name, PageRow<keyof typeof t.nav.groups>>>,
) => rows;

export const PAGES = pages({
  overview: {
    group: "top",
    letter: "o",
    load: () => import("../pages/overview.tsx"),
    component: "OverviewPage",
  },
  usage: {
    group: "top",
    letter: "u",
    load: () => import("../pages/usage/usage.tsx"),
    component: "UsagePage",
  },
  requests: {
    group: "top",
    letter: "r",
    load: () => import("../pages/usage/requests.tsx"),
    component: "RequestsPage",
  },
  keys: {
    group: "build",
    letter: "k",
    load: () => import("../pages/keys.tsx"),
    component: "KeysPage",
  },
  models: {
    group: "build",
    letter: "m",
    load: () => import("../pages/models.tsx"),
    component: "ModelsPage",
  },
  playground: {
    group: "build",
    letter: "p",
    load: () => import("../pages/playground/playground.tsx"),
    component: "PlaygroundPage",
  },
  webhooks: {
    group: "build",
    letter: "w",
    load: () => import("../pages/webhooks/webhooks.tsx"),
    component: "WebhooksPage",
  },
  billing: {
    group: "account",
    letter: "b",
    load: () => import("../pages/money/billing.tsx"),
    component: "BillingPage",
  },
  statement: {
    group: "account",
    letter: "e",
    load: () => import("../pages/money/statement.tsx"),
    component: "StatementPage",
  },
  plan: {
    group: "account",
    letter: "a",
    load: () => import("../pages/money/plan.tsx"),
    component: "PlanPage",
  },
  limits: {
    group: "account",
    letter: "l",
    load: () => import("../pages/limits.tsx"),
    component: "LimitsPage",
  },
  team: {
    group: "account",
    letter: "t",
    load: () => import("../pages/settings/team.tsx"),
    component: "TeamPage",
  },
  settings: {
    group: "account",
    letter: "s",
    load: () => import("../pages/settings/settings.tsx"),
    component: "SettingsPage",
  },
});

export type PageName = keyof typeof PAGES;

export const PAGE_NAMES: readonly PageName[] = namesOf(PAGES);

/** True if accounts of this surface have the page: those of the Gateway have no plan. */
export function isPageOf(name: PageName, surface: "gateway" | "application"): boolean {
  return name !== "plan" || surface === "application";
}

/** The address of a page, as links name it. */
export function pathOf<Name extends PageName>(name: Name): `/$account/${Name}` {
  return `/$account/${name}`;
}
