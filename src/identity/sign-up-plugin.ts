// Adds three paths of our own to better-auth: sign up, verify the inbox, sign in by a mailed link.
// A person exists only after the inbox is verified, so no one can prepare an account for the inbox
// of another person (D-231).

import { APIError, createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { hashToken, newToken } from "../core/console-tokens.ts";
import { DAY_MS } from "../core/durations.ts";
import type { RandomBytes } from "../core/ids.ts";
import { DEVICE_HEADER, LINK_PATH, linkName, SIGN_UP_PATH, VERIFY_PATH } from "./auth-terms.ts";
import type { IdentityMails } from "./identity-mails.ts";

interface SignUpDeps {
  readonly random: RandomBytes;
  readonly now: () => number;
  readonly mails: IdentityMails;
}

/** A sign-up that waits for its inbox to be verified. */
interface PendingSignUp {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  /** A hash of the name of the browser that asked; the password counts only there (D-231). */
  readonly device: string;
}

/** The name of a pending sign-up; only its hash is stored. */
const signUpName = (token: string) => `sign-up:${token}`;

const USED = {
  code: "link_not_valid",
  message: "This link was used, has ended, or is not complete",
};

/** Mails a link. A known and an unknown inbox get the same answer. */
export function signUp({ random, now, mails }: SignUpDeps) {
  return createAuthEndpoint(SIGN_UP_PATH, { method: "POST" }, async (ctx) => {
    const { email, name, password } = ctx.body as Record<"email" | "name" | "password", string>;
    const { internalAdapter, password: passwords } = ctx.context;
    const passwordHash = await passwords.hash(password);
    const known = await internalAdapter.findUserByEmail(email);
    if (known !== null) {
      await mails.alreadyKnown(email);
      return ctx.json({ status: true });
    }
    const token = newToken(random);
    const pending: PendingSignUp = { email, name, passwordHash, device: deviceIn(ctx.headers) };
    await internalAdapter.createVerificationValue({
      identifier: signUpName(token),
      value: JSON.stringify(pending),
      expiresAt: new Date(now() + DAY_MS),
    });
    await mails.verification(email, token);
    return ctx.json({ status: true });
  });
}

/** Redeems the links of sign-ups and of sign-ins; each works once. */
export function linkSignIn() {
  return {
    verifySignUp: createAuthEndpoint(VERIFY_PATH, { method: "POST" }, async (ctx) => {
      const { token } = ctx.body as { token: string };
      const { internalAdapter } = ctx.context;
      const row = await internalAdapter.consumeVerificationValue(signUpName(token));
      if (row === null) throw new APIError("BAD_REQUEST", USED);
      const { email, name, passwordHash, device } = JSON.parse(row.value) as PendingSignUp;
      // A second link to the same inbox finds the account of the first link.
      const user = await createPerson(email, () =>
        internalAdapter.createUser(
          { email, name, emailVerified: true },
          { method: "email-password" },
        ),
      );
      if (user === null) return ctx.json({ status: true, signed_in: false });
      // In another browser the link proves the inbox, but not that the same person chose the
      // password.
      const hasPassword = device === deviceIn(ctx.headers);
      if (hasPassword) {
        await internalAdapter.linkAccount({
          userId: user.id,
          providerId: "credential",
          accountId: user.id,
          password: passwordHash,
        });
      }
      const session = await internalAdapter.createSession(user.id);
      await setSessionCookie(ctx, { session, user });
      return ctx.json({ status: true, signed_in: true, has_password: hasPassword });

      async function createPerson<T>(address: string, create: () => Promise<T>): Promise<T | null> {
        if ((await internalAdapter.findUserByEmail(address)) !== null) return null;
        try {
          return await create();
        } catch (error) {
          if ((await internalAdapter.findUserByEmail(address)) !== null) return null;
          throw error;
        }
      }
    }),
    signInByLink: createAuthEndpoint(LINK_PATH, { method: "POST" }, async (ctx) => {
      const { token } = ctx.body as { token: string };
      const { internalAdapter } = ctx.context;
      const row = await internalAdapter.consumeVerificationValue(linkName(token));
      const user = row === null ? null : await internalAdapter.findUserById(row.value);
      if (user === null) throw new APIError("BAD_REQUEST", USED);
      const session = await internalAdapter.createSession(user.id, false, { strong: true }, true);
      await setSessionCookie(ctx, { session, user });
      return ctx.json({ status: true });
    }),
  };
}

function deviceIn(headers: Headers | undefined): string {
  return hashToken(`device:${headers?.get(DEVICE_HEADER) ?? ""}`);
}
