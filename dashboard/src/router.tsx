// The addresses of the dashboard. Pages inside an account are /dashboard/acct_…/PAGE, so that a
// link opens the same account for everybody; /dashboard/PAGE leads to the reader's own.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { RequestError } from "./api/client.ts";
import { meQuery, queryClient } from "./api/queries.ts";
import { ROUTER_OPTIONS } from "./router-options.ts";
import { accountToOpen, rememberAccount } from "./session.tsx";
import { Broken } from "./shell/broken.tsx";
import { Missing, MissingPage } from "./shell/missing.tsx";
import { NoAccount } from "./shell/no-account.tsx";
import { Shell } from "./shell/shell.tsx";

export const ACCOUNT_PREFIX = "acct_";

const root = createRootRoute({ notFoundComponent: MissingPage, errorComponent: Broken });

/** The person, or the way to sign-in and back. */
async function person(href: string) {
  try {
    return await queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== "not_signed_in") throw error;
    throw redirect({ to: "/sign-in", search: { next: href } });
  }
}

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: NoAccount,
  beforeLoad: async ({ location }) => {
    const account = accountToOpen(await person(location.href));
    if (account === null) return;
    throw redirect({ to: "/$account/overview", params: { account: account.id }, replace: true });
  },
});

const inside = createRoute({
  getParentRoute: () => root,
  path: "$account",
  component: Shell,
  beforeLoad: async ({ location, params }) => {
    const me = await person(location.href);
    if (me.accounts.some(({ id }) => id === params.account)) {
      rememberAccount(params.account);
      return;
    }
    const account = accountToOpen(me);
    if (account === null || params.account.startsWith(ACCOUNT_PREFIX)) {
      throw redirect({ to: "/", replace: true });
    }
    const to = `/${account.id}/${params.account}`;
    throw redirect({ href: `/dashboard${to}${location.searchStr}`, replace: true });
  },
});

/** The longer form of the same addresses, as mails and payment pages have it. */
const long = createRoute({
  getParentRoute: () => root,
  path: "accounts/$account/$page",
  beforeLoad: ({ location, params }) => {
    const href = `/dashboard/${params.account}/${params.page}${location.searchStr}`;
    throw redirect({ href, replace: true });
  },
});

const bare = createRoute({ getParentRoute: () => inside, path: "/", component: Missing });

/** Any text in the address; a page reads what it knows and leaves the rest. */
function textSearch(search: Record<string, unknown>): Record<string, string | undefined> {
  const fields = Object.entries(search).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}

function page<P extends string>(
  path: P,
  load: () => Promise<Record<string, unknown>>,
  name: string,
) {
  return createRoute({
    getParentRoute: () => inside,
    path,
    validateSearch: textSearch,
    component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name),
  });
}

function entry<P extends string>(
  path: P,
  load: () => Promise<Record<string, unknown>>,
  name: string,
) {
  return createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: textSearch,
    component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name),
  });
}

const entries = [
  entry("sign-in", () => import("./entry/sign-in.tsx"), "SignIn"),
  entry("sign-up", () => import("./entry/sign-up.tsx"), "SignUp"),
  entry("verify", () => import("./entry/verify.tsx"), "Verify"),
  entry("code", () => import("./entry/code.tsx"), "SignInByCode"),
  entry("forgot", () => import("./entry/forgot.tsx"), "Forgot"),
  entry("reset", () => import("./entry/reset.tsx"), "Reset"),
  entry("two-factor", () => import("./entry/two-factor.tsx"), "TwoFactor"),
  entry("invitation", () => import("./entry/invitation.tsx"), "Invitation"),
  entry("change-email", () => import("./entry/change-email.tsx"), "ChangeEmail"),
  entry("sso", () => import("./entry/sso.tsx"), "SsoReturn"),
  entry("link", () => import("./entry/link.tsx"), "OneTimeLink"),
] as const;

const pages = [
  bare,
  page("overview", () => import("./pages/overview.tsx"), "OverviewPage"),
  page("usage", () => import("./pages/usage/usage.tsx"), "UsagePage"),
  page("requests", () => import("./pages/usage/requests.tsx"), "RequestsPage"),
  page("keys", () => import("./pages/keys.tsx"), "KeysPage"),
  page("models", () => import("./pages/models.tsx"), "ModelsPage"),
  page("playground", () => import("./pages/playground/playground.tsx"), "PlaygroundPage"),
  page("billing", () => import("./pages/money/billing.tsx"), "BillingPage"),
  page("limits", () => import("./pages/limits.tsx"), "LimitsPage"),
  page("team", () => import("./pages/settings/team.tsx"), "TeamPage"),
  page("settings", () => import("./pages/settings/settings.tsx"), "SettingsPage"),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([home, long, ...entries, inside.addChildren([...pages])]),
  basepath: "/dashboard",
  ...ROUTER_OPTIONS,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
