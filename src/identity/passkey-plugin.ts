// Signs people in with a passkey, by our own paths inside better-auth, which makes the session. The
// passkey plugin of better-auth does not fit the version of its core that we use (D-230).

import { APIError, createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { PASSKEY_BEGIN_PATH, PASSKEY_PATH } from "./auth-terms.ts";
import type { SignInResponse } from "./passkey-schema.ts";
import { ORIGIN_HEADER, type Passkeys } from "./passkeys.ts";
import { refused } from "./refused.ts";

const UNKNOWN = {
  code: "invalid_passkey",
  message: "This passkey is not known here, or took too long. Sign in in another way",
};

/** Issues challenges and signs in the person whose passkey signed one. */
export function passkeySignIn(passkeys: Passkeys) {
  return {
    beginPasskeySignIn: createAuthEndpoint(PASSKEY_BEGIN_PATH, { method: "POST" }, async (ctx) => {
      const origin = originOf(ctx.headers);
      const { internalAdapter } = ctx.context;
      return ctx.json(await refused(passkeys.beginSignIn(internalAdapter, origin)));
    }),
    signInByPasskey: createAuthEndpoint(PASSKEY_PATH, { method: "POST" }, async (ctx) => {
      const { response } = ctx.body as { readonly response: SignInResponse };
      const { internalAdapter } = ctx.context;
      const given = { origin: originOf(ctx.headers), response };
      const use = await refused(passkeys.signIn(internalAdapter, given));
      const user = use === null ? null : await internalAdapter.findUserById(use.personId);
      if (use === null || user === null) throw new APIError("UNAUTHORIZED", UNKNOWN);
      const session = await internalAdapter.createSession(
        user.id,
        false,
        { byPasskey: true },
        true,
      );
      // The passkey is checked once more: a request that removes it and ends all sessions may have
      // run before this session was stored.
      if (!(await passkeys.noteUse(use))) {
        await internalAdapter.deleteSession(session.token);
        throw new APIError("UNAUTHORIZED", UNKNOWN);
      }
      await setSessionCookie(ctx, { session, user });
      return ctx.json({ status: true });
    }),
  };
}

function originOf(headers: Headers | undefined): string {
  return headers?.get(ORIGIN_HEADER) ?? "";
}
