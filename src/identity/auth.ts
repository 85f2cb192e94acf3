// Configures better-auth: passwords and one-time codes, a second factor, sessions in Postgres.
// Every other feature is off, and auth-endpoints.ts opens only some of its paths.

import { betterAuth, type GenericEndpointContext } from "better-auth";
import { hashPassword, verifyPassword } from "better-auth/crypto";
import { emailOTP } from "better-auth/plugins/email-otp";
import { twoFactor } from "better-auth/plugins/two-factor";
import { hashToken, keyedHash } from "../core/console-tokens.ts";
import { newId, newSuffix, type RandomBytes } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { type SecretList, secretId } from "../core/secrets.ts";
import { FORM_FIELDS } from "../core/text/form-fields.ts";
import type { PeopleStore } from "../store/people/people.ts";
import { peopleAdapter } from "../store/people/people-adapter.ts";
import type { Database } from "../store/servers/database.ts";
import { answerHooks, authHooks, type HookDeps } from "./auth-hooks.ts";
import {
  AUTH_PATH,
  CODE_SECONDS,
  LINK_PATH,
  LOCKED_SECONDS,
  SIGN_IN_PATH,
  SSO_PATH,
  WRONG_FACTORS_MAX,
} from "./auth-terms.ts";
import type { IdentityMails } from "./identity-mails.ts";
import { passkeySignIn } from "./passkey-plugin.ts";
import type { Passkeys } from "./passkeys.ts";
import { factorHolder } from "./second-factor-plugin.ts";
import { linkSignIn, signUp } from "./sign-up-plugin.ts";
import { hasProvidersFactor, ssoSignIn } from "./sso-plugin.ts";

/** Hashes passwords, and compares passwords with their hashes. */
export interface PasswordHashes {
  readonly hash: (password: string) => Promise<string>;
  readonly verify: (given: { hash: string; password: string }) => Promise<boolean>;
}

export interface AuthDeps extends HookDeps {
  readonly database: Database;
  readonly random: RandomBytes;
  readonly secrets: SecretList;
  /** The origin of the console, such as `https://console.example.com`. */
  readonly origin: string;
  readonly mails: IdentityMails;
  readonly passkeys: Passkeys;
  readonly log: Log;
  readonly onPasswordReset: (personId: string) => Promise<void>;
  /** By default those of better-auth, which are scrypt hashes. */
  readonly passwords?: PasswordHashes | undefined;
}

const RESET_SECONDS = 60 * 60;
const SESSION_SECONDS = 14 * 24 * 60 * 60;
const SECOND_FACTOR_SECONDS = 10 * 60;
const TRUSTED_DEVICE_SECONDS = 30 * 24 * 60 * 60;

interface Addressee {
  readonly email: string;
}

/**
 * better-auth asks for the second factor after a password only (D-551). A passkey counts as two
 * factors: the device, and the fingerprint, face or PIN that unlocks it (D-551). After single
 * sign-on our second factor is due unless the provider asked for one (D-259).
 */
const SECOND_FACTOR_PATHS: ReadonlySet<string> = new Set([
  SIGN_IN_PATH,
  "/sign-in/email-otp",
  LINK_PATH,
  SSO_PATH,
]);

export type Auth = ReturnType<typeof createAuth>;

export function createAuth(deps: AuthDeps) {
  const { secrets, origin, mails } = deps;
  const [secret] = secrets;
  return betterAuth({
    appName: mails.deps.brand().name,
    baseURL: origin,
    basePath: AUTH_PATH,
    secret,
    secrets: secrets.map((value) => ({ version: versionOf(value), value })),
    database: peopleAdapter(deps.database),
    telemetry: { enabled: false },
    logger: loggerOf(deps.log),
    trustedOrigins: [origin],
    // Attempts are counted in auth-endpoints.ts, for addresses and for inboxes.
    rateLimit: { enabled: false },
    emailAndPassword: passwords(deps),
    user: {
      additionalFields: {
        isOperator: { type: "boolean", required: false, input: false, defaultValue: false },
      },
    },
    session: SESSION,
    account: { accountLinking: { enabled: false } },
    verification: { storeIdentifier: { hash: async (identifier) => hashToken(identifier) } },
    databaseHooks: authHooks(deps),
    plugins: [
      emailOTP({
        otpLength: FORM_FIELDS.code.charactersMax,
        expiresIn: CODE_SECONDS,
        // The tries are counted in attempt-limits.ts, where strangers cannot use up all of them.
        allowedAttempts: Number.MAX_SAFE_INTEGER,
        // Without a secret, six digits could be guessed from their hash.
        storeOTP: { hash: async (code) => keyedHash(secret, "code", code) },
        sendVerificationOTP: ({ email, otp }) => mails.code(email, otp),
      }),
      afterEverySignIn(
        twoFactor({
          // Read at each use, because the brand can change while the process runs.
          get issuer() {
            return mails.deps.brand().name;
          },
          twoFactorCookieMaxAge: SECOND_FACTOR_SECONDS,
          trustDeviceMaxAge: TRUSTED_DEVICE_SECONDS,
          accountLockout: { maxFailedAttempts: WRONG_FACTORS_MAX, durationSeconds: LOCKED_SECONDS },
        }),
        deps.people,
      ),
      { id: "farebox", endpoints: ownEndpoints(deps), hooks: answerHooks(deps) },
    ],
    advanced: cookies(deps),
  });
}

function ownEndpoints(deps: AuthDeps) {
  return {
    signUp: signUp(deps),
    ...linkSignIn(),
    ...passkeySignIn(deps.passkeys),
    ...ssoSignIn(deps.sso),
    ...factorHolder(),
  };
}

const SESSION = {
  expiresIn: SESSION_SECONDS,
  disableSessionRefresh: true,
  cookieCache: { enabled: false },
  additionalFields: {
    provedAt: { type: "date", required: false, input: false },
    country: { type: "string", required: false, input: false },
    strong: { type: "boolean", required: false, input: false, defaultValue: false },
    byPasskey: { type: "boolean", required: false, input: false, defaultValue: false },
    ssoIssuer: { type: "string", required: false, input: false },
    ssoGroup: { type: "string", required: false, input: false },
    ssoFactor: { type: "boolean", required: false, input: false, defaultValue: false },
  },
} as const;

function passwords({ mails, people, compared, onPasswordReset, passwords: hashes }: AuthDeps) {
  const { hash, verify } = hashes ?? { hash: hashPassword, verify: verifyPassword };
  return {
    enabled: true,
    password: {
      hash,
      verify: async (given: { hash: string; password: string }) => {
        const isRight = await verify(given);
        if (isRight) compared.noteRight(given.hash);
        return isRight;
      },
    },
    // Our own sign-up creates a person only after the inbox is verified.
    disableSignUp: true,
    requireEmailVerification: true,
    minPasswordLength: FORM_FIELDS.newPassword.charactersMin,
    // better-auth counts UTF-16 units, of which a character has up to two; our schemas count
    // characters.
    maxPasswordLength: 2 * FORM_FIELDS.newPassword.charactersMax,
    resetPasswordTokenExpiresIn: RESET_SECONDS,
    revokeSessionsOnPasswordReset: true,
    sendResetPassword: ({ user, token }: { user: Addressee; token: string }) =>
      mails.passwordReset(user.email, token),
    onPasswordReset: async ({ user }: { user: Addressee & { readonly id: string } }) => {
      await people.endProofs(user.id);
      await mails.notice(user.email, ({ passwordChanged }) => passwordChanged);
      await onPasswordReset(user.id);
    },
  };
}

function cookies({ origin, random }: AuthDeps) {
  const isSecure = origin.startsWith("https:");
  return {
    database: { generateId: ({ model }: { model: string }) => idOf(model, random) },
    cookiePrefix: isSecure ? "__Host-farebox" : "farebox",
    // better-auth would put its own prefix before ours; the `secure` attribute is set below.
    useSecureCookies: false,
    defaultCookieAttributes: { secure: isSecure, httpOnly: true, sameSite: "lax", path: "/" },
    ipAddress: { disableIpTracking: true },
  } as const;
}

/** The methods for the second factor that is due; null if none is due. */
function methodsOf(hook: unknown): string[] | null {
  const { response = null } = (hook ?? {}) as { readonly response?: object | null };
  const methods = response !== null && "twoFactorMethods" in response && response.twoFactorMethods;
  return Array.isArray(methods) ? methods : null;
}

/** The second factor is due after every way to sign in. */
function afterEverySignIn(
  plugin: ReturnType<typeof twoFactor>,
  people: PeopleStore,
): ReturnType<typeof twoFactor> {
  const after = plugin.hooks.after.map(({ handler }) => ({
    matcher: (context: { path?: string; context?: unknown }) =>
      SECOND_FACTOR_PATHS.has(context.path ?? "") && !hasProvidersFactor(context),
    handler: Object.assign(async (context: GenericEndpointContext) => {
      const signedIn = context.context.newSession;
      // The second factor may have been turned on since better-auth read the person. If no app is
      // set up, a passkey is due.
      const person = signedIn && (await people.find(signedIn.user.id));
      if (signedIn && person) signedIn.user.twoFactorEnabled = person.hasFactor;
      const answer = await handler(context);
      if (person?.hasPasskey) methodsOf(answer)?.push("passkey");
      return answer;
    }, handler),
  }));
  return { ...plugin, hooks: { ...plugin.hooks, after } };
}

function idOf(model: string, random: RandomBytes): string {
  if (model === "user") return newId("person", random);
  if (model === "session") return newId("session", random);
  return newSuffix(random);
}

/** A number that names a secret. */
function versionOf(secret: string): number {
  return Number.parseInt(secretId("SESSION_SECRET", secret).slice(0, 8), 16);
}

function loggerOf(log: Log) {
  return {
    level: "error" as const,
    log(level: string, message: string, ...rest: unknown[]) {
      const [err] = rest;
      if (level === "error") log.error({ err }, `Signing in: ${message}`);
    },
  };
}
