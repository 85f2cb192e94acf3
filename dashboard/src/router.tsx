// The addresses of the dashboard. Pages inside an account are /dashboard/acct_…/PAGE, so that a
// link opens the same account for everybody; /dashboard/PAGE leads to the reader's own.

import { createRootRoute, createRoute, createRouter, redirect } from "@tanstack/react-router";
import { RequestError } from "./api/client.ts";
import { meQuery, queryClient } from "./api/queries.ts";
import { followPerson } from "./language.ts";
import { namesOf, pageOptions } from "./page-table.ts";
import { ROUTER_OPTIONS } from "./router-options.ts";
import { accountToOpen, rememberAccount } from "./session.tsx";
import { Broken } from "./shell/broken.tsx";
import { Missing, MissingPage } from "./shell/missing.tsx";
import { NoAccount } from "./shell/no-account.tsx";
import { PAGE_NAMES, PAGES, type PageName } from "./shell/pages.ts";
import { Shell } from "./shell/shell.tsx";

const ACCOUNT_PREFIX = "acct_";

const root = createRootRoute({ notFoundComponent: MissingPage, errorComponent: Broken });

/** The person, or the way to sign-in and back. */
async function person(href: string) {
  try {
    const me = await queryClient.ensureQueryData(meQuery);
    await followPerson(me.person.language);
    return me;
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

function page<Name extends PageName>(name: Name) {
  return createRoute({ getParentRoute: () => inside, path: name, ...pageOptions(PAGES[name]) });
}

type PageRoutes = { readonly [Name in PageName]: ReturnType<typeof page<Name>> };

const pages = Object.fromEntries(PAGE_NAMES.map((name) => [name, page(name)])) as PageRoutes;

/** The pages before sign-in, each with its file and component. */
const ENTRIES = {
  "sign-in": { load: () => import("./entry/sign-in.tsx"), component: "SignIn" },
  "sign-up": { load: () => import("./entry/sign-up.tsx"), component: "SignUp" },
  verify: { load: () => import("./entry/verify.tsx"), component: "Verify" },
  code: { load: () => import("./entry/code.tsx"), component: "SignInByCode" },
  forgot: { load: () => import("./entry/forgot.tsx"), component: "Forgot" },
  reset: { load: () => import("./entry/reset.tsx"), component: "Reset" },
  "two-factor": { load: () => import("./entry/two-factor.tsx"), component: "TwoFactor" },
  invitation: { load: () => import("./entry/invitation.tsx"), component: "Invitation" },
  "change-email": { load: () => import("./entry/change-email.tsx"), component: "ChangeEmail" },
  sso: { load: () => import("./entry/sso.tsx"), component: "SsoReturn" },
  link: { load: () => import("./entry/link.tsx"), component: "OneTimeLink" },
} as const;

type EntryName = keyof typeof ENTRIES;

function entry<Name extends EntryName>(name: Name) {
  return createRoute({ getParentRoute: () => root, path: name, ...pageOptions(ENTRIES[name]) });
}

type EntryRoutes = { readonly [Name in EntryName]: ReturnType<typeof entry<Name>> };

const entries = Object.fromEntries(namesOf(ENTRIES).map((name) => [name, entry(name)]));

export const router = createRouter({
  routeTree: root.addChildren({
    home,
    long,
    inside: inside.addChildren({ bare, ...pages }),
    ...(entries as EntryRoutes),
  }),
  basepath: "/dashboard",
  ...ROUTER_OPTIONS,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
