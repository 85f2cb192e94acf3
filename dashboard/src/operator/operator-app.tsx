// The pages of operators, with a router of their own below /operator. Whoever is no operator sees
// that there is no such page; the server decides the same for itself.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  RouterProvider,
} from "@tanstack/react-router";
import { RequestError } from "../api/client.ts";
import { meQuery, queryClient } from "../api/queries.ts";
import { ROUTER_OPTIONS } from "../router-options.ts";
import { Broken } from "../shell/broken.tsx";
import { NoSuchPage } from "./no-such-page.tsx";
import { OperatorShell } from "./operator-shell.tsx";

const root = createRootRoute({
  component: OperatorShell,
  notFoundComponent: NoSuchPage,
  errorComponent: Broken,
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== "not_signed_in") throw error;
      const next = encodeURIComponent(`/operator${location.pathname.replace(/^\/operator/, "")}`);
      window.location.assign(`/dashboard/sign-in?next=${next}`);
      // The page is left; nothing of it is shown meanwhile.
      await new Promise(() => {});
    }
  },
});

function textSearch(search: Record<string, unknown>): Record<string, string | undefined> {
  const fields = Object.entries(search).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}

type Load = () => Promise<Record<string, unknown>>;

function page(path: string, load: Load, name: string) {
  return createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: textSearch,
    component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name),
  });
}

const money: Load = () => import("./money-pages.tsx");
const queues: Load = () => import("./queue-pages.tsx");

const account = createRoute({
  getParentRoute: () => root,
  path: "$account",
  component: lazyRouteComponent(() => import("./account-frame.tsx"), "AccountFrame"),
});

function tab(
  path: string,
  name: "OverviewTab" | "BillingTab" | "KeysTab" | "RequestsTab" | "ActivityTab",
) {
  return createRoute({
    getParentRoute: () => account,
    path,
    validateSearch: textSearch,
    component: lazyRouteComponent(() => import("./account-tabs.tsx"), name),
  });
}

const tabs = [
  tab("/", "OverviewTab"),
  tab("billing", "BillingTab"),
  tab("keys", "KeysTab"),
  tab("requests", "RequestsTab"),
  // Where the dashboard's receipts lead for limits.
  tab("limits", "OverviewTab"),
  tab("activity", "ActivityTab"),
];

const router = createRouter({
  routeTree: root.addChildren([
    page("/", () => import("./accounts-page.tsx"), "AccountsPage"),
    page("trail", () => import("./trail-page.tsx"), "TrailPage"),
    page("revenue", money, "RevenuePage"),
    page("disputes", money, "DisputesPage"),
    page("grants", money, "GrantsPage"),
    page("health", () => import("./health-page.tsx"), "HealthPage"),
    page("configurations", () => import("./configurations-page.tsx"), "ConfigurationsPage"),
    page("mails", queues, "MailsPage"),
    page("events", queues, "EventsPage"),
    page("rejected", queues, "RejectedPage"),
    page("audits", () => import("./audit-page.tsx"), "AuditsPage"),
    account.addChildren(tabs),
  ]),
  basepath: "/operator",
  ...ROUTER_OPTIONS,
});

export function OperatorApp() {
  return <RouterProvider router={router} />;
}
