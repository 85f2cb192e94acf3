// Finds the person whose second factor a request enters, as better-auth will find it. The attempt
// is counted for that person before better-auth compares the code.

import { createAuthEndpoint, getAuthoritativeSessionFromCtx } from "better-auth/api";

/** better-auth's cookie of a sign-in that waits for a second factor. */
const WAITING_COOKIE = "two_factor";

/** A person whose second factor is entered. */
export interface FactorHolder {
  readonly id: string;
  readonly email: string;
}

/** Finds the person of a session, else of a waiting sign-in; null if there is neither. */
export function factorHolder() {
  return {
    factorHolder: createAuthEndpoint.serverOnly(
      { method: "GET", requireHeaders: true },
      async (ctx): Promise<FactorHolder | null> => {
        const { internalAdapter, createAuthCookie, secret } = ctx.context;
        const signedIn = await getAuthoritativeSessionFromCtx(ctx);
        if (signedIn) return signedIn.user;
        const { name } = createAuthCookie(WAITING_COOKIE);
        const identifier = await ctx.getSignedCookie(name, secret);
        const row = identifier ? await internalAdapter.findVerificationValue(identifier) : null;
        return row && (await internalAdapter.findUserById(row.value));
      },
    ),
  };
}
