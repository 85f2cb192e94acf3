// What our own rules add where better-auth stores a session or a second factor: what such a change
// ends.

import {
  type BetterAuthOptions,
  type GenericEndpointContext,
  getCurrentAdapter,
} from "better-auth";
import { APIError } from "better-auth/api";
import type { PeopleStore } from "../store/people.ts";
import { CHANGE_PASSWORD_PATH, SIGN_IN_PATH } from "./auth-terms.ts";
import type { Sso } from "./sso.ts";
import { ssoOf } from "./sso-plugin.ts";

export interface HookDeps {
  readonly people: PeopleStore;
  /** Null where there is no single sign-on. */
  readonly sso: Sso | null;
  /**
   * Called before each session of a sign-in, with the headers of the request; it may open the
   * account.
   */
  readonly onSession: (personId: string, headers: Headers | null) => Promise<void>;
  readonly countryOf: (headers: Headers | null) => string | null;
}

interface NewSession {
  readonly userId: string;
  readonly token: string;
}

type Context = GenericEndpointContext | null;

/** Where better-auth makes a session anew for whoever has just turned the second factor on. */
const CODE_PATH = "/two-factor/verify-totp";

/** The hooks of better-auth on what it stores. */
export function authHooks(deps: HookDeps) {
  return {
    user: {
      update: {
        before: async ({ twoFactorEnabled }, context) => {
          if (typeof twoFactorEnabled === "boolean") {
            await beforeSecondFactor(deps, twoFactorEnabled, context);
          }
        },
      },
    },
    session: {
      create: {
        before: async (session, context) => {
          if (context?.path === CHANGE_PASSWORD_PATH) await endAll(session.userId, context);
          else await beforeSession(deps, session.userId, context);
          const country = deps.countryOf(context?.headers ?? null);
          const sso = await ssoOf(deps.sso, session, context);
          return { data: { ...session, country, ...sso } };
        },
        after: async (session, context) => {
          if (context?.path === SIGN_IN_PATH) {
            await requirePresentPassword(deps, session, context);
          }
        },
      },
    },
  } satisfies BetterAuthOptions["databaseHooks"];
}

async function beforeSecondFactor(
  { people }: HookDeps,
  isOn: boolean,
  context: Context,
): Promise<void> {
  const present = context?.context.session?.session;
  if (!context || !present) throw new Error("The second factor is changed without a session");
  await people.endProofs(present.userId);
  // Sessions that began without a second factor must not count as if they had one.
  // better-auth replaces the present session.
  if (isOn) await context.context.internalAdapter.deleteUserSessions(present.userId);
}

async function beforeSession(
  { people, onSession }: HookDeps,
  personId: string,
  context: Context,
): Promise<void> {
  if (context?.path === CODE_PATH && context.context.session) {
    // They were ended before the change was stored: again, for one in between.
    await people.endProofs(personId);
    await context.context.internalAdapter.deleteUserSessions(personId);
  }
  await onSession(personId, context?.headers ?? null);
}

/**
 * Ends the proofs and sessions of whoever has changed the password, but the new session. It has to
 * be a part of better-auth's transaction: if each of those waited for a second connection, they
 * would wait for each other once they had all connections of the pool.
 */
async function endAll(personId: string, { context }: GenericEndpointContext): Promise<void> {
  const adapter = await getCurrentAdapter(context.adapter);
  await adapter.deleteMany({
    model: "verification",
    where: [{ field: "value", value: personId }],
  });
  // They were ended before the change was stored: again, for one in between.
  await context.internalAdapter.deleteUserSessions(personId);
}

/**
 * Ends a session whose password was changed while it was compared: the change ended only the
 * sessions that were there. @throws APIError
 */
async function requirePresentPassword(
  { people }: HookDeps,
  { userId, token }: NewSession,
  { body, context }: GenericEndpointContext,
): Promise<void> {
  const { password } = body as { readonly password: string };
  const hash = await people.passwordHash(userId);
  if (hash !== null && (await context.password.verify({ hash, password }))) return;
  await context.internalAdapter.deleteSession(token);
  throw new APIError("UNAUTHORIZED", {
    code: "INVALID_EMAIL_OR_PASSWORD",
    message: "Invalid email or password",
  });
}
