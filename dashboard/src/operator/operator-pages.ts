// The pages of operators, in the order of the navigation, and the tabs of an account.

import { namesOf, type PageRow } from "../page-table.ts";
import type { ot } from "../texts/operator.ts";

const pages = <Name extends keyof typeof ot.nav.pages>(
  rows: Readonly<Record<Name, PageRow<keyof typeof ot.nav.groups>>>,
) => rows;

const loadMoney = () => import("./money-pages.tsx");
const loadQueues = () => import("./queue-pages.tsx");

export const OPERATOR_PAGES = pages({
  accounts: { group: "top", load: () => import("./accounts-page.tsx"), component: "AccountsPage" },
  trail: { group: "top", load: () => import("./trail-page.tsx"), component: "TrailPage" },
  refusals: {
    group: "top",
    load: () => import("./refusals-page.tsx"),
    component: "RefusalsPage",
  },
  revenue: { group: "money", load: loadMoney, component: "RevenuePage" },
  disputes: { group: "money", load: loadMoney, component: "DisputesPage" },
  grants: { group: "money", load: loadMoney, component: "GrantsPage" },
  vouchers: {
    group: "money",
    load: () => import("./vouchers-page.tsx"),
    component: "VouchersPage",
  },
  health: { group: "running", load: () => import("./health-page.tsx"), component: "HealthPage" },
  configurations: {
    group: "running",
    load: () => import("./configurations-page.tsx"),
    component: "ConfigurationsPage",
  },
  mails: { group: "running", load: loadQueues, component: "MailsPage" },
  events: { group: "running", load: loadQueues, component: "EventsPage" },
  rejected: { group: "running", load: loadQueues, component: "RejectedPage" },
  audits: { group: "running", load: () => import("./audit-page.tsx"), component: "AuditsPage" },
});

export type OperatorPageName = keyof typeof OPERATOR_PAGES;

export const OPERATOR_PAGE_NAMES = namesOf(OPERATOR_PAGES);

/** The path of a page below /operator. The first page is at the address itself. */
export function operatorPath(name: OperatorPageName): string {
  return name === "accounts" ? "/" : `/${name}`;
}

/**
 * The tabs of an account, by the component of each: `WatchTab` is in account-watch.tsx, the others
 * are in account-tabs.tsx.
 */
export const ACCOUNT_TABS = {
  overview: "OverviewTab",
  billing: "BillingTab",
  keys: "KeysTab",
  requests: "RequestsTab",
  watch: "WatchTab",
  activity: "ActivityTab",
} as const satisfies Record<keyof typeof ot.tabs, string>;

export const ACCOUNT_TAB_NAMES = namesOf(ACCOUNT_TABS);
