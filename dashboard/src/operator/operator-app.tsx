// The pages of operators, with a router of their own below /operator. All other people read
// that there is no such page. The server checks the same on each request.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  RouterProvider,
} from "@tanstack/react-router";
import { RequestError } from "../api/client.ts";
import { meQuery, queryClient } from "../api/queries.ts";
import { followPerson } from "../language.ts";
import { pageOptions } from "../page-table.ts";
import { ROUTER_OPTIONS } from "../router-options.ts";
import { Broken } from "../shell/broken.tsx";
import { NoSuchPage } from "./no-such-page.tsx";
import {
  ACCOUNT_TAB_NAMES,
  ACCOUNT_TABS,
  OPERATOR_PAGE_NAMES,
  OPERATOR_PAGES,
  operatorPath,
} from "./operator-pages.ts";
import { OperatorShell } from "./operator-shell.tsx";

const root = createRootRoute({
  component: OperatorShell,
  notFoundComponent: NoSuchPage,
  errorComponent: Broken,
  beforeLoad: async ({ location }) => {
    try {
      const { person } = await queryClient.ensureQueryData(meQuery);
      await followPerson(person.language);
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== "not_signed_in") throw error;
      const next = encodeURIComponent(`/operator${location.pathname.replace(/^\/operator/, "")}`);
      window.location.assign(`/dashboard/sign-in?next=${next}`);
      // The page is left; nothing of it is shown meanwhile.
      await new Promise(() => {});
    }
  },
});

const account = createRoute({
  getParentRoute: () => root,
  path: "$account",
  component: lazyRouteComponent(() => import("./account-frame.tsx"), "AccountFrame"),
});

const loadTabs = () => import("./account-tabs.tsx");
const loadWatch = () => import("./account-watch.tsx");

function tab(path: string, name: keyof typeof ACCOUNT_TABS) {
  const load = name === "watch" ? loadWatch : loadTabs;
  const options = pageOptions({ load, component: ACCOUNT_TABS[name] });
  return createRoute({ getParentRoute: () => account, path, ...options });
}

const tabs = [
  ...ACCOUNT_TAB_NAMES.map((name) => tab(name === "overview" ? "/" : name, name)),
  // Receipts of the dashboard link to limits, which operators have on the first tab.
  tab("limits", "overview"),
];

const pages = OPERATOR_PAGE_NAMES.map((name) =>
  createRoute({
    getParentRoute: () => root,
    path: operatorPath(name),
    ...pageOptions(OPERATOR_PAGES[name]),
  }),
);

const router = createRouter({
  routeTree: root.addChildren([...pages, account.addChildren(tabs)]),
  basepath: "/operator",
  ...ROUTER_OPTIONS,
});

export function OperatorApp() {
  return <RouterProvider router={router} />;
}
