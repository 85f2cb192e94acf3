// Adds single sign-on to better-auth by paths of our own. better-auth's own plugins link people by
// their address, and know no second factor of the provider (D-230).

import type { GenericEndpointContext } from "better-auth";
import { APIError, createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { AFTER_SECOND_FACTOR, SSO_BEGIN_PATH, SSO_PATH } from "./auth-terms.ts";
import { refused } from "./refused.ts";
import { SSO_STEP_MS, type Sso, type SsoSession } from "./sso.ts";

const COOKIE = "sso";

const NOT_CONFIGURED = {
  code: "sso_not_configured",
  message: "This installation has no single sign-on",
};

/** Sends a person to the provider, and signs them in when they come back. */
export function ssoSignIn(sso: Sso | null) {
  return {
    beginSso: createAuthEndpoint(SSO_BEGIN_PATH, { method: "POST" }, async (ctx) => {
      if (sso === null) throw new APIError("NOT_FOUND", NOT_CONFIGURED);
      const { return_to: returnTo } = ctx.body as { readonly return_to: string };
      const { url, token } = await refused(sso.begin(ctx.context.internalAdapter, returnTo));
      keep(ctx, token);
      return ctx.json({ url });
    }),
    signInBySso: createAuthEndpoint(SSO_PATH, { method: "POST" }, async (ctx) => {
      if (sso === null) throw new APIError("NOT_FOUND", NOT_CONFIGURED);
      const { query } = ctx.body as { readonly query: string };
      const { internalAdapter } = ctx.context;
      const signIn = await refused(sso.finish(internalAdapter, { token: kept(ctx), query }));
      const { personId, session: fields, returnTo } = signIn;
      const user = await internalAdapter.findUserById(personId);
      if (user === null) throw new Error(`The person ${personId} is gone`);
      // Our own second factor may be due now; better-auth makes a new session after it.
      keep(ctx, fields.ssoFactor ? null : await sso.pass(internalAdapter, signIn));
      const session = await internalAdapter.createSession(user.id, false, { ...fields }, true);
      await setSessionCookie(ctx, { session, user });
      return ctx.json({ status: true, return_to: returnTo });
    }),
  };
}

/** True if the provider has asked for the second factor of the person who is being signed in. */
export function hasProvidersFactor({ context }: { readonly context?: unknown }): boolean {
  const { newSession } = context as {
    newSession?: { session: { ssoFactor?: unknown } } | null;
  };
  return newSession?.session.ssoFactor === true;
}

interface NewSession extends Record<string, unknown> {
  readonly userId: string;
  readonly expiresAt: Date;
}

/**
 * Returns the extra fields of a new session whose person passed the provider before: better-auth
 * makes a new session after our own second factor, and when that is turned on or off. Such a copy
 * ends with the session that it copies, so no session can be prolonged without the provider
 * (D-259).
 */
export async function ssoOf(
  sso: Sso | null,
  { userId, ssoIssuer, expiresAt }: NewSession,
  ctx: GenericEndpointContext | null,
): Promise<Partial<SsoSession>> {
  if (sso === null || ctx === null || ctx.path === SSO_PATH) return {};
  const token = AFTER_SECOND_FACTOR.test(ctx.path) ? kept(ctx) : "";
  const rows = ctx.context.internalAdapter;
  const passed = token === "" ? null : await refused(sso.passed(rows, token, userId));
  if (passed !== null) return passed;
  if (typeof ssoIssuer !== "string") return {};
  return { expiresAt: sso.endOf(ctx.context.session?.session.expiresAt ?? expiresAt) };
}

/** Makes the browser keep the token; null makes it forget its token. */
function keep(ctx: GenericEndpointContext, token: string | null): void {
  const maxAge = token === null ? 0 : SSO_STEP_MS / 1_000;
  const { name, attributes } = ctx.context.createAuthCookie(COOKIE, { maxAge });
  ctx.setCookie(name, token ?? "", attributes);
}

function kept(ctx: GenericEndpointContext): string {
  return ctx.getCookie(ctx.context.createAuthCookie(COOKIE).name) ?? "";
}
