// Adds our own rules where better-auth stores a session, a password or a second factor: ends the
// sessions that such a change must end, and checks again, once it is stored, that it is still
// allowed.

import {
  type BetterAuthOptions,
  type GenericEndpointContext,
  getCurrentAdapter,
} from "better-auth";
import { APIError, createAuthMiddleware } from "better-auth/api";
import { hashToken } from "../core/console-tokens.ts";
import { DAY_MS } from "../core/durations.ts";
import { type PeopleStore, SIGN_IN_CODE } from "../store/people/people.ts";
import { AFTER_SECOND_FACTOR, CHANGE_PASSWORD_PATH, SIGN_IN_PATH } from "./auth-terms.ts";
import type { ComparedHashes } from "./compared-hashes.ts";
import type { Sso } from "./sso.ts";
import { ssoOf } from "./sso-plugin.ts";

export interface HookDeps {
  readonly people: PeopleStore;
  readonly compared: ComparedHashes;
  /** Null where there is no single sign-on. */
  readonly sso: Sso | null;
  readonly now: () => number;
  /**
   * Called before each session of a sign-in, with the headers of the request; it may open the
   * account.
   */
  readonly onSession: (personId: string, headers: Headers | null) => Promise<void>;
  /** Called when a person is signed in, after the second factor if one is due. */
  readonly onSignedIn: (email: string, headers: Headers | null) => Promise<void>;
  readonly countryOf: (headers: Headers | null) => string | null;
}

interface NewSession {
  readonly userId: string;
  readonly token: string;
  readonly ssoIssuer?: unknown;
}

type HookContext = GenericEndpointContext | null;

/** The path at which better-auth makes a new session after the second factor was turned on. */
const CODE_PATH = "/two-factor/verify-totp";

/**
 * The path at which better-auth makes the secret of a second factor, which it stores without our
 * hooks.
 */
const BEGIN_FACTOR_PATH = "/two-factor/enable";

/** The hooks of better-auth that run on its answers. */
export function answerHooks({ people, onSignedIn }: Pick<HookDeps, "people" | "onSignedIn">) {
  const noteSignedIn = createAuthMiddleware(async ({ context, headers }) => {
    // The session of a sign-in that waits for a second factor is gone by now.
    const { newSession } = context;
    if (newSession) await onSignedIn(newSession.user.email, headers ?? null);
  });
  const handler = createAuthMiddleware(async ({ context }) => {
    const present = context.session?.session;
    // The session may have been ended while the password was compared.
    if (present && !(await people.hasSession(present.userId, present.id))) throw sessionEnded();
  });
  const matcher = ({ path }: { path?: string }) => path === BEGIN_FACTOR_PATH;
  const always = () => true;
  return {
    after: [
      { matcher, handler },
      { matcher: always, handler: noteSignedIn },
    ],
  };
}

/** The hooks of better-auth that run when it stores data. */
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
    account: {
      update: {
        before: async (_, context) => {
          if (context?.path === CHANGE_PASSWORD_PATH) await requireCurrentPassword(deps, context);
        },
      },
    },
    session: {
      create: {
        before: async (session, context) => {
          if (context?.path === CHANGE_PASSWORD_PATH) await endAll(session.userId, context);
          else await beforeSession(deps, session.userId, context);
          const country = deps.countryOf(context?.headers ?? null);
          const end = await forgottenEnd(deps, context);
          const sso = await ssoOf(deps.sso, session, context);
          const began = beganOf(context);
          return { data: { ...session, country, ...began, ...end, ...sso } };
        },
        after: async (session, context) => {
          if (context === null) return;
          if (context.path === SIGN_IN_PATH) await requirePresentPassword(deps, session, context);
          await requireSsoLink(deps, session, context);
          await endFormer(deps, session, context);
        },
      },
    },
  } satisfies BetterAuthOptions["databaseHooks"];
}

async function beforeSecondFactor(
  { people }: HookDeps,
  isOn: boolean,
  context: HookContext,
): Promise<void> {
  const present = context?.context.session?.session;
  if (!present) throw new Error("The second factor is changed without a session");
  // The session may have been ended while the password was compared.
  if (!(await people.hasSession(present.userId, present.id))) throw sessionEnded();
  // Sessions that began without a second factor must not count as if they had one.
  if (isOn) await people.endOtherSessions(present.userId, present.id);
  else await people.endProofs(present.userId);
}

/**
 * Returns the end of a session that replaces a session without "remember me": better-auth knows
 * that choice only at sign-in.
 */
async function forgottenEnd(
  { now }: HookDeps,
  context: HookContext,
): Promise<{ readonly expiresAt?: Date }> {
  if (!context?.context.session) return {};
  const { authCookies, secret } = context.context;
  const cookie = await context.getSignedCookie(authCookies.dontRememberToken.name, secret);
  return cookie ? { expiresAt: new Date(now() + DAY_MS) } : {};
}

/**
 * The marks of a session's beginning: with a second factor, or with the marks of the session that
 * it replaces.
 */
function beganOf(context: HookContext): object {
  if (context === null) return {};
  const former: Readonly<Record<string, unknown>> | undefined = context.context.session?.session;
  const byFactor = AFTER_SECOND_FACTOR.test(context.path);
  if (former === undefined) return byFactor ? { strong: true } : {};
  // better-auth would give a session that replaces another session the defaults of these marks.
  const { strong = false, byPasskey = false, ssoFactor = false } = former;
  return { strong: byFactor || strong, byPasskey, ssoFactor };
}

async function beforeSession(
  { people, onSession }: HookDeps,
  personId: string,
  context: HookContext,
): Promise<void> {
  const former = formerOf(context);
  if (former !== null && context?.path === CODE_PATH) {
    // The other sessions were ended before the change was stored; a new one may have begun in
    // between.
    await people.endOtherSessions(personId, former.id);
  }
  await onSession(personId, context?.headers ?? null);
}

/**
 * Ends the proofs and sessions of a person who has changed the password, but not the new session.
 * This must be a part of better-auth's transaction: if each transaction waited for a second
 * connection, they would wait for each other once they had all connections of the pool.
 */
async function endAll(personId: string, { context }: GenericEndpointContext): Promise<void> {
  const code = hashToken(`${SIGN_IN_CODE}${context.session?.user.email}`);
  const adapter = await getCurrentAdapter(context.adapter);
  await adapter.deleteMany({
    model: "verification",
    where: [
      { field: "value", value: personId, connector: "OR" },
      { field: "identifier", value: code, connector: "OR" },
    ],
  });
  // The sessions were ended before the change was stored; a new one may have begun in between.
  await context.internalAdapter.deleteUserSessions(personId);
}

/**
 * Requires that the hash that better-auth compared before its transaction is still stored: another
 * change may have replaced it meanwhile, and this one must not undo that. The row stays locked, so
 * no other change can be stored from here on. @throws APIError
 */
async function requireCurrentPassword(
  { now, compared }: HookDeps,
  { context }: GenericEndpointContext,
): Promise<void> {
  const adapter = await getCurrentAdapter(context.adapter);
  const row = await adapter.update<{ readonly password: string | null }>({
    model: "account",
    where: [
      { field: "userId", value: context.session?.user.id ?? "" },
      { field: "providerId", value: "credential" },
    ],
    update: { updatedAt: new Date(now()) },
  });
  const hash = row?.password ?? null;
  if (hash !== null && compared.wasRight(hash)) return;
  throw new APIError("BAD_REQUEST", { code: "INVALID_PASSWORD", message: "Invalid password" });
}

/**
 * Ends a new session if its password was changed while it was compared: the change ended only the
 * sessions that existed then. @throws APIError
 */
async function requirePresentPassword(
  { people }: HookDeps,
  session: NewSession,
  request: GenericEndpointContext,
): Promise<void> {
  const { password } = request.body as { readonly password: string };
  const hash = await people.passwordHash(session.userId);
  if (hash !== null && (await request.context.password.verify({ hash, password }))) return;
  const code = "INVALID_EMAIL_OR_PASSWORD";
  const error = new APIError("UNAUTHORIZED", { code, message: "Invalid email or password" });
  return await endNew(session, request, error);
}

/**
 * Ends a new session if its person was unlinked from single sign-on on the way from the provider:
 * the unlinking ended only the sessions that existed then. @throws APIError
 */
async function requireSsoLink(
  { sso }: HookDeps,
  session: NewSession,
  context: GenericEndpointContext,
): Promise<void> {
  const { userId, ssoIssuer } = session;
  if (sso === null || typeof ssoIssuer !== "string" || (await sso.isLinked(userId))) return;
  const message = "You are no longer linked to single sign-on. Begin again";
  const error = new APIError("BAD_REQUEST", { code: "SSO_NOT_VALID", message });
  return await endNew(session, context, error);
}

/**
 * Ends the session that the new one replaces. If another request has ended the old session
 * meanwhile, the new session must end too. @throws APIError
 */
async function endFormer(
  { people }: HookDeps,
  session: NewSession,
  context: GenericEndpointContext,
): Promise<void> {
  const former = formerOf(context);
  if (former === null || (await people.endSession(session.userId, former.id))) return;
  return await endNew(session, context, sessionEnded());
}

/** Ends a session that was just stored, and refuses its request. @throws APIError */
async function endNew(
  { token }: NewSession,
  { context }: GenericEndpointContext,
  error: APIError,
): Promise<never> {
  await context.internalAdapter.deleteSession(token);
  throw error;
}

/**
 * Returns the session that better-auth replaces with a new one; null at a sign-in, and for a change
 * of the password.
 */
function formerOf(context: HookContext): { readonly id: string } | null {
  const present = context?.path === CHANGE_PASSWORD_PATH ? null : context?.context.session;
  return present?.session ?? null;
}

function sessionEnded(): APIError {
  return new APIError("UNAUTHORIZED", { code: "UNAUTHORIZED", message: "This session has ended" });
}
